import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportPKCS8, generateKeyPair } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import { readDesk, readHttpVariables } from './settings.ts';

const variables = {
  CROSSWARD_URL: 'http://127.0.0.1:1',
  CROSSWARD_CLIENT_ID: 'assistant',
  CROSSWARD_CLIENT_SECRET: 'canary-secret',
  CROSSWARD_EMR: 'sandbox-no',
  CROSSWARD_CARE_UNIT: 'oslo-sentrum',
  CROSSWARD_PATIENT: 'no_personal_number:15859000026',
};

test('each variable that is missing or wrong is named, without a value', () => {
  expect(() => readDesk({ ...variables, CROSSWARD_PATIENT: ' ', CROSSWARD_EMR: undefined })).toThrow(
    /^CROSSWARD_EMR: is not set: [^\n]+\nCROSSWARD_PATIENT: is not set: [^\n]+$/,
  );
  expect(readDesk({ ...variables, CROSSWARD_CARE_UNIT: undefined }).assignment.careUnitId).toBeUndefined();
  expect(() => readDesk({ ...variables, CROSSWARD_CLIENT_SECRET: 'canary-☃' })).toThrow(/CLIENT_….*clientSecret/);
  expect(() => readDesk({ ...variables, CROSSWARD_CLIENT_KEY_FILE: '/nothing' })).toThrow('CROSSWARD_CLIENT_KEY_ID');
  expect(() => readHttpVariables({ CROSSWARD_URL: 'gateway' })).toThrow(/^CROSSWARD_URL/);
  expect(() => readHttpVariables({ ...variables, CROSSWARD_SECRET_KEY: 'canary' })).toThrow(/^CROSSWARD_SECRET_KEY/);
  expect(readHttpVariables(variables)).toEqual({ baseUrl: variables.CROSSWARD_URL, keys: undefined });
});

test('with a private key, the gateway is called with an access token', async () => {
  const sent: (string | undefined)[] = [];
  const gateway = createServer((request, response) => {
    sent.push(request.headers.authorization);
    const token = { access_token: 'a-token', token_type: 'Bearer', expires_in: 300 };
    const body = request.url === '/api/oauth/token' ? token : { healthcare_services: [], next_cursor: null };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  const folder = await mkdtemp(join(tmpdir(), 'crossward-key-'));
  onTestFinished(async () => {
    gateway.close();
    gateway.closeAllConnections();
    await rm(folder, { recursive: true });
  });
  const { privateKey } = await generateKeyPair('ES384', { extractable: true });
  const file = join(folder, 'key.pem');
  await writeFile(file, await exportPKCS8(privateKey));

  const desk = readDesk({
    ...variables,
    CROSSWARD_URL: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
    CROSSWARD_CLIENT_SECRET: undefined,
    CROSSWARD_CLIENT_KEY_FILE: file,
    CROSSWARD_CLIENT_KEY_ID: '2026-a',
  });
  expect((await desk.at('oslo-sentrum').healthcareServices.list().firstPage()).items).toEqual([]);
  expect(sent).toEqual([undefined, 'Bearer a-token']);
});
