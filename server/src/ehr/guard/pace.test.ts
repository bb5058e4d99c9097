import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type CallScope, callScope, newFacts, withinCallTime } from './call-scope.ts';
import { createPace, type Pace } from './pace.ts';
import type { RateReport, SharedRate } from './rate-exchange.ts';
import { Throttled } from './throttled.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});
const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

/** A call that began this many milliseconds ago and has 20 seconds. */
function call(ago = 0): CallScope {
  const begun = performance.now() - ago;
  const { signal } = new AbortController();
  return {
    signal: () => signal,
    begun,
    deadline: () => begun + 20_000,
    facts: newFacts(),
    onFailure: () => () => undefined,
    progress: () => undefined,
  };
}

/** Sends requests, and counts those that had their turn. */
function sender(pace: Pace) {
  let sent = 0;
  return {
    send: (count: number) =>
      void Array.from({ length: count }, () =>
        pace.turn(call()).then(
          () => sent++,
          () => undefined,
        ),
      ),
    sent: () => sent,
  };
}

/** The EHR has accepted this many requests, and then rejects one. */
function throttle(pace: Pace, accepted: number, retryAfterSeconds?: number): void {
  for (let count = 0; count < accepted; count++) pace.accepted();
  pace.throttled(performance.now(), retryAfterSeconds);
}

test('without a limit, nothing waits', async () => {
  const pace = createPace();
  const { send, sent } = sender(pace);
  send(1000);
  await pass(0);
  expect(sent()).toBe(1000);
  expect(pace.rate()).toBeUndefined();
});

test('a rejected request stops all others until Retry-After, and sets the rate that the EHR has accepted', async () => {
  const pace = createPace();
  await pass(5000);
  throttle(pace, 20, 1);
  expect(pace.rate()).toBe(18);
  const { send, sent } = sender(pace);
  send(100);
  await pass(990);
  expect(sent()).toBe(0);
  await pass(2010);
  expect(sent()).toBeGreaterThanOrEqual(34);
  expect(sent()).toBeLessThanOrEqual(40);
});

test('the requests of a call that has failed leave the queue', async () => {
  const pace = createPace({ fixedRate: 1 });
  const turn = () => pace.turn(callScope.getStore());
  await turn();
  const waiting: Promise<unknown>[] = [];
  const failure = Promise.withResolvers<never>();
  const failing = withinCallTime(
    20_000,
    () => {
      waiting.push(...Array.from({ length: 5 }, () => turn().catch((error: unknown) => error)));
      return failure.promise;
    },
    () => new Error('late'),
  );
  const { send, sent } = sender(pace);
  send(1);
  failure.reject(new Error('failed'));
  await expect(failing).rejects.toThrow('failed');
  expect(await Promise.all(waiting)).toEqual(Array.from({ length: 5 }, () => expect.any(Throttled)));
  await pass(1010);
  expect(sent()).toBe(1);
});

test('a request of a call that has succeeded, such as one that reads ahead, keeps its turn', async () => {
  const pace = createPace({ fixedRate: 1 });
  await pace.turn(undefined);
  let reading: Promise<void> | undefined;
  const call = async () => {
    reading = pace.turn(callScope.getStore());
  };
  await withinCallTime(20_000, call, () => new Error('late'));
  await pass(1010);
  await expect(reading).resolves.toBeUndefined();
});

test('requests that were in flight together count once', async () => {
  const pace = createPace();
  await pass(5000);
  const sentAt = performance.now();
  throttle(pace, 20, 1);
  await pass(10);
  for (let count = 0; count < 10; count++) pace.throttled(sentAt, 1);
  expect(pace.rate()).toBe(18);
  await pass(2000);
  pace.throttled(performance.now(), 1);
  // At least half of it, however little was sent.
  expect(pace.rate()).toBe(9);
});

test('a quota of a minute is spread over the minute', async () => {
  const pace = createPace();
  await pass(60_000);
  throttle(pace, 600, 60);
  expect(pace.rate()).toBe(9);
});

test('a fixed rate is never exceeded', async () => {
  const pace = createPace({ fixedRate: 10 });
  const { send, sent } = sender(pace);
  send(100);
  await pass(5000);
  expect(sent()).toBeGreaterThanOrEqual(50);
  expect(sent()).toBeLessThanOrEqual(52);
});

/** The turns of several processes, as the database gives them. */
function fakeTurns() {
  let next = 0;
  const state = { isDown: false, asked: 0 };
  const take = async (count: number, perSecond: number) => {
    state.asked++;
    await pause(3);
    if (state.isDown) throw new Error('down');
    const from = Math.max(next, performance.now());
    next = from + (count / perSecond) * 1000;
    return (from - performance.now()) / 1000;
  };
  return { state, take };
}

