import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { startFake } from '../../../../../connectors/fhir-r4/fake/server.ts';
import { createTestDatabase } from '../../../../../test/database/database.ts';
import type { Gateway } from '../../../../../test/gateway/gateway.ts';
import { startChild } from '../../../../../test/processes/child-gateway.ts';
import { writeQuickDemo } from '../../../../../test/processes/quick-demo.ts';
import { eventually } from '../../../../../test/requests/codes.ts';
import { consoleBrowser, consoleUrl, sessionOf } from '../../../../../test/requests/console.ts';
import { createDb } from '../../../db/kysely.ts';
import { createKeyRing } from '../../../secrets/key-ring.ts';
import { addEmr } from '../emr-actions.ts';

const folder = await mkdtemp(join(tmpdir(), 'crossward-killed-try-'));
const { database, url, dispose } = await createTestDatabase('postgresql');
const fake = await startFake();
afterAll(async () => {
  await fake.close();
  await dispose();
  await rm(folder, { recursive: true, force: true });
});
const db = createDb(database);

/** A server in front of the EHR that is silent when an appointment is read by its id, until it is told to pass all. */
async function startGate() {
  let isShut = true;
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  const server = createServer(async (incoming, outgoing) => {
    const { method = 'GET', url: path = '/', headers } = incoming;
    if (isShut && method === 'GET' && /^\/Appointment(\/[^/?]+$|\?.*_id=)/.test(path)) return resolve();
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const passed = httpRequest(fake.url + path, { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    passed.end(Buffer.concat(chunks));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const open = () => {
    isShut = false;
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, reached, open };
}

/** Sends requests of a browser to a process, with the name of the console's host. */
function requestTo(address: () => string): Gateway['request'] {
  const send = async (method: string, path: string, { body, headers = {} }: Parameters<Gateway['request']>[2] = {}) => {
    const sent = httpRequest(address() + path, { method, headers: headers as Record<string, string> });
    sent.end(body);
    const [response] = await once(sent, 'response');
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) text += chunk;
    return { status: response.statusCode, headers: response.headers, text };
  };
  return send as unknown as Gateway['request'];
}

test('a booking that a killed gateway has tried is found by the next one, needs attention, and is cancelled there', async () => {
  const gate = await startGate();
  const { client, variables } = await writeQuickDemo(folder, { console: { url: consoleUrl, local_accounts: true } });
  const start = async () =>
    startChild({
      dataDir: await mkdtemp(join(folder, 'gateway-')),
      databaseUrl: url,
      setup: { client, variables },
    });
  let gateway = await start();
  onTestFinished(async () => void (await gateway.kill()));
  const keys = createKeyRing([Buffer.from(variables.CROSSWARD_SECRET_KEY ?? '', 'base64')]);
  const definition = {
    id: 'trial',
    name: 'Trial',
    connector: 'fhir-r4',
    synthetic_identifiers: true,
    connection: { allow_private_addresses: true },
    settings: { base_url: gate.url, patient_identifier_types: ['se_personal_number'] },
    care_units: [
      {
        id: 'north',
        name: 'North',
        time_zone: 'Europe/Stockholm',
        language: 'sv',
        settings: { location: 'Location/north' },
      },
    ],
  };
  expect(await addEmr({ db, keys }, { id: 'trial', definition, isOpen: true }, {})).toBeUndefined();
  const browser = consoleBrowser({ request: requestTo(() => gateway.address) });
  browser.cookies.set('__Host-crossward-console', await sessionOf({ db, keys }, 'ada', 'admin'));
  const page = '/console/connections/trial/try';
  await eventually(async () => expect((await browser.open(page)).text).toContain('Books the first free time'));

  const tried = browser.submit(`${page}/booking`, { booking_care_unit: 'north', patient: 'p-1' });
  // Its connection breaks.
  const ended = tried.then(
    ({ text }) => text,
    () => 'killed',
  );
  expect(await Promise.race([gate.reached, ended])).toBeUndefined();
  await gateway.kill();
  expect(await ended).toBe('killed');
  gate.open();
  const states = () => fake.store.search('Appointment', new URLSearchParams()).map(({ status }) => status);
  const booked = states().filter((status) => status === 'booked').length;

  gateway = await start();
  await eventually(async () => {
    const { text } = await browser.open(page);
    expect(text).toContain('Books the first free time');
    expect(text).toMatch(/Left by a try .* Appointment Start Resource Tried by Cancel \S+ \d{4}-.* ada, /);
  });
  await sql`UPDATE operator_activity SET at = at - interval '3 minutes' WHERE action = 'emr_try_booking'`.execute(db);
  const attention = 'A booking was tried, and its end is not known';
  expect((await browser.open('/console')).text).toContain(attention);
  await browser.open(page);
  const cancelled = await browser.submit(`${page}/cancel`);
  expect(cancelled.text).toContain('The appointment is cancelled. Nothing is left in the EHR.');
  expect(cancelled.text).not.toContain('Left by a try');
  expect((await browser.open('/console')).text).not.toContain(attention);
  expect(states().filter((status) => status === 'booked')).toHaveLength(booked - 1);
});
