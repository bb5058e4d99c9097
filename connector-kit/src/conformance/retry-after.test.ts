import { expect, test } from 'vitest';
import type { Connector } from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import { withRetries } from './retry-after.ts';
import type { Subject } from './subject.ts';

/** A subject whose EHR is unavailable for the first calls. */
function unavailableFor(failures: number, retryAfterSeconds?: number) {
  let calls = 0;
  const connector = {
    capabilities: { changes: [] },
    async listResources() {
      calls += 1;
      if (calls > failures) return [];
      throw new ConnectorError('unavailable', 'Busy', retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
    },
  };
  const careUnit = { id: 'north', timeZone: 'Europe/Oslo' };
  const subject = withRetries({ connector: connector as unknown as Connector, careUnit } as Subject);
  return { call: () => subject.connector.listResources?.(careUnit), subject, calls: () => calls };
}

test('a call is retried after the delay that the EHR requests', async () => {
  const { call, subject } = unavailableFor(2, 0.01);
  expect(await call()).toEqual([]);
  expect(subject.connector.capabilities).toEqual({ changes: [] });
  expect(subject.connector.findPatient).toBeUndefined();
  expect(subject.second).toBeUndefined();
});

test('a change in the EHR is retried too, and so is its end', async () => {
  let calls = 0;
  const busyAtFirst = async () => {
    calls += 1;
    if (calls % 2 === 1) throw new ConnectorError('unavailable', 'Busy', { retryAfterSeconds: 0.01 });
  };
  const take = async () => {
    await busyAtFirst();
    return busyAtFirst;
  };
  const { directChanges } = withRetries({ directChanges: { cancel: busyAtFirst, take } } as unknown as Subject);
  await directChanges?.cancel?.({} as never);
  expect(calls).toBe(2);
  const free = await directChanges?.take?.({} as never);
  await free?.();
  expect(calls).toBe(6);
  expect(directChanges?.comment).toBeUndefined();
});

test.each([
  ['stays unavailable', 9, 0.01, 3],
  ['requests too long a delay', 1, 3600, 1],
  ['gives no delay', 1, undefined, 1],
])('gives up if the EHR %s', async (_, failures, seconds, calls) => {
  const ehr = unavailableFor(failures, seconds);
  await expect(ehr.call()).rejects.toMatchObject({ kind: 'unavailable' });
  expect(ehr.calls()).toBe(calls);
});
