import { plainHttp } from '@crossward/connector-kit/conformance';
import { expect, test } from 'vitest';
import { createEhrClient } from './ehr-client.ts';
import { startEhr } from './ehr-server.ts';
import { probe } from './probe.ts';

test('the probe finds an EHR that answers, and one that does not', async () => {
  const server = await startEhr();
  const ehr = createEhrClient(plainHttp(), server.url);
  const statusOf = async () => (await probe(ehr)).findings.map(({ status }) => status);
  expect(await statusOf()).toEqual(['ok']);
  await server.close();
  expect(await statusOf()).toEqual(['problem']);
});