test.each([1, 20])(
  'several processes together never exceed a fixed rate of %i, not even after a rest',
  async (fixedRate) => {
    const { take } = fakeTurns();
    const times: number[] = [];
    const paces = Array.from({ length: 3 }, () => createPace({ fixedRate, takeTurns: take }));
    for (const count of [2 * fixedRate, 3 * fixedRate]) {
      await pass(60_000);
      for (const pace of paces) {
        for (let sent = 0; sent < count; sent++) void pace.turn(call()).then(() => times.push(performance.now()));
      }
      await pass((count * 3000) / fixedRate + 2000);
    }
    expect(times).toHaveLength(15 * fixedRate);
    const busiest = Math.max(...times.map((at) => times.filter((it) => it >= at && it < at + 990).length));
    expect(busiest).toBeLessThanOrEqual(fixedRate);
    const perProcess = 3 * fixedRate * 3;
    const [first = 0, last = 0] = [times.at(-perProcess), times.at(-1)];
    expect(last - first).toBeLessThan(((perProcess + 1) / fixedRate) * 1000);
  },
);

test('a process to which the database gives no turns keeps to its part of the rate, and then asks again', async () => {
  const { state, take } = fakeTurns();
  state.isDown = true;
  const exchange = async (): Promise<SharedRate> => ({ rate: undefined, share: 0.5, pauseSeconds: 0 });
  const pace = createPace({ fixedRate: 2, exchange, takeTurns: take });
  const { send, sent } = sender(pace);
  send(6);
  await pass(4000);
  expect([3, 4, 5]).toContain(sent());
  expect(state.asked).toBeGreaterThan(2);
  state.isDown = false;
  await pass(3000);
  expect(sent()).toBe(6);
});

test('a turn that nobody needs any more is not used later', async () => {
  const { state, take } = fakeTurns();
  const pace = createPace({ fixedRate: 1, takeTurns: take });
  const { send, sent } = sender(pace);
  send(1);
  await pass(10);
  const end = performance.now() + 300;
  const late = expect(pace.turn({ ...call(), deadline: () => end })).rejects.toBeInstanceOf(Throttled);
  await pass(10_000);
  await late;
  const asked = state.asked;
  send(2);
  await pass(500);
  expect(sent()).toBe(2);
  expect(state.asked).toBe(asked + 2);
});

test('the oldest call comes first, whatever the order of its requests', async () => {
  const pace = createPace({ fixedRate: 1 });
  await pace.turn(undefined);
  const order: string[] = [];
  const [young, old] = [call(10), call(5000)];
  for (const [name, scope] of [
    ['young', young],
    ['old', old],
    ['old', old],
  ] as const)
    void pace.turn(scope).then(() => order.push(name));
  await pass(4000);
  expect(order).toEqual(['old', 'old', 'young']);
});

test('a call whose first request would come after half of its time is rejected at once, with the time to wait', async () => {
  const pace = createPace();
  throttle(pace, 0, 12);
  await expect(pace.turn(call())).rejects.toMatchObject({ kind: 'unavailable', retryAfterSeconds: 12 });
});

test.each([3600, 999_999_999])('asks again after five minutes, whatever Retry-After says: %i', async (seconds) => {
  const pace = createPace();
  throttle(pace, 0, seconds);
  await expect(pace.turn(call())).rejects.toMatchObject({ retryAfterSeconds: 300 });
  await pass(301_000);
  await pace.turn(call());
});

test('does not pause longer than five minutes, whatever the others say', async () => {
  const pace = createPace({ exchange: async () => ({ rate: 10, share: 1, pauseSeconds: 86_400 }) });
  throttle(pace, 20, 1);
  await pass(10);
  await expect(pace.turn(call())).rejects.toMatchObject({ retryAfterSeconds: 300 });
});

test('a call that has begun may use all of its time', async () => {
  const pace = createPace();
  const scope = call();
  await pace.turn(scope);
  throttle(pace, 20, 12);
  const turn = pace.turn(scope);
  await pass(12_200);
  await turn;
});

test('a request whose turn does not come in time is rejected', async () => {
  const pace = createPace({ fixedRate: 1 });
  const old = call(5000);
  await pace.turn(old);
  const outcome = pace.turn(call()).then(
    () => 'sent',
    ({ kind }) => kind,
  );
  // An older call has more requests than fit into half of the time of the younger one.
  for (let count = 0; count < 12; count++) void pace.turn(old);
  await pass(10_000);
  expect(await outcome).toBe('unavailable');
});

test('takes its share of the rate that the processes agree on, and tells what it wants', async () => {
  const reports: RateReport[] = [];
  let agreed: SharedRate = { rate: 8, share: 0.25, pauseSeconds: 0 };
  const pace = createPace({
    exchange: async (report) => {
      reports.push(report);
      return agreed;
    },
  });
  const { send } = sender(pace);
  send(3);
  await pass(0);
  expect(reports).toEqual([]);
  throttle(pace, 10, 1);
  await pass(10);
  expect(reports).toMatchObject([{ slowdown: { rate: 9, isShared: false } }]);
  expect(pace.rate()).toBe(2);
  send(20);
  await pass(5000);
  expect(reports.length).toBeGreaterThanOrEqual(4);
  expect(reports.length).toBeLessThanOrEqual(7);
  expect(reports.at(-1)).toMatchObject({ isWaiting: true, slowdown: undefined });
  agreed = { rate: undefined, share: 1, pauseSeconds: 0 };
  await pass(2000);
  expect(pace.rate()).toBeUndefined();
});

