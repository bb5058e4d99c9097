// Loaded before a gateway's program: its machine has a wrong clock. `WRONG_CLOCK_MS`: how many milliseconds it is ahead.
const ahead = Number(process.env.WRONG_CLOCK_MS);
const rightNow = Date.now;
const wrongNow = () => rightNow() + ahead;

globalThis.Date = new Proxy(Date, {
  construct: (target, values) => Reflect.construct(target, values.length === 0 ? [wrongNow()] : values),
  get: (target, name) => (name === 'now' ? wrongNow : Reflect.get(target, name)),
});
