import { ConnectorError, type ConnectorErrorKind, connectorErrorKinds } from '@crossward/connector-kit';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { asProblem } from '../connector-problems.ts';
import { Paused } from '../pauses.ts';
import { callScope } from './call-scope.ts';
import { causeOf } from './cause-of.ts';
import { createGuard, type Guard, type GuardSettings } from './guard.ts';
import { createEhrMetrics } from './metrics.ts';
import { Throttled } from './throttled.ts';

interface Setup {
  readonly guard: Guard;
  readonly changes: readonly string[];
  metric(line: string): Promise<string | undefined>;
}

function setUp(
  settings: Partial<GuardSettings> = {},
  countsEveryCall = true,
  paused = () => undefined as Paused | undefined,
  waitsForDatabase = () => false,
): Setup {
  const registry = new Registry();
  const changes: string[] = [];
  const metrics = createEhrMetrics(registry);
  const guard = createGuard(
    {
      timeoutMs: 5000,
      concurrency: 2,
      queue: 2,
      queueTimeoutMs: 5000,
      breaker: { failures: 3, resetSeconds: 10 },
      streams: { idleMs: 5000, totalMs: 5000 },
      ...settings,
    },
    {
      emr: 'north',
      countsEveryCall: () => countsEveryCall,
      waitsForDatabase,
      metrics,
      paused,
      onBreakerChange: (state) => void changes.push(state),
    },
  );
  metrics.watch('north', { breaker: () => guard.health().breaker, rate: () => undefined, unreadable: () => [] });
  return {
    guard,
    changes,
    async metric(line) {
      const text = await registry.metrics();
      return text
        .split('\n')
        .find((it) => it.startsWith(`${line} `))
        ?.slice(line.length + 1);
    },
  };
}

