import { expect, test } from 'vitest';
import type { Connector } from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import { waitedFor } from './patience.ts';
import type { Subject } from './subject.ts';

/** The subject of an EHR that refuses so many times before it answers. */
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

test('an EHR that asks to be left alone for a while is asked again after it', async () => {
  const { ask, subject } = refusing(2, 0.01);
  expect(await ask()).toEqual([]);
  expect(subject.connector.capabilities).toEqual({ changes: [] });
  expect(subject.connector.findPatient).toBeUndefined();
  expect(subject.second).toBeUndefined();
});

test.each([
  ['goes on asking for that', 9, 0.01, 3],
  ['asks for more than anybody waits', 1, 3600, 1],
  ['does not say for how long', 1, undefined, 1],
])('one that %s is told to have refused', async (_, refusals, seconds, asked) => {
  const refused = refusing(refusals, seconds);
  await expect(refused.ask()).rejects.toMatchObject({ kind: 'unavailable' });
  expect(refused.asked()).toBe(asked);
});
