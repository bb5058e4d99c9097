/** @module-tag any-database */
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UnsecuredJWT } from 'jose';
import { afterAll, expect, test, vi } from 'vitest';
import { readExportState } from '../server/src/audit/export/export-state.ts';
import { crossward } from '../server/src/cli/test-support.ts';
import { type RequestOptions, startGateway } from './gateway/gateway.ts';
import { assistantClient, startHttpAssistants, withAssistantClient } from './requests/assistant.ts';
import { creationBody, freeSlot, oslo, riverside, sodermalm } from './requests/bookings.ts';
import { eventually } from './requests/codes.ts';
import { type ConsoleBrowser, type ConsolePage, consoleBrowser, newOperator, withConsole } from './requests/console.ts';
import { form } from './requests/documents.ts';
import { exportTo, startOtlpReceiver } from './requests/otlp-receiver.ts';
import { newKey, requestToken, signAssertion, withKeyClient } from './requests/tokens.ts';
import { startReceiver, webhooksOf, withQuickWebhooks } from './requests/webhook-receiver.ts';

/** Personal data and secrets that must not appear in a log. */
const people = {
  norwegian: '15859000026',
  malformedNorwegian: '15859000027',
  norwegianWithSpace: '158590 00026',
  swedish: '191212121212',
  shortSwedish: '121212-1212',
  british: '9990000018',
  britishWithSpaces: '999 000 0018',
  hsa: 'SE0000000000-1001',
  unknown: 'kanari-fugl-7731',
  givenName: 'Lykkelig',
  familyName: 'Granskog',
  phone: '+4790012345',
  email: 'kanari.fugl@example.org',
};
/** Of types that only some EHRs take: nobody's. */
const foreign = {
  dk_cpr: '0201609995',
  fi_hetu: '010190-999W',
  is_kennitala: '3112992040',
  gb_chi: '3102990010',
  gb_hcn: '3200000007',
  nz_nhi: 'ZZZ00AC',
  au_ihi: '8003600000000007',
  de_kvnr: 'A000000002',
  ca_on_hcn: '0000000018',
  nl_bsn: '999900006',
  fr_ins: '199029999999995',
  it_cf: 'XXXXXX00A01X999M',
};
const note = { noteText: 'kanari-journal-5521 has a rash', noteTitle: 'kanari-title-8812' };
const file = { fileText: 'kanari-document-3390 has a fracture', fileTitle: 'kanari-file-6127' };
const secrets = {
  wrongSecret: 'kanari-secret-4d1f8e0b77aa',
  bearer: 'kanari-bearer-99ab12',
  urlToken: 'kanari-url-token',
};
const numbers = [people.norwegian, people.swedish, people.british];
const canaries = Object.values({ ...people, ...foreign, ...note, ...file, ...secrets });

const key = await newKey('a');

// Traces are on before the application is built.
const collector = await startOtlpReceiver();
const telemetry = await exportTo(collector);
const folder = await mkdtemp(join(tmpdir(), 'crossward-canary-'));
const exportFile = join(folder, 'audit.ndjson');
const gateway = await startGateway({
  logLevel: 'trace',
  configure: (it) => ({
    ...withConsole(
      withKeyClient(withAssistantClient(withQuickWebhooks(it)), 'signer', { jwks: { keys: [key.publicKey] } }),
    ),
    audit: { ...it.audit, export: { file: exportFile, format: 'balp' } },
  }),
});
const receiver = await startReceiver();
afterAll(async () => {
  await gateway.close();
  await receiver.close();
  await collector.close();
  await rm(folder, { recursive: true });
});

const ids = Object.entries({
  no_personal_number: people.norwegian,
  se_personal_number: people.swedish,
  nhs_number: people.british,
  hsa_id: people.hsa,
  emr_id: people.unknown,
  bare: people.email,
}).map(([type, value]) => (type === 'bare' ? value : `${type}:${value}`));

const texts = [
  ...canaries.filter((it) => !Object.values(foreign).includes(it)),
  ...ids,
  `no_personal_number:${people.malformedNorwegian}`,
  `se_personal_number:${people.shortSwedish}`,
  `patient:${people.norwegian}`,
  `header:${people.norwegian}`,
];

