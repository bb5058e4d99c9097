import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Caller, createTurns } from './turns.ts';

interface Settings {
  readonly concurrency: number;
  readonly queue: number;
}
type State = 'waiting' | 'running' | 'done' | 'rejected';
interface Call {
  readonly caller: Caller;
  state: State;
  finish(): void;
}

/** Turns, and every call that has asked for one so far. */
function setUp({ concurrency, queue }: Settings) {
  const turns = createTurns({ concurrency, queue, queueTimeoutMs: 1000 });
  const calls: Call[] = [];
  const begun: Call[] = [];
  const within = (state: State, caller?: Caller) =>
    calls.filter((it) => it.state === state && (caller === undefined || it.caller === caller));
  return {
    calls,
    begun,
    within,
    async ask(caller: Caller): Promise<Call> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const call: Call = { caller, state: 'waiting', finish: resolve };
      calls.push(call);
      const work = async () => {
        call.state = 'running';
        begun.push(call);
        await promise;
      };
      turns(caller, work, () => new Error('rejected')).then(
        () => (call.state = 'done'),
        () => (call.state = 'rejected'),
      );
      await settled();
      return call;
    },
    async finish(call: Call | undefined): Promise<void> {
      call?.finish();
      await settled();
    },
  };
}

/** A turn is passed on within a few promises. */
async function settled(): Promise<void> {
  for (let round = 0; round < 10; round++) await Promise.resolve();
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const callers = ['a', 'b', 'c', undefined];
const settings = fc.record({ concurrency: fc.integer({ min: 1, max: 4 }), queue: fc.integer({ min: 0, max: 6 }) });
const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ ask: fc.constantFrom(...callers) }) },
    { weight: 2, arbitrary: fc.record({ finish: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ pass: fc.integer({ min: 1, max: 1200 }) }) },
  ),
  { maxLength: 60 },
);
type Step = typeof steps extends fc.Arbitrary<(infer One)[]> ? One : never;
type Setup = ReturnType<typeof setUp>;

async function play(stage: Setup, step: Step): Promise<void> {
  if ('ask' in step) await stage.ask(step.ask);
  else if ('pass' in step) await vi.advanceTimersByTimeAsync(step.pass);
  else {
    const running = stage.within('running');
    await stage.finish(running[step.finish % Math.max(running.length, 1)]);
  }
}

/** The test's steps ask for turns, end calls and let calls time out. `check` runs after each step. */
function always(check: (stage: Setup, given: Settings, step: Step) => void): Promise<void> {
  return fc.assert(
    fc.asyncProperty(settings, steps, async (given, todo) => {
      const stage = setUp(given);
      for (const step of todo) {
        await play(stage, step);
        check(stage, given, step);
      }
    }),
  );
}

describe('for any callers', () => {
  test('concurrency stays within the limit, and no turn is free while a call waits', () =>
    always(({ within }, { concurrency }) => {
      expect(within('running').length).toBeLessThanOrEqual(concurrency);
      if (within('waiting').length > 0) expect(within('running')).toHaveLength(concurrency);
    }));

  test('the queue stays within its limit', () =>
    always(({ within }, { queue }) => expect(within('waiting').length).toBeLessThanOrEqual(queue)));

  test('calls of one caller run in order', () =>
    always(({ begun, calls }) => {
      for (const caller of callers) {
        const order = begun.filter((it) => it.caller === caller).map((it) => calls.indexOf(it));
        expect(order).toEqual(order.toSorted((a, b) => a - b));
      }
    }));

  test('a waiting caller without a turn is overtaken at most once by each other caller', async () => {
    await fc.assert(
      fc.asyncProperty(settings, steps, async (given, todo) => {
        const stage = setUp(given);
        const passed = new Map<Caller, Caller[]>();
        for (const step of todo) {
          const before = stage.begun.length;
          const waitingCallers = callers.filter(
            (it) => stage.within('waiting').some(({ caller }) => caller === it) && !holds(stage, it),
          );
          await play(stage, step);
          for (const caller of callers) if (!waitingCallers.includes(caller)) passed.delete(caller);
          for (const { caller } of stage.begun.slice(before)) {
            passed.delete(caller);
            for (const other of waitingCallers) {
              if (other !== caller) passed.set(other, [...(passed.get(other) ?? []), caller]);
            }
          }
          for (const served of passed.values()) expect(new Set(served).size).toBe(served.length);
        }
      }),
    );
  });

  test('every call is either run or rejected', async () => {
    await fc.assert(
      fc.asyncProperty(settings, steps, async (given, todo) => {
        const stage = setUp(given);
        for (const step of todo) await play(stage, step);
        for (let running = stage.within('running'); running.length > 0; running = stage.within('running')) {
          for (const call of running) await stage.finish(call);
        }
        expect(stage.calls.filter(({ state }) => state !== 'done' && state !== 'rejected')).toEqual([]);
      }),
    );
  });
});

function holds(stage: Setup, caller: Caller): boolean {
  return stage.calls.some((it) => it.state === 'running' && it.caller === caller);
}

describe('a caller that keeps the queue full', () => {
  test.each([1, 2, 5])('leaves the next free turn to another caller, with %i turns', async (concurrency) => {
    const stage = setUp({ concurrency, queue: 4 });
    for (let count = 0; count < 20; count++) await stage.ask('greedy');
    expect(stage.within('waiting')).toHaveLength(4);
    for (const other of ['b', 'c', undefined]) {
      const call = await stage.ask(other);
      expect(call.state).toBe('waiting');
      await stage.ask('greedy');
      await stage.finish(stage.within('running', 'greedy')[0]);
      expect(call.state).toBe('running');
      await stage.finish(call);
      for (let count = 0; count < 20; count++) await stage.ask('greedy');
    }
  });

  test('loses its newest call to another caller', async () => {
    const stage = setUp({ concurrency: 1, queue: 3 });
    const [, second, third, fourth] = [
      await stage.ask('greedy'),
      await stage.ask('greedy'),
      await stage.ask('greedy'),
      await stage.ask('greedy'),
    ];
    await stage.ask('b');
    expect([second, third, fourth].map((it) => it?.state)).toEqual(['waiting', 'waiting', 'rejected']);
    // Two and one is the most even distribution.
    expect((await stage.ask('b')).state).toBe('rejected');
  });
});

test('a call that times out in the queue is never run', async () => {
  const stage = setUp({ concurrency: 1, queue: 3 });
  const first = await stage.ask('a');
  const late = [await stage.ask('a'), await stage.ask('b')];
  await vi.advanceTimersByTimeAsync(1000);
  expect(late.map(({ state }) => state)).toEqual(['rejected', 'rejected']);
  await stage.finish(first);
  expect(stage.begun).toEqual([first]);
  expect((await stage.ask('b')).state).toBe('running');
});

test('a failed call releases its turn', async () => {
  const turns = createTurns({ concurrency: 1, queue: 1, queueTimeoutMs: 1000 });
  const fail = () => Promise.reject(new Error('no'));
  const all = [turns('a', fail, Error), turns('b', async () => 'fine', Error)];
  expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
});