const fail = (kind: ConnectorErrorKind, retryAfterSeconds?: number) => async () => {
  throw new ConnectorError(kind, kind, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
};
const succeed = async () => 'fine';
const countedKinds = ['unavailable', 'timeout', 'connection_closed', 'outcome_unknown'] as const;

/** The outcome of a read: its result, the kind of its error, or the error. */
async function read(guard: Guard, call: () => Promise<unknown> = succeed): Promise<unknown> {
  return guard
    .run('findPatient', call)
    .catch((error: unknown) => (error instanceof ConnectorError ? error.kind : error));
}
async function times(count: number, action: () => Promise<unknown>): Promise<void> {
  for (let done = 0; done < count; done++) await action();
}

/** A call that ends when the test ends it. */
function works() {
  const ends: (() => void)[] = [];
  const work = () => new Promise<string>((resolve) => ends.push(() => resolve('done')));
  return { work, ends };
}

describe('the circuit breaker', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 }));
  afterEach(() => void vi.useRealTimers());
  const pass = (seconds: number) => void vi.setSystemTime(Date.now() + seconds * 1000);

  test.each(countedKinds)('opens after consecutive failures: %s', async (kind) => {
    const { guard, changes } = setUp();
    await times(2, () => read(guard, fail(kind)));
    expect(guard.health().breaker).toBe('closed');
    await read(guard, fail(kind));
    expect(guard.health().breaker).toBe('open');
    expect(changes).toEqual(['open']);
  });

  test('counts consecutive failures only', async () => {
    const { guard } = setUp();
    await times(10, async () => {
      await times(2, () => read(guard, fail('timeout')));
      await read(guard, succeed);
      await times(2, () => read(guard, fail('unavailable')));
      await read(guard, fail('time_slot_unavailable'));
    });
    expect(guard.health().breaker).toBe('closed');
  });

  test.each(connectorErrorKinds.filter((kind) => !(countedKinds as readonly string[]).includes(kind)))(
    'does not count %s',
    async (kind) => {
      const { guard } = setUp();
      await times(10, async () => expect(await read(guard, fail(kind))).toBe(kind));
      expect(guard.health().breaker).toBe('closed');
    },
  );

  const faults: readonly (readonly [string, ConstructorParameters<typeof ConnectorError>[2]])[] = [
    ['500', { refusal: { status: 500 } }],
    ['401', { refusal: { status: 401 } }],
    ['a page of a proxy', { refusal: { status: 200 }, fault: true }],
  ];
  const refusals: typeof faults = [
    ['403', { refusal: { status: 403 } }],
    ['422', { refusal: { status: 422 } }],
    ['501', { refusal: { status: 501 } }],
    ['a refusal with 500', { refusal: { status: 500 }, fault: false }],
    ['a record that cannot be read', {}],
  ];
  const answer = (options: ConstructorParameters<typeof ConnectorError>[2]) => async () => {
    throw new ConnectorError('rejected', 'no', options);
  };

  test.each(faults)('opens after consecutive faults: %s', async (_name, options) => {
    const { guard, metric } = setUp();
    await times(3, () => read(guard, answer(options)));
    expect(guard.health().breaker).toBe('open');
    expect(await metric('crossward_ehr_calls_total{emr="north",operation="findPatient",outcome="fault"}')).toBe('3');
  });

  test.each(refusals)('does not open after refusals: %s', async (_name, options) => {
    const { guard, metric } = setUp();
    await times(10, () => read(guard, answer(options)));
    expect(guard.health().breaker).toBe('closed');
    expect(await metric('crossward_ehr_calls_total{emr="north",operation="findPatient",outcome="rejected"}')).toBe(
      '10',
    );
  });

  test("takes the status of the EHR's last answer for an error without one", async () => {
    const { guard } = setUp();
    const answered = (status: number, error: Error) => async () => {
      const scope = callScope.getStore();
      if (scope) Object.assign(scope.facts, { hasAskedEhr: true, hasAnswer: true, lastStatus: status });
      throw error;
    };
    await times(5, () => read(guard, answered(404, new ConnectorError('rejected', 'no'))));
    await times(5, () => read(guard, answered(200, new SyntaxError('a bug'))));
    expect(guard.health().breaker).toBe('closed');
    pass(10);
    await times(2, () => read(guard, answered(500, new ConnectorError('rejected', 'no'))));
    await read(guard, answered(500, new SyntaxError('a bug')));
    expect(guard.health().breaker).toBe('open');
  });

  test('opens after a minute of nothing but failures, however few', async () => {
    const { guard } = setUp({ breaker: { failures: 30, resetSeconds: 10 } });
    await read(guard, answer({ refusal: { status: 500 } }));
    pass(59);
    await read(guard, answer({ refusal: { status: 500 } }));
    expect(guard.health().breaker).toBe('closed');
    await read(guard);
    pass(60);
    await read(guard, answer({ refusal: { status: 500 } }));
    expect(guard.health().breaker).toBe('closed');
    pass(60);
    await read(guard, answer({ refusal: { status: 500 } }));
    expect(guard.health().breaker).toBe('open');
  });

  describe('with one operation that always fails', () => {
    const list = (guard: Guard) => guard.run('listTimeSlots', succeed);
    const fault = answer({ refusal: { status: 500 } });

    test('stays closed while others succeed', async () => {
      const { guard, changes } = setUp();
      for (let second = 0; second < 60; second += 5) {
        expect(await list(guard)).toBe('fine');
        await times(20, () => read(guard, fault));
        pass(5);
      }
      expect(changes).toEqual([]);
    });

    test('lets another one pass at once, which closes it', async () => {
      const { guard } = setUp();
      await times(3, () => read(guard, fault));
      expect(guard.health().breaker).toBe('open');
      expect(await read(guard, succeed)).toBe('unavailable');
      expect(await list(guard)).toBe('fine');
      expect(guard.health().breaker).toBe('closed');
    });

    test('tests the EHR once with each, if all of them fail, and is not open for longer by that', async () => {
      const { guard } = setUp();
      await times(3, () => read(guard, fault));
      pass(9);
      let called = 0;
      const alsoFails = async () => {
        called++;
        return fault();
      };
      await times(5, () => guard.run('listTimeSlots', alsoFails).catch(() => undefined));
      expect(called).toBe(1);
      expect(guard.health().breaker).toBe('open');
      pass(1);
      expect(await read(guard, succeed)).toBe('fine');
      expect(guard.health().breaker).toBe('closed');
    });

    test('lets nothing pass to an EHR that is silent', async () => {
      const { guard } = setUp();
      await times(2, () => read(guard, fault));
      await read(guard, fail('timeout'));
      await expect(list(guard)).rejects.toMatchObject({ kind: 'unavailable' });
    });
  });

  test('counts whatever keeps the connector from opening', async () => {
    const { guard } = setUp();
    await times(3, () => guard.run('open', fail('rejected')).catch(() => undefined));
    expect(guard.health().breaker).toBe('open');
  });

  test('does not count bugs, and passes them on', async () => {
    const { guard } = setUp();
    const bug = new TypeError('x is not a function');
    await times(10, async () => expect(await read(guard, () => Promise.reject(bug))).toBe(bug));
    expect(guard.health().breaker).toBe('closed');
  });

  test('does not count calls that were answered from memory, which do not close it either', async () => {
    const { guard, metric } = setUp({}, false);
    const reaching = (kind?: ConnectorErrorKind) => async () => {
      const scope = callScope.getStore();
      if (scope) scope.facts.hasAskedEhr = true;
      if (kind) throw new ConnectorError(kind, kind);
      if (scope) scope.facts.hasAnswer = true;
      return 'fine';
    };
    /** Returns what is known, while a request for later calls is on its way. */
    const refreshing = async () => {
      const scope = callScope.getStore();
      if (scope) scope.facts.hasAskedEhr = true;
      return 'fine';
    };
    await times(3, async () => {
      await read(guard, reaching('unavailable'));
      expect(await read(guard)).toBe(guard.health().breaker === 'open' ? 'unavailable' : 'fine');
    });
    const answeredFromMemoryAt = new Date();
    expect(guard.health()).toEqual({ breaker: 'open', lastSuccessAt: null, answeredFromMemoryAt });
    pass(10);
    expect(await read(guard)).toBe('fine');
    expect(await read(guard, refreshing)).toBe('fine');
    expect(guard.health()).toEqual({
      breaker: 'half_open',
      lastSuccessAt: null,
      answeredFromMemoryAt: new Date(answeredFromMemoryAt.getTime() + 10_000),
    });
    expect(await metric('crossward_ehr_calls_total{emr="north",operation="findPatient",outcome="ok"}')).toBeUndefined();
    expect(await read(guard, reaching())).toBe('fine');
    expect(guard.health()).toEqual({ breaker: 'closed', lastSuccessAt: expect.any(Date) });
    expect(await read(guard)).toBe('fine');
    expect(guard.health().answeredFromMemoryAt).toBeUndefined();
  });

  test.each(countedKinds)('does not count a call that the rate of requests has stopped: %s', async (kind) => {
    const { guard, metric } = setUp();
    const throttled = async () => {
      const scope = callScope.getStore();
      if (scope) scope.facts.wasThrottled = true;
      throw new ConnectorError(kind, kind, { retryAfterSeconds: 5 });
    };
    await times(10, async () => expect(await read(guard, throttled)).not.toBe('fine'));
    expect(guard.health()).toEqual({ breaker: 'closed', lastSuccessAt: null });
    expect(await metric('crossward_ehr_calls_total{emr="north",operation="findPatient",outcome="throttled"}')).toBe(
      '10',
    );
  });

  test('does not count a call that shares a request which the rate has stopped', async () => {
    const { guard } = setUp();
    await times(10, () => read(guard, () => Promise.reject(new Throttled(5))));
    expect(guard.health()).toEqual({ breaker: 'closed', lastSuccessAt: null });
  });

  test('counts a call that has a result although the rate has stopped one of its requests', async () => {
    const { guard, metric } = setUp();
    await times(2, () => read(guard, fail('unavailable')));
    await read(guard, async () => {
      const scope = callScope.getStore();
      if (scope) scope.facts.wasThrottled = true;
    });
    await times(2, () => read(guard, fail('unavailable')));
    expect(guard.health()).toEqual({ breaker: 'closed', lastSuccessAt: expect.any(Date) });
    expect(await metric('crossward_ehr_calls_total{emr="north",operation="findPatient",outcome="ok"}')).toBe('1');
  });

  test('rejects calls while it is open, with the seconds until the next test call', async () => {
    const { guard } = setUp();
    await times(3, () => read(guard, fail('unavailable')));
    const call = vi.fn(succeed);
    pass(3.5);
    await expect(guard.run('findPatient', call)).rejects.toMatchObject({ kind: 'unavailable', retryAfterSeconds: 7 });
    await expect(guard.run('changeAppointments', call)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(call).not.toHaveBeenCalled();
  });

  test('closes if the test call gets any response', async () => {
    for (const response of [succeed, fail('time_slot_unavailable')]) {
      const { guard, changes } = setUp();
      await times(3, () => read(guard, fail('unavailable')));
      pass(10);
      expect(guard.health().breaker).toBe('half_open');
      await read(guard, response);
      expect(guard.health().breaker).toBe('closed');
      expect(changes).toEqual(['open', 'half_open', 'closed']);
      await times(2, () => read(guard, fail('unavailable')));
      expect(guard.health().breaker).toBe('closed');
    }
  });

  test('opens again if the test call fails', async () => {
    const { guard, changes } = setUp();
    await times(3, () => read(guard, fail('unavailable')));
    pass(10);
    await read(guard, fail('timeout'));
    expect(changes).toEqual(['open', 'half_open', 'open']);
    await expect(guard.run('findPatient', succeed)).rejects.toMatchObject({ retryAfterSeconds: 10 });
    pass(10);
    expect(await read(guard)).toBe('fine');
  });

  test('lets one test call through and rejects others meanwhile', async () => {
    const { guard } = setUp({ concurrency: 5 });
    await times(3, () => read(guard, fail('unavailable')));
    pass(10);
    const { work, ends } = works();
    const trial = read(guard, work);
    const call = vi.fn(succeed);
    await expect(guard.run('findPatient', call)).rejects.toMatchObject({ kind: 'unavailable', retryAfterSeconds: 1 });
    expect(call).not.toHaveBeenCalled();
    expect(guard.health().breaker).toBe('half_open');
    ends[0]?.();
    expect(await trial).toBe('done');
    expect(await read(guard)).toBe('fine');
  });

  test('stays open for the Retry-After of the EHR, up to a limit', async () => {
    for (const [retryAfter, seconds] of [
      [60, 60],
      [2, 10],
      [86_400, 300],
    ] as const) {
      const { guard } = setUp();
      await times(3, () => read(guard, fail('unavailable', retryAfter)));
      await expect(guard.run('findPatient', succeed)).rejects.toMatchObject({ retryAfterSeconds: seconds });
      pass(seconds - 1);
      expect(await read(guard)).toBe('unavailable');
      pass(1);
      expect(await read(guard)).toBe('fine');
    }
  });

  test('rejects queued calls when it opens', async () => {
    const { guard } = setUp({ concurrency: 1, breaker: { failures: 1, resetSeconds: 10 } });
    const call = vi.fn(succeed);
    const outcomes = await Promise.all([read(guard, fail('timeout')), read(guard, call), read(guard, call)]);
    expect(outcomes).toEqual(['timeout', 'unavailable', 'unavailable']);
    expect(call).not.toHaveBeenCalled();
  });
});