test('keeps its part while the database cannot be reached', async () => {
  const pace = createPace({ exchange: () => Promise.reject(new Error('down')) });
  await pass(5000);
  throttle(pace, 20, 1);
  await pass(3000);
  const { send, sent } = sender(pace);
  send(30);
  await pass(1000);
  expect(sent()).toBeGreaterThanOrEqual(15);
  expect(pace.rate()).toBe(18);
});

test('tells the others of a limit when the database can be reached again', async () => {
  const reports: RateReport[] = [];
  const pace = createPace({
    async exchange(report) {
      reports.push(report);
      if (reports.length === 1) throw new Error('down');
      return { rate: report.slowdown?.rate, share: 1, pauseSeconds: 0 };
    },
  });
  await pass(5000);
  throttle(pace, 20, 1);
  await pass(500);
  const { send } = sender(pace);
  send(1);
  await pass(100);
  // Not with each request: the database may need the time.
  expect(reports).toHaveLength(1);
  await pass(2000);
  expect(reports[1]).toMatchObject({ slowdown: { rate: 18 } });
  expect(pace.rate()).toBe(18);
});

/** Requests that are sent one after the other, as soon as it is their turn. */
function sequence(pace: Pace) {
  let sent = 0;
  const send = async () => {
    for (; sent < 1000; sent++) await pace.turn(undefined).then(() => pause(20));
  };
  void send();
  return { sent: () => sent };
}
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

test.each([0, 1, 5, 20])('one limited request costs seconds, after %i accepted ones', async (count) => {
  const pace = createPace();
  await pass(5000);
  throttle(pace, count, 1);
  const { sent } = sequence(pace);
  await pass(9500);
  expect(pace.rate()).toBeGreaterThan(20);
  expect(sent()).toBeGreaterThan(80);
});

test('does not rise while nothing waits', async () => {
  const pace = createPace();
  await pass(5000);
  throttle(pace, 20, 1);
  for (let second = 0; second < 20; second++) {
    await pass(1000);
    await pace.turn(undefined);
  }
  expect(pace.rate()).toBe(18);
});

test('does not rise before the EHR has counted anew', async () => {
  const pace = createPace();
  await pass(60_000);
  throttle(pace, 1200, 60);
  await pass(60_000);
  sequence(pace);
  await pass(59_000);
  expect(pace.rate()).toBe(18);
});

test('a limit that the EHR has not enforced for ten minutes is forgotten', async () => {
  const pace = createPace();
  throttle(pace, 20, 1);
  await pass(601_000);
  await pace.turn(undefined);
  await pass(0);
  expect(pace.rate()).toBeUndefined();
});

test('a limit that becomes known later holds from then on, whatever the processes agree on', async () => {
  const reports: RateReport[] = [];
  const exchange = async (report: RateReport): Promise<SharedRate> => {
    reports.push(report);
    return { rate: 50, share: 0.5, pauseSeconds: 0 };
  };
  const pace = createPace({ exchange });
  const { send, sent } = sender(pace);
  send(10);
  await pass(0);
  expect(sent()).toBe(10);
  pace.limit(undefined);
  expect(pace.rate()).toBeUndefined();
  pace.limit(2);
  send(5);
  await pass(1000);
  expect(reports.length).toBeGreaterThan(0);
  expect(pace.rate()).toBe(1);
  await pass(2000);
  expect(sent()).toBeLessThan(10 + 5);
  await pass(3000);
  expect(sent()).toBe(10 + 5);
});

/** Sends all the time, to an EHR with a bucket that is filled all the time and holds the requests of one second. */
function saturate(pace: Pace, perSecond: number) {
  const counts = { accepted: 0, throttled: 0 };
  let left = perSecond;
  let filledAt = performance.now();
  const send = async () => {
    const sentAt = performance.now();
    await pause(20);
    const now = performance.now();
    left = Math.min(perSecond, left + ((now - filledAt) / 1000) * perSecond);
    filledAt = now;
    if (left < 1) {
      counts.throttled++;
      return pace.throttled(sentAt, 1);
    }
    left--;
    counts.accepted++;
    pace.accepted();
  };
  const again = (): Promise<void> =>
    pace
      .turn(undefined)
      .then(send)
      .catch(() => pause(100))
      .then(again);
  for (let worker = 0; worker < 20; worker++) void again();
  return counts;
}

test.each([2, 5, 20, 100])('uses a quota of %i a second, and few requests exceed it', async (perSecond) => {
  const pace = createPace();
  const counts = saturate(pace, perSecond);
  await pass(60_000);
  expect(counts.accepted).toBeGreaterThan(60 * perSecond * 0.85);
  expect(counts.throttled).toBeLessThan(30 + counts.accepted * 0.02);
});
