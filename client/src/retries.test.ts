import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { clientWithReplies, json, noConnection, problem, type Reply } from './test-gateway.ts';

const emr = { id: 'sandbox-no' };
const appointment = { id: 'a-1' };
const creation = {
  patient_id: 'p-3',
  resource_id: 'r-1',
  healthcare_service_id: 'consultation',
  start_time: '2030-03-15T09:00:00',
  end_time: '2030-03-15T09:30:00',
};

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Runs all timers until the promise settles. */
async function settled<Value>(promise: Promise<Value>) {
  const outcome = promise.then(
    (value) => ({ value, error: undefined }),
    (error: unknown) => ({ value: undefined, error }),
  );
  await vi.runAllTimersAsync();
  return outcome;
}

/** A gateway that never responds. */
function silence({ signal }: Request): Promise<Response> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
}

describe('a request is repeated after', () => {
  test.each<[string, Reply]>([
    ['a failed connection', noConnection],
    ['429', problem('rate_limited', 429)],
    ['502 of a proxy', new Response('<h1>Bad Gateway</h1>', { status: 502 })],
    ['503', problem('ehr_unavailable', 503)],
    ['504', problem('outcome_unknown', 504)],
    ['a response that ends early', () => new Response('{"id":')],
    ['an empty response', () => new Response(null, { headers: { 'content-length': '0' } })],
    ['idempotency_in_progress', problem('idempotency_in_progress', 409)],
  ])('%s', async (_, failure) => {
    const { unit, requests } = clientWithReplies([failure, failure, json(appointment, 201)]);
    const { value } = await settled(unit.appointments.create(creation));

    expect(value).toEqual(appointment);
    expect(requests).toHaveLength(3);
    expect(new Set(requests.map(({ headers }) => headers.get('idempotency-key')))).toEqual(
      new Set([expect.stringMatching(/^[0-9a-f]{32}$/)]),
    );
    expect(new Set(requests.map(({ body }) => body))).toEqual(new Set([JSON.stringify(creation)]));
  });
});

test('a write says that its result is the stored response of an earlier request', async () => {
  const replayed = json(appointment, 201, { 'idempotency-replayed': 'true' });
  const { unit } = clientWithReplies([noConnection, replayed, json(appointment, 201)]);
  const onReplay = vi.fn();
  await settled(unit.appointments.create(creation, { onReplay }));
  await settled(unit.appointments.create(creation, { onReplay }));
  expect(onReplay).toHaveBeenCalledOnce();
});

describe('a request is not repeated after', () => {
  test.each<[string, Reply]>([
    ['400', problem('time_slot_unavailable', 400, {}, false)],
    ['500', problem('internal_error', 500, {}, false)],
    ['502 that is final', problem('partially_applied', 502, {}, false)],
    ['504 that is final', problem('outcome_unknown', 504, {}, false)],
    ['a limit that only the patient can change', problem('patient_limit_reached', 429)],
    ['an error of a proxy that is final', new Response('<h1>Forbidden</h1>', { status: 403 })],
    ['a redirect', new Response(null, { status: 308, headers: { location: 'http://elsewhere.test/' } })],
  ])('%s', async (_, failure) => {
    const { unit, requests } = clientWithReplies([failure, json(appointment, 201)]);
    const { error } = await settled(unit.appointments.create(creation));
    expect(error).toMatchObject({ attempts: 1, idempotencyKey: requests[0]?.headers.get('idempotency-key') });
    expect(requests).toHaveLength(1);
  });

  test('an argument that makes no request', async () => {
    const { unit, requests } = clientWithReplies([json(appointment)]);
    const { error } = await settled(unit.appointments.get('..'));
    expect(error).toEqual(new TypeError('appointment_id must be an identifier'));
    expect(requests).toEqual([]);
  });
});

