import { expect, test } from 'vitest';
import type { Connector } from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import { waitedFor } from './patience.ts';
import type { Subject } from './subject.ts';

/** A subject whose EHR is unavailable for the first calls. */
function refusing(refusals: number, retryAfterSeconds?: number) {
  let asked = 0;
  const connector = {
    capabilities: { changes: [] },
    async listResources() {
      asked += 1;
      if (asked > refusals) return [];
      throw new ConnectorError('unavailable', 'Busy', retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
    },
  };
  const careUnit = { id: 'north', timeZone: 'Europe/Oslo' };
  const subject = waitedFor({ connector: connector as unknown as Connector, careUnit } as Subject);
  return { ask: () => subject.connector.listResources?.(careUnit), subject, asked: () => asked };
}

test('a call is retried after the requested delay', async () => {
  const { ask, subject } = refusing(2, 0.01);
  expect(await ask()).toEqual([]);
  expect(subject.connector.capabilities).toEqual({ changes: [] });
  expect(subject.connector.findPatient).toBeUndefined();
  expect(subject.second).toBeUndefined();
});

test.each([
  ['stays unavailable', 9, 0.01, 3],
  ['requests too long a delay', 1, 3600, 1],
  ['gives no delay', 1, undefined, 1],
])('gives up if the EHR %s', async (_, refusals, seconds, asked) => {
  const refused = refusing(refusals, seconds);
  await expect(refused.ask()).rejects.toMatchObject({ kind: 'unavailable' });
  expect(refused.asked()).toBe(asked);
});