describe('the queue', () => {
  test('limits concurrency and keeps the order', async () => {
    const { guard } = setUp();
    const { work, ends } = works();
    const all = [1, 2, 3, 4].map(() => read(guard, work));
    expect(ends).toHaveLength(2);
    ends[0]?.();
    await expect.poll(() => ends.length).toBe(3);
    ends[1]?.();
    await expect.poll(() => ends.length).toBe(4);
    ends[2]?.();
    ends[3]?.();
    expect(await Promise.all(all)).toEqual(['done', 'done', 'done', 'done']);
  });

  test('rejects calls at once if full, without affecting the circuit breaker', async () => {
    const { guard } = setUp();
    const { work, ends } = works();
    const all = [1, 2, 3, 4].map(() => read(guard, work));
    const call = vi.fn(succeed);
    await times(10, async () => expect(await read(guard, call)).toBe('unavailable'));
    expect(call).not.toHaveBeenCalled();
    expect(guard.health().breaker).toBe('closed');
    for (let index = 0; index < 4; index++) {
      await expect.poll(() => ends.length).toBeGreaterThan(index);
      ends[index]?.();
    }
    await Promise.all(all);
    expect(await read(guard)).toBe('fine');
  });

  test('never runs a call that timed out while queued', async () => {
    const { guard } = setUp({ queueTimeoutMs: 30 });
    const { work, ends } = works();
    const busy = [read(guard, work), read(guard, work)];
    const call = vi.fn(succeed);
    expect(await Promise.all([read(guard, call), read(guard, call)])).toEqual(['unavailable', 'unavailable']);
    for (const end of ends) end();
    expect(await Promise.all(busy)).toEqual(['done', 'done']);
    expect(await read(guard)).toBe('fine');
    expect(call).not.toHaveBeenCalled();
  });

  test('release the turn of a call that times out', async () => {
    const { guard } = setUp({ concurrency: 1, timeoutMs: 30 });
    const { work } = works();
    expect(await Promise.all([read(guard, work), read(guard, succeed)])).toEqual(['timeout', 'fine']);
  });
});