describe('limits', () => {
  test('the number of attempts', async () => {
    const { unit, requests } = clientWithReplies([noConnection], { retry: { attempts: 3 } });
    const { error } = await settled(unit.appointments.get('a-1'));
    expect(error).toMatchObject({ name: 'ConnectionError', kind: 'network', attempts: 3, idempotencyKey: undefined });
    expect(requests).toHaveLength(3);
  });

  test('no retries', async () => {
    const { client, requests } = clientWithReplies([problem('overloaded', 503)], { retry: false });
    const { error } = await settled(client.emrs.get('sandbox-no'));
    expect(error).toMatchObject({ name: 'ProblemError', problem: { reason: 'overloaded' }, attempts: 1 });
    expect(requests).toHaveLength(1);
  });

  test('the time of one request', async () => {
    const { client } = clientWithReplies([silence, json(emr)]);
    const { value } = await settled(client.emrs.get('sandbox-no'));
    expect(value).toEqual(emr);
  });

  test('the time of the call', async () => {
    const { client, requests } = clientWithReplies([silence], { timeoutMs: 45_000 });
    const { error } = await settled(client.emrs.get('sandbox-no'));
    expect(error).toMatchObject({ name: 'ConnectionError', kind: 'timeout', attempts: 2 });
    expect(requests).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('none', async () => {
    const slow = (request: Request) =>
      Promise.race([silence(request), new Promise<Response>((resolve) => setTimeout(resolve, 10 * 60_000, json(emr)))]);
    const { client, requests } = clientWithReplies([slow], {
      timeoutMs: Number.POSITIVE_INFINITY,
      retry: { attemptTimeoutMs: Number.POSITIVE_INFINITY },
    });
    const call = settled(client.emrs.get('sandbox-no'));
    expect((await call).value).toEqual(emr);
    expect(requests).toHaveLength(1);
  });

  test('a pause that the call has no time for is not made', async () => {
    const { client, requests } = clientWithReplies([problem('rate_limited', 429, { 'retry-after': '120' })]);
    const { error } = await settled(client.emrs.get('sandbox-no'));
    expect(error).toMatchObject({ problem: { reason: 'rate_limited' }, attempts: 1 });
    expect(requests).toHaveLength(1);
  });
});

describe('the pause before a retry', () => {
  test.each([
    ['seconds', '7'],
    ['a date', 'Sat, 01 Jan 2028 00:00:07 GMT'],
  ])('is at least Retry-After in %s', async (_, retryAfter) => {
    vi.setSystemTime('2028-01-01T00:00:00Z');
    const { client, requests } = clientWithReplies([
      problem('rate_limited', 429, { 'retry-after': retryAfter }),
      json(emr),
    ]);
    const call = client.emrs.get('sandbox-no');
    await vi.advanceTimersByTimeAsync(6_999);
    expect(requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    await expect(call).resolves.toEqual(emr);
  });

  test('doubles, with jitter, up to a maximum', async () => {
    const random = vi.spyOn(Math, 'random');
    onTestFinished(() => random.mockRestore());
    for (const value of [0, 0.5, 1, 0, 0.5]) random.mockReturnValueOnce(value);
    const times: number[] = [];
    const { client } = clientWithReplies(
      [
        () => {
          times.push(performance.now());
          return noConnection();
        },
      ],
      { retry: { attempts: 6, baseDelayMs: 100, maxDelayMs: 400 } },
    );
    await settled(client.emrs.get('sandbox-no'));

    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    // From half of 100, 200, 400, 400 and 400 to the whole.
    expect(pauses).toEqual([50, 150, 400, 200, 300]);
  });
});

describe('a signal aborts', () => {
  test.each<[string, Reply]>([
    ['a request', silence],
    ['a pause', problem('overloaded', 503, { 'retry-after': '30' })],
  ])('%s', async (_, reply) => {
    const controller = new AbortController();
    const { client, requests } = clientWithReplies([reply]);
    const call = client.emrs.get('sandbox-no', { signal: controller.signal });
    const outcome = expect(call).rejects.toThrow('No longer needed');
    await vi.advanceTimersByTimeAsync(100);
    controller.abort(new Error('No longer needed'));
    await outcome;
    expect(requests).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a call that has not begun', async () => {
    const { client } = clientWithReplies([json(emr)]);
    await expect(client.emrs.get('sandbox-no', { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
  });
});

describe('the idempotency key', () => {
  test('of the caller is sent as it is', async () => {
    const { unit, requests } = clientWithReplies([json(appointment)]);
    await unit.appointments.cancel('a-1', {}, { idempotencyKey: 'cancel-a-1' });
    expect(requests[0]?.headers.get('idempotency-key')).toBe('cancel-a-1');
  });

  test('is new for each call, and absent from reads and dry runs', async () => {
    const { unit, requests } = clientWithReplies([json(appointment)]);
    await unit.appointments.update('a-1', { comment: 'One' });
    await unit.appointments.update('a-1', { comment: 'One' });
    await unit.appointments.previewUpdate('a-1', { comment: 'One' });
    await unit.appointments.get('a-1');
    const [first, second, ...others] = requests.map(({ headers }) => headers.get('idempotency-key'));
    expect(first).not.toBe(second);
    expect(others).toEqual([null, null]);
  });
});