/** One of each kind that the interface could treat in its own way. The others are sent as identifiers and credentials. */
const everywhere: readonly string[] = [
  people.norwegian,
  people.norwegianWithSpace,
  people.shortSwedish,
  people.hsa,
  people.familyName,
  people.phone,
  people.email,
  note.noteText,
  secrets.urlToken,
  `no_personal_number:${people.norwegian}`,
  `no_personal_number:${people.malformedNorwegian}`,
  `header:${people.norwegian}`,
];

test('no log line, metric, problem or table contains personal data', async () => {
  const problems: string[] = [];
  const send: typeof gateway.request = async (method, path, options) => {
    const response = await gateway.request(method, path, options);
    if (response.status >= 400) problems.push(response.text);
    // Many proxies log response headers.
    problems.push(JSON.stringify(response.headers));
    return response as never;
  };
  const slot = await freeSlot(gateway);
  const right = creationBody(slot);
  const { id: clientId, secret } = gateway.credentials('everything');

  const sendAll = async (text: string) => {
    const sent: Promise<unknown>[] = [];
    const add = (...request: Parameters<typeof send>) => void sent.push(send(...request));
    const encoded = encodeURIComponent(text);
    const headerValue = Buffer.from(text).toString('latin1');
    // Problems echo unknown field and parameter names that are plain words, to help with typos.
    const name = /^[A-Za-z_-]+$/.test(text) ? `${text}1` : text;
    const encodedName = encodeURIComponent(name);
    for (const careUnit of [oslo, sodermalm, riverside]) {
      // In the path: valid and invalid, known and unknown identifiers.
      add('GET', `${careUnit}/patients/${encoded}`);
      add('GET', `${careUnit}/resources/${encoded}`);
      add('GET', `${careUnit}/patients/header:x-patient`, { headers: { 'x-patient': headerValue } });
      add('GET', `${careUnit}/patients/${encoded}/accesses?cursor=${encoded}`);
      add('GET', `${careUnit}/appointments?patient_id=${encoded}&resource_id=${encoded}`);
      add('GET', `${careUnit}/appointments?patient_id=header:x-patient`, {
        headers: { 'x-patient': headerValue },
      });
    }
    // In credentials.
    add('GET', `${oslo}/patients/p-1`, { client: { id: headerValue, secret: headerValue } });
    add('GET', `${oslo}/patients/p-1`, { client: { id: clientId, secret: headerValue } });
    add('GET', `${oslo}/patients/p-1`, { headers: { authorization: `Bearer ${headerValue}` } });
    add('GET', `${oslo}/patients/p-1`, { client: null, headers: { authorization: `Bearer ${headerValue}` } });
    if (!everywhere.includes(text)) {
      await Promise.all(sent);
      return;
    }
    for (const path of [
      `${oslo}/appointments/${encoded}`,
      `${oslo}/${encoded}`,
      `${oslo}/patients/${encoded}/${encoded}`,
      `/api/emrs/${encoded}`,
      `/api/emrs/sandbox-no/care-units/${encoded}`,
      `/${encoded}`,
      `/problems/${encoded}`,
      `${oslo}/patients/${encoded}%`,
      // In the query: values, names, cursors, numbers, times.
      `${oslo}/appointments?${encodedName}=${encoded}`,
      `${oslo}/appointments?patient_id=p-1&status=${encoded}`,
      `${oslo}/appointments?patient_id=p-1&cursor=${encoded}`,
      `${oslo}/appointments?patient_id=p-1&limit=${encoded}`,
      `${oslo}/appointments?start=${encoded}&end=${encoded}`,
      `${oslo}/appointments?patient_id=${encoded}&patient_id=${encoded}`,
      `${oslo}/timeslots?start=${encoded}&end=${encoded}&resource_id=${encoded}`,
      `${oslo}/timeslots?start=${slot.start.slice(0, 19)}&end=${slot.end.slice(0, 19)}&healthcare_service_id=${encoded}`,
      `${oslo}/timeslots?start=${slot.start.slice(0, 19)}&end=${slot.end.slice(0, 19)}&resource_id=${encoded}`,
      `/api/emrs?${encodedName}`,
      `/nothing?patient=${encoded}`,
      `/health/live?${encoded}`,
    ]) {
      add('GET', path);
    }
    sendFhir(add, text, encoded, encodedName);
    for (const method of ['DELETE', 'PUT', 'OPTIONS']) add(method, `${oslo}/patients/${encoded}?name=${encoded}`);

    // In the body: values, names, wrong types, invalid JSON.
    const bodies: unknown[] = [
      { ...right, patient_id: text },
      { ...right, resource_id: text },
      { ...right, healthcare_service_id: text },
      { ...right, start_time: text },
      { ...right, comment: { [text]: text } },
      { ...right, comment: [text] },
      { ...right, [name]: text },
      { ...right, patient_id: [text] },
      { ...right, patient_id: { [text]: text } },
      { [name]: text },
      [text],
      JSON.stringify(text),
      `{"patient_id": "${text}`,
      `${text}`,
      Number(text) || text,
    ];
    for (const body of bodies) {
      const payload = typeof body === 'number' ? String(body) : body;
      add('POST', `${oslo}/appointments`, { body: payload });
      add('PATCH', `${oslo}/appointments/${encoded}`, { body: payload });
    }
    for (const change of [{ comment: text }, { status: 'cancelled' }, { confirmation: { code: text } }]) {
      add('PATCH', `${oslo}/appointments`, { body: { ids: ['x', text, `x${text}`], ...change } });
    }
    add('PATCH', `${oslo}/appointments/x`, { body: { resource_id: text } });
    add('PATCH', `${oslo}/appointments/x`, { body: { start: text, end: text } });
    add('PATCH', `${oslo}/appointments/x`, { body: { status: text } });
    add('PATCH', `${oslo}/appointments/x`, { body: { confirmation: { code: text } } });

    const someone = { given_name: 'Ny', family_name: 'Prøvestad', birth_date: '1990-05-15' };
    for (const body of [
      { ...someone, identifier: text },
      { ...someone, identifier: 'p-1', family_name: text, given_name: text },
      { ...someone, identifier: `no_personal_number:${people.norwegian}`, phone: text, email: text },
      { ...someone, identifier: `no_personal_number:${people.norwegian}`, birth_date: text, gender: text },
      { ...someone, identifier: `no_personal_number:${people.norwegian}`, family_name: text, [name]: text },
    ]) {
      add('POST', `${oslo}/patients`, { body });
    }
    for (const body of [{ phone: text }, { family_name: text }, { family_name: text, birth_date: '1990-05-15' }]) {
      add('POST', `${oslo}/patients/search`, { body });
    }

    const notes = `${oslo}/patients/p-1/medical-notes`;
    for (const body of [
      { text: ` ${text}\0` },
      { text, title: `${text}\n` },
      { text, author_id: text },
      { text, appointment_id: text },
      { text: [text] },
      { text, [name]: text },
    ]) {
      add('POST', notes, { body });
    }
    add('POST', `${oslo}/patients/${encoded}/medical-notes`, { body: { text } });
    add('GET', `${notes}?author_id=${encoded}&start=${encoded}`);
    add('GET', `${notes}/${encoded}`);

    const documents = `${oslo}/patients/p-1/documents`;
    const content = Buffer.from(text).toString('base64');
    for (const body of [
      { content_type: 'application/pdf', content },
      { content_type: 'text/plain', content: text },
      { content_type: text, content },
      { content_type: 'text/plain', content, title: `${text}\n` },
      { content_type: 'text/plain', content, author_id: text },
      { content_type: 'text/plain', content, [name]: text },
      `{"content": "${content}", "title": "${text}`,
    ]) {
      add('POST', documents, { body });
    }
    add('POST', documents, form([{ name: 'content', value: text, fileName: encoded, type: 'image/png' }]));
    add('POST', documents, form([{ name: 'title', value: `../${text}` }]));
    add('GET', `${documents}/${encoded}`);
    add('GET', `${documents}/${encoded}/content`);

    const schedules = `${oslo}/resources/r-1/schedules`;
    const evening = {
      start_time: '2031-03-17T17:00:00',
      end_time: '2031-03-17T20:00:00',
      slot_minutes: 30,
      healthcare_service_ids: ['consultation'],
    };
    for (const body of [
      { ...evening, healthcare_service_ids: [text] },
      { ...evening, recurrence: text },
      { ...evening, recurrence: `FREQ=WEEKLY;COUNT=2;${text}` },
      { ...evening, recurrence: `FREQ=WEEKLY;UNTIL=${text}` },
      { ...evening, slot_minutes: text },
      { ...evening, start_time: text },
      { ...evening, [name]: text },
      `{"start_time": "${text}`,
    ]) {
      add('POST', schedules, { body });
    }
    add('POST', `${oslo}/resources/${encoded}/schedules`, { body: evening });
    for (const path of [`${schedules}/${encoded}`, `${oslo}/resources/${encoded}/schedules/${encoded}`]) {
      add('GET', path);
      add('POST', `${path}/end`, { body: { end_time: '2031-03-18T00:00:00' } });
      add('POST', `${path}/end`, { body: { end_time: text, [name]: text } });
      add('POST', `${path}/exceptions`, { body: { start_time: text, end_time: text } });
    }
    add('GET', `${schedules}?start=${encoded}&end=${encoded}&cursor=${encoded}`);

    // In headers, including standard ones.
    for (const header of [
      'x-service-standard',
      'user-agent',
      'cookie',
      'referer',
      'content-type',
      'accept',
      'idempotency-key',
      'traceparent',
      'x-forwarded-for',
      'origin',
    ]) {
      add('POST', `${oslo}/appointments`, {
        body: { ...right, patient_id: 'nobody' },
        headers: { [header]: headerValue },
      });
    }
    add('GET', '/api/emrs', { headers: { 'x-request-id': headerValue } });
    const inTrace = { tracestate: `a=${headerValue}`, baggage: `a=${headerValue}` };
    add('GET', '/api/emrs', { headers: { traceparent: headerValue, ...inTrace } });
    add('GET', '/api/emrs', { headers: { 'x-request-id': `patient-${headerValue}` } });
    if (numbers.includes(text)) {
      add('GET', `${oslo}/patients/nobody`, { headers: { 'x-request-id': text.padStart(32, '0') } });
      const traceparent = `00-${text.padStart(32, 'a')}-${'b'.repeat(16)}-01`;
      add('GET', `${oslo}/patients/p-1`, { headers: { traceparent, ...inTrace } });
    }
    // Problems echo the name of a referenced header, unless it is long or has more than a few digits.
    if (text.replaceAll(/\D/g, '').length > 4) {
      const headerName = text.replaceAll(/[^A-Za-z0-9]/g, '-');
      add('GET', `${oslo}/patients/header:${headerName}`);
      add('GET', `${oslo}/patients/header:${headerName}`, { headers: { [headerName]: 'nobody' } });
      add('GET', `${oslo}/patients/header:${encoded}`);
    }

    // In the form of the token endpoint, and in what a client signs.
    const said = { jti: text, sub: text, iss: text, scope: text };
    const assertions = [text, new UnsecuredJWT(said).encode(), await signAssertion('signer', key, { claims: said })];
    for (const assertion of assertions) sent.push(requestToken(gateway, assertion, { client_id: text, scope: text }));
    const jti = await signAssertion('signer', key, { claims: { jti: text } });
    sent.push(requestToken(gateway, jti, { scope: `appointments:read ${text}` }));
    await Promise.all(sent);
  };
  for (const text of texts) await sendAll(text);
  for (const [type, number] of Object.entries(foreign)) {
    const identifier = `${type}:${number}`;
    const inHeader = { headers: { 'x-patient': identifier } };
    await Promise.all([
      ...[identifier, `patient:${number}`, `header:${number}`].map((it) => send('GET', `${oslo}/patients/${it}`)),
      send('GET', `${oslo}/patients/header:x-patient`, inHeader),
      send('GET', `${oslo}/appointments?patient_id=${identifier}&resource_id=${number}`),
      send('POST', `${oslo}/appointments`, { body: { ...right, patient_id: identifier } }),
      send('POST', `${oslo}/appointments`, { body: { ...right, patient_id: 'header:x-patient' }, ...inHeader }),
      send('POST', `${oslo}/appointments`, { body: { ...right, comment: number, patient_id: 'nobody' } }),
    ]);
  }

  // In successful requests.
  const endpoint = await webhooksOf(gateway).create(receiver.url);
  await send('GET', `${oslo}/patients/p-1`);
  const booked = await send<{ id: string }>('POST', `${oslo}/appointments`, {
    body: { ...creationBody(await freeSlot(gateway)), patient_id: 'header:x-patient', comment: note.noteText },
    headers: { 'x-patient': `no_personal_number:${people.norwegian}` },
  });
  expect(booked.status).toBe(201);
  await send('GET', `${oslo}/appointments?patient_id=no_personal_number:${people.norwegian}`);
  await send('PATCH', `${oslo}/appointments/${booked.body.id}`, { body: { status: 'cancelled' } });

  await webhooksOf(gateway).ended(endpoint.id, 2);

  const written = await send<{ id: string }>('POST', `${oslo}/patients/p-1/medical-notes`, {
    body: { text: note.noteText, title: note.noteTitle, author_id: 'r-1' },
    headers: { 'idempotency-key': 'a-note' },
  });
  expect(written.status).toBe(201);
  await send('GET', `${oslo}/patients/p-1/medical-notes`);
  await send('GET', `${oslo}/patients/p-1/medical-notes/${written.body.id}`);
  const stored = await send<{ id: string }>('POST', `${oslo}/patients/p-1/documents`, {
    body: { title: file.fileTitle, content_type: 'text/plain', content: Buffer.from(file.fileText).toString('base64') },
    headers: { 'idempotency-key': 'a-document' },
  });
  expect(stored.status).toBe(201);
  await send('GET', `${oslo}/patients/p-1/documents`);
  // Its `Content-Disposition` names the title, as the caller wants.
  await gateway.request('GET', `${oslo}/patients/p-1/documents/${stored.body.id}/content`);

  const doctor = { 'x-doctor': `hsa_id:${people.hsa}` };
  const resource = `${riverside}/resources/header:x-doctor/schedules`;
  await send('GET', resource, { headers: doctor });
  const day = new Date(Date.now() + 40 * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
  const scheduled = await send<{ id: string }>('POST', `${oslo}/resources/r-1/schedules`, {
    body: {
      start_time: `${day}T18:00:00`,
      end_time: `${day}T19:00:00`,
      slot_minutes: 30,
      healthcare_service_ids: ['consultation'],
    },
    headers: { 'idempotency-key': 'a-schedule' },
  });
  expect(scheduled.status).toBe(201);
  for (const [kind, body] of [
    ['exceptions', { start_time: `${day}T18:30:00`, end_time: `${day}T19:00:00` }],
    ['end', { end_time: `${day}T18:00:00` }],
  ] as const) {
    const path = `${oslo}/resources/r-1/schedules/${scheduled.body.id}/${kind}`;
    expect((await send('POST', path, { body, headers: { 'idempotency-key': kind } })).status).toBe(200);
  }

  const accesses = await send<{ accesses: unknown[] }>('GET', `${oslo}/patients/header:x-patient/accesses`, {
    headers: { 'x-patient': `no_personal_number:${people.norwegian}` },
  });
  expect(accesses.body.accesses.length).toBeGreaterThan(0);

  // In requests that Node.js rejects before the gateway sees them.
  for (const text of canaries) {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.on('data', (chunk) => problems.push(chunk.toString()));
    socket.end(`GET /${text} HTTP/9.9\r\n${text}\r\n\r\n`);
    await once(socket, 'close');
  }
  // In a request that causes an internal error.
  await gateway.request('GET', '/health/ready');
  const operatorSecrets = await useConsole();
  const printed = await useCommandLine();
  const assistants = await useAssistants();
  await eventually(async () => {
    const { exported, last } = await readExportState(gateway.deps.services.db);
    expect(exported).toBe(last);
  });
  const tables = await textColumns();
  const metrics = (await gateway.request('GET', '/metrics')).text;
  await eventually(() => expect(receiver.received.length).toBeGreaterThan(1));
  await gateway.database.close();
  for (const text of ids) {
    const response = await send('GET', `${oslo}/appointments?patient_id=${encodeURIComponent(text)}`);
    expect(response.status).toBeOneOf([400, 503]);
  }
  const failed = await send('GET', `${oslo}/appointments?patient_id=no_personal_number:${people.norwegian}`);
  expect(failed.status).toBe(503);

  await telemetry.stop();
  const { spans } = collector;
  const operations = new Set(spans.map(({ attributes }) => attributes['crossward.operation']));
  expect(operations.size).toBeGreaterThan(20);
  for (const name of ['changeAppointments', 'deliver webhook', 'COMMIT'])
    expect(spans.map((it) => it.name)).toContain(name);
  expectNoneIn('telemetry', collector.texts(), [secret, endpoint.secret, 'p-1', ...operatorSecrets]);
  expect(gateway.logLines.length).toBeGreaterThan(1000);
  expect(tables.length).toBeGreaterThan(5);
  expectNoneIn('a log line', gateway.logLines, [secret, ...operatorSecrets]);
  // The digits of a measured duration can be those of a number by chance.
  expectNoneIn('the metrics', metrics.replaceAll(/\.\d+$/gm, '').split('\n'), [secret, ...operatorSecrets]);
  expectNoneIn('a problem', problems, [secret]);
  expectNoneIn(
    'a delivery',
    receiver.received.map(({ body }) => body),
    [secret, endpoint.secret, 'p-1'],
  );
  // A column of bytes shows them in hexadecimal.
  const asBytes = canaries.map((it) => Buffer.from(it).toString('hex'));
  expectNoneIn('the database', tables, [secret, ...asBytes, ...operatorSecrets]);
  const exportedLines = (await readFile(exportFile, 'utf8')).split('\n');
  expect(exportedLines.length).toBeGreaterThan(100);
  expectNoneIn('the file of the audit trail', exportedLines, [secret, 'p-1', ...operatorSecrets]);
  expect(printed.length).toBeGreaterThan(500);
  expectNoneIn('the output of a command', printed, [secret, endpoint.secret, ...operatorSecrets]);
  expect(assistants.length).toBeGreaterThan(20);
  expectNoneIn('the log of crossward mcp', assistants, [secret, assistantClient.secret]);
});

/** Runs the commands that show something, and gives canaries to those that take text. Returns the lines that they print. */
async function useCommandLine(): Promise<string[]> {
  const { ground } = gateway;
  vi.stubEnv('DATABASE_URL', ground.testDatabase.url);
  vi.stubEnv('CROSSWARD_SECRET_KEY', ground.secretKeys[0].toString('base64'));
  vi.stubEnv('CROSSWARD_DATA_DIR', folder);
  vi.stubEnv('PORT', String(gateway.port));
  const lines: string[] = [];
  const run = async (words: string, input = '') => {
    const { code, stdout, stderr } = await crossward(words, input);
    lines.push(...`${stdout}\n${stderr}`.split('\n'));
    return code;
  };
  try {
    for (const json of ['', ' --json']) {
      for (const words of ['doctor', 'status', 'config check']) await run(words + json);
      for (const words of [
        'audit search --limit 10000',
        'audit verify',
        'clients list',
        'messages list',
        'messages failed',
        'operations list',
        'operators list',
        'operators sessions',
        'secret-keys list',
        'webhooks list',
      ])
        expect(await run(words + json), words).toBe(0);
    }
    for (const format of ['ndjson', 'balp']) expect(await run(`audit export --format ${format}`)).toBe(0);
    const named = `--emr sandbox-no --patient - --from 2020-01-01`;
    for (const id of ids.filter((it) => it.includes(':'))) {
      await run(`audit search ${named}`, id);
      // The EHR's own id is what the operator asks for.
      if (!id.startsWith('emr_id:')) await run(`audit export ${named}`, id);
      await run(`patient erase --emr sandbox-no --patient -`, id);
    }
    for (const text of [people.norwegian, people.email, secrets.wrongSecret]) {
      await run(`audit search --request-id ${text}`);
      await run(`operations show ${text}`);
      await run(`messages retry ${text}`);
    }
  } finally {
    vi.unstubAllEnvs();
  }
  return lines;
}

/** Sends canaries as hosts and models do. Returns the log of what serves them. */
async function useAssistants(): Promise<readonly string[]> {
  const served = await startHttpAssistants(gateway);
  const careUnit = ['sandbox-no', 'oslo-sentrum'] as const;
  const patient = `no_personal_number:${people.norwegian}`;
  const host = await served.connect({ careUnit, patient }, '2026-07-28');
  for (const text of texts) {
    const value = Buffer.from(text).toString('latin1');
    const right = { ...served.headersOf(patient), 'content-type': 'application/json' };
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: text,
      method: text,
      params: { name: text, arguments: { text } },
    });
    for (const header of ['x-patient', 'x-service-client-id', 'x-service-client-secret', 'origin', 'mcp-session-id']) {
      await fetch(served.urlOf(careUnit), { method: 'POST', headers: { ...right, [header]: value }, body });
    }
    await fetch(served.urlOf([text, text]), { method: 'POST', headers: right, body });
    await fetch(served.urlOf(careUnit), { method: 'POST', headers: right, body: `{"${text}` });
    for (const [tool, args] of [
      ['preview_booking', { time_ref: text }],
      ['preview_booking', { time_ref: text, patient: text }],
      ['find_times', { service_id: text, from: text, until: text }],
      ['get_appointment', { appointment_id: text }],
      ['book', { plan_ref: text, [text]: text }],
      [text, { text }],
    ] as const) {
      await host.call(tool, args);
    }
  }
  await served.close();
  return served.log;
}