describe('time-outs', () => {
  test.each([
    ['findPatient', 'timeout'],
    ['listTimeSlots', 'timeout'],
    ['findOperation', 'timeout'],
    ['changeAppointments', 'outcome_unknown'],
  ] as const)('during %s are reported as %s', async (operation, kind) => {
    const { guard } = setUp({ timeoutMs: 30 });
    await expect(guard.run(operation, works().work)).rejects.toMatchObject({ kind });
    await expect(guard.run(operation, fail('timeout'))).rejects.toMatchObject({ kind });
  });

  test.each([
    ['findPatient', 'connection_closed'],
    ['changeAppointments', 'outcome_unknown'],
  ] as const)('a closed connection during %s is reported as %s', async (operation, kind) => {
    const { guard } = setUp({ timeoutMs: 30_000 });
    await expect(guard.run(operation, fail('connection_closed'))).rejects.toMatchObject({ kind });
  });

  test('ignore a later failure of the call', async () => {
    const { guard } = setUp({ timeoutMs: 30 });
    let end = () => undefined as unknown;
    const call = () => new Promise((_resolve, reject) => (end = () => reject(new Error('at last'))));
    expect(await read(guard, call)).toBe('timeout');
    end();
    await new Promise(setImmediate);
    expect(guard.health()).toMatchObject({ breaker: 'closed', lastSuccessAt: null });
  });
});

