import { expect, test } from 'vitest';
import { startEhr } from './ehr-server.ts';
import { probe } from './probe.ts';
import { contextFor } from './second.ts';

test('the probe finds an EHR that answers, a user who may not book, and an EHR that is away', async () => {
  const server = await startEhr();
  const statusesOf = async (user: string) => {
    const { findings } = await probe(contextFor(server.url, { user }));
    return findings.map(({ name, status }) => [name, status]);
  };
  const right = ['care unit clinic: right to book', 'care unit annex: right to book'];
  const all = (status: string) => [['services', 'ok'], ...right.map((name) => [name, status])];
  expect(await statusesOf('gateway')).toEqual(all('ok'));
  expect(await statusesOf('reader')).toEqual(all('problem'));
  await server.close();
  expect(await statusesOf('gateway')).toEqual([['services', 'problem']]);
});