type Add = (method: string, path: string, options?: RequestOptions) => void;

/** Sends canaries to the FHIR face: in paths, queries, forms, headers and bodies. */
function sendFhir(add: Add, text: string, encoded: string, encodedName: string): void {
  const face = `${oslo}/fhir-r4`;
  const json = { 'content-type': 'application/fhir+json' };
  for (const path of [
    `Patient/${encoded}`,
    `Appointment/${encoded}`,
    `Slot/${encoded}`,
    `${encoded}/${encoded}`,
    `Patient?identifier=${encoded}`,
    `Patient?identifier=urn:oid:2.16.578.1.12.4.1.4.1%7C${encoded}`,
    `Appointment?patient=${encoded}&${encodedName}=${encoded}`,
    `Appointment?patient=p-1&date=${encoded}&_page=${encoded}`,
    `Slot?schedule=${encoded}&start=ge${encoded}`,
    `Practitioner?name=${encoded}&_count=${encoded}`,
  ]) {
    add('GET', `${face}/${path}`);
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  for (const [type, parameter] of [
    ['Patient', 'identifier'],
    ['Appointment', 'patient:identifier'],
    ['Practitioner', 'identifier'],
  ]) {
    const token = `${parameter}=urn:oid:2.16.578.1.12.4.1.4.1|${encoded}&${encodedName}=`;
    add('POST', `${face}/${type}/_search`, { body: token, headers: form });
  }
  for (const terms of [`family=${encoded}&birthdate=1990-05-15`, `family=A&birthdate=${encoded}`, `phone=${encoded}`]) {
    add('POST', `${face}/Patient/_search`, { body: terms, headers: form });
    add('GET', `${face}/Patient?${terms}`);
  }
  const system = 'urn:oid:2.16.578.1.12.4.1.4.1';
  const patient = {
    resourceType: 'Patient',
    identifier: [{ system, value: text }],
    name: [{ family: text, given: [text] }],
    birthDate: '1990-05-15',
  };
  for (const body of [
    patient,
    { ...patient, birthDate: text },
    { ...patient, [`${text}1`]: text },
    { ...patient, telecom: [{ system: 'phone', value: text }] },
    { ...patient, identifier: [{ system, value: people.norwegian }] },
  ]) {
    const [{ value = '' } = {}] = body.identifier;
    const condition = Buffer.from(`identifier=${system}|${value}`).toString('latin1');
    add('POST', `${face}/Patient`, { body, headers: { ...json, 'if-none-exist': condition } });
  }
  const actor = { reference: text, identifier: { system: 'urn:oid:2.16.578.1.12.4.1.4.1', value: text } };
  const appointment = { resourceType: 'Appointment', status: 'booked', participant: [{ actor, status: 'accepted' }] };
  for (const body of [appointment, { ...appointment, status: text }, { ...appointment, [`${text}1`]: text }, [text]]) {
    add('POST', `${face}/Appointment`, { body, headers: json });
    add('POST', `${face}/Appointment/$validate`, { body, headers: json });
    add('PUT', `${face}/Appointment/${encoded}`, { body, headers: json });
  }
  const code = { resourceType: 'Parameters', parameter: [{ name: 'code', valueString: text }] };
  add('POST', `${face}/Appointment/${encoded}/$confirm`, { body: code, headers: json });
  for (const header of ['if-none-exist', 'if-match', 'prefer']) {
    const value = Buffer.from(`identifier=${text}`).toString('latin1');
    add('POST', `${face}/Appointment`, { body: appointment, headers: { ...json, [header]: value } });
  }
}

/** Sends canaries to the console, and signs in. Returns what only the operator and the browser know. */
async function useConsole(): Promise<string[]> {
  const operator = await newOperator(gateway, 'kari', 'admin');
  const browser = consoleBrowser(gateway);
  // Not all of them, because each password that is checked takes a tenth of a second.
  const typed = [people.norwegian, people.email, secrets.wrongSecret];
  for (const text of typed) {
    await browser.open(`/console/sign-in?next=${encodeURIComponent(text)}`);
    // People type everything into every field.
    await browser.submit('/console/sign-in', { name: text, password: operator.password, code: text });
    await browser.submit('/console/sign-in', { name: operator.name, password: text, code: text });
    await gateway.database.pool.connect().then(async (client) => {
      await client.query('DELETE FROM failed_sign_ins', []);
      client.release();
    });
  }
  await browser.signIn(operator);
  const token = browser.cookies.get('__Host-crossward-console') ?? '';
  for (const text of typed) {
    const encoded = encodeURIComponent(text);
    await browser.open(`/console/operations?id=${encoded}`);
    await browser.open('/console');
    for (const path of [`operations/${encoded}/retry`, `operations/${encoded}/drop`, `messages/${encoded}/send`]) {
      await browser.submit(`/console/${path}`, { checked: 'yes', [text]: text });
      await browser.open('/console');
    }
    await browser.submit(`/console/connections/${encoded}`);
    for (const page of ['edit', 'rotate', 'revoke']) {
      await browser.open('/console');
      await browser.submit(`/console/clients/${encoded}/${page}`, { checked: 'yes', overlap_hours: '24' });
    }
    await browser.open('/console/new-client');
    await browser.submit('/console/new-client', {
      id: `${text}?`,
      name: text,
      scope: text,
      grant: text,
      return_urls: text,
    });
    await browser.open(`/console/activity?before=${encoded}`);
    await browser.open('/console/audit');
    const fields = { emr: text, client: text, request_id: text, from: text, [text]: text };
    await browser.submit('/console/audit', { ...fields, patient: text });
    await browser.submit('/console/audit', { emr: 'sandbox-no', patient: `no_personal_number:${people.norwegian}` });
    await browser.submit('/console/audit', { emr: text, patient: text, older: text });
    await browser.submit('/console/audit', { emr: text, client: text, request_id: text });
  }
  const { secret } = operator.totp;
  const random = [token, ...(await createClient(browser))];
  for (const text of random) expect(text).toMatch(/^[\w-]{43}$/);
  const forms = random.flatMap((text) => [text, Buffer.from(text).toString('hex'), bytesOf(text)]);
  return [operator.password, ...forms, secret.base32, secret.hex];
}

/** The bytes of a random text, as a dump of the database shows them. */
function bytesOf(text: string): string {
  return Buffer.from(text, 'base64url').toString('hex');
}

/** Creates a client, rotates its secret and uses both. Returns the secrets. */
async function createClient(browser: ConsoleBrowser): Promise<string[]> {
  const secretIn = ({ html }: ConsolePage) => /class="secret">([^<]+)/.exec(html)?.[1] ?? '';
  const fields = { id: 'site', scope: 'patients:read', grant: 'sandbox-no', overlap_hours: '24' };
  const shown: string[] = [];
  for (const path of ['/console/new-client', '/console/clients/site/rotate']) {
    await browser.open(path);
    shown.push(secretIn(await browser.submit(path, fields)));
  }
  for (const secret of shown) {
    const response = await gateway.request('GET', `${oslo}/patients/p-1`, { client: { id: 'site', secret } });
    expect(response.status).toBe(200);
  }
  return shown;
}

function expectNoneIn(name: string, lines: readonly string[], more: readonly string[]): void {
  const wanted = [...canaries, ...more].flatMap((it) => [it, encodeURIComponent(it), it.replaceAll(/[ -]/g, '')]);
  const lowered = wanted.map((it) => it.toLowerCase());
  for (const line of lines) {
    const lower = line.toLowerCase();
    const found = lowered.find((it) => lower.includes(it));
    if (found !== undefined) throw new Error(`${name} contains ${found}: ${line.slice(0, 500)}`);
  }
}

/** Every value of every column of the gateway's tables, as text. */
async function textColumns(): Promise<string[]> {
  const client = await gateway.database.pool.connect();
  try {
    const { rows } = await client.query<{ schema: string; table: string }>(
      `SELECT table_schema AS schema, table_name AS table FROM information_schema.tables
       WHERE table_schema NOT IN ('pg_catalog', 'information_schema')`,
      [],
    );
    const found: string[] = [];
    for (const { schema, table } of rows) {
      // The sandbox is an EHR, and keeps patients, comments, notes and documents as they are.
      if (
        schema === 'sandbox' &&
        ['patients', 'appointments', 'medical_notes', 'documents', 'document_chunks'].includes(table)
      )
        continue;
      const all = await client.query<{ row: string }>(`SELECT it::text AS row FROM "${schema}"."${table}" it`, []);
      found.push(...all.rows.map(({ row }) => `${schema}.${table} ${row}`));
    }
    return found;
  } finally {
    client.release();
  }
}