test('opening has a time-out of at least a minute and does not count as a successful call', async () => {
  vi.useFakeTimers();
  try {
    const { guard } = setUp({ timeoutMs: 30 });
    const { work, ends } = works();
    const opened = guard.run('open', work);
    await vi.advanceTimersByTimeAsync(59_000);
    ends[0]?.();
    await opened;
    expect(guard.health().lastSuccessAt).toBeNull();
    const hangs = expect(guard.run('open', work)).rejects.toMatchObject({ kind: 'timeout' });
    await vi.advanceTimersByTimeAsync(61_000);
    await hangs;
  } finally {
    vi.useRealTimers();
  }
});

test('keeps the time of the last success across failures', async () => {
  const { guard } = setUp();
  expect(guard.health().lastSuccessAt).toBeNull();
  const before = Date.now();
  await read(guard);
  const { lastSuccessAt } = guard.health();
  expect(lastSuccessAt?.getTime()).toBeGreaterThanOrEqual(before);
  await times(5, () => read(guard, fail('unavailable')));
  await read(guard, fail('rejected'));
  expect(guard.health()).toEqual({ breaker: 'open', lastSuccessAt });
});

test('calls are counted by outcome', async () => {
  const { guard, metric } = setUp({ concurrency: 1, queue: 0 });
  const { work, ends } = works();
  const first = read(guard, work);
  await read(guard);
  ends[0]?.();
  await first;
  await read(guard, () => Promise.reject(new Error('bug')));
  await times(4, () => read(guard, fail('unavailable')));
  const count = (outcome: string) =>
    metric(`crossward_ehr_calls_total{emr="north",operation="findPatient",outcome="${outcome}"}`);
  expect(await count('ok')).toBe('1');
  expect(await count('busy')).toBe('1');
  expect(await count('error')).toBe('1');
  expect(await count('unavailable')).toBe('3');
  expect(await count('circuit_open')).toBe('1');
  expect(await metric('crossward_ehr_call_duration_seconds_count{emr="north",operation="findPatient"}')).toBe('7');
  expect(await metric('crossward_ehr_breaker_state{emr="north",state="open"}')).toBe('1');
  expect(await metric('crossward_ehr_breaker_state{emr="north",state="closed"}')).toBe('0');
});

