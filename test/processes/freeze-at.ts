import pg from 'pg';

/*
 * A preload that stops the process (SIGSTOP) when the response to the first
 * statement has arrived whose text contains `FREEZE_AT`. Whatever that statement has locked stays locked if its transaction is
 * open.
 */

const freezeAt = process.env.FREEZE_AT ?? '';
let isFrozen = false;

function freeze(): void {
  if (!isFrozen) process.kill(process.pid, 'SIGSTOP');
  isFrozen = true;
}

const { query } = pg.Client.prototype;
pg.Client.prototype.query = function (this: pg.Client, ...input: unknown[]): unknown {
  const [first] = input;
  const text = typeof first === 'string' ? first : ((first as { text?: string }).text ?? '');
  const result = Reflect.apply(query, this, input) as Promise<unknown>;
  if (freezeAt !== '' && text.includes(freezeAt)) result.then(freeze, freeze);
  return result;
} as typeof query;
