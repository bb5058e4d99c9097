import { plainHttp } from '@crossward/connector-kit/conformance';
import { expect, test } from 'vitest';
import { probe } from './probe.ts';
import { startToyServer } from './toy-server.ts';

test('the probe finds an EHR that answers, and one that does not', async () => {
  const server = await startToyServer();
  const statusOf = async () => (await probe(plainHttp(), server.url)).findings.map(({ status }) => status);
  expect(await statusOf()).toEqual(['ok']);
  await server.close();
  expect(await statusOf()).toEqual(['problem']);
});