test('calls to a paused EHR are not made, also those that waited in the queue when the pause began', async () => {
  let pause: Paused | undefined;
  const { guard, metric } = setUp({ concurrency: 1 }, true, () => pause);
  const { work, ends } = works();
  const running = guard.run('findPatient', work);
  const queued = read(guard, work);
  const until = new Date(10_000);
  pause = new Paused({ since: new Date(0), until }, new Date(2_500));
  expect(await read(guard, work)).toBe('unavailable');
  expect(ends).toHaveLength(1);
  ends[0]?.();
  expect(await running).toBe('done');
  expect(await queued).toBe('unavailable');
  expect(ends).toHaveLength(1);
  expect(pause.retryAfterSeconds).toBe(8);
  expect(guard.health()).toMatchObject({ breaker: 'closed', pause: { until } });
  expect(await metric('crossward_ehr_calls_total{emr="north",operation="findPatient",outcome="paused"}')).toBe('2');
});

test('calls that time out in the gateway’s database are not held against the EHR', async () => {
  let isSilent = true;
  const settings = { timeoutMs: 30, breaker: { failures: 2, resetSeconds: 10 } };
  const { guard, changes, metric } = setUp(settings, true, undefined, () => isSilent);
  const hang = () => new Promise<never>(() => undefined);
  for (const operation of ['findPatient', 'findPatient', 'changeAppointments'] as const) {
    const error = await guard.run(operation, hang).catch((thrown: unknown) => thrown);
    const reason = operation === 'findPatient' ? 'database_unavailable' : 'outcome_unknown';
    expect(asProblem(error)).toMatchObject({ reason, origin: 'gateway' });
    expect(causeOf(error)).toBe("the gateway's database failed");
  }
  expect(changes).toEqual([]);
  expect(await metric('crossward_ehr_calls_total{emr="north",operation="findPatient",outcome="database"}')).toBe('2');
  isSilent = false;
  await expect(guard.run('findPatient', hang)).rejects.toMatchObject({ kind: 'timeout' });
  await expect(guard.run('findPatient', hang)).rejects.toMatchObject({ kind: 'timeout' });
  expect(changes).toEqual(['open']);
});
