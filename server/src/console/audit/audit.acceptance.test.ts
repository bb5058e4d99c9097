/** @module-tag any-database */
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { oslo } from '../../../../test/requests/bookings.ts';
import { browserWith, withConsole } from '../../../../test/requests/console.ts';
import type { Role } from '../accounts/roles.ts';
import { listActivity } from './activity.ts';

const gateway = await startGateway({ configure: (it) => withConsole(it), logLevel: 'trace' });
afterAll(() => gateway.close());
const { db } = gateway.deps.services;

const signedIn = async (role: Role, name = `the ${role}`) => (await browserWith(gateway, name, role)).browser;
const admin = await signedIn('admin');

const national = 'no_personal_number:15859000026';
const read = (id: string) => gateway.request('GET', `${oslo}/patients/${id}`);
await read('p-1');
await read(national);
await read('p-2');
await read('nobody');
await gateway.request('GET', `${oslo}/appointments?patient_id=p-1`, { client: 'narrowed' });

async function search(fields: Readonly<Record<string, string>>) {
  await admin.open('/console/audit');
  return admin.submit('/console/audit', fields);
}

/** The cells of the result under this column. */
function column(html: string, name: string): string[] {
  const cells = html.matchAll(new RegExp(`data-label="${name}"><span>(.*?)</span></td>`, 'gs'));
  return [...cells].map(([, cell = '']) => cell.replaceAll(/<[^>]+>/g, ' ').trim());
}

describe('a search finds accesses', () => {
  test.each([
    ['all', {}, ['list appointments', 'get patient', 'get patient', 'get patient', 'get patient']],
    ['to a patient', { emr: 'sandbox-no', patient: 'emr_id:p-1' }, ['list appointments', 'get patient', 'get patient']],
    [
      'by a national number',
      { emr: 'sandbox-no', patient: national },
      ['list appointments', 'get patient', 'get patient'],
    ],
    ['to the same id in another EHR', { emr: 'sandbox-se', patient: 'emr_id:p-1' }, []],
    ['of a client', { client: ' narrowed ' }, ['list appointments']],
    ['without a NUL', { client: 'narr\0owed' }, ['list appointments']],
    [
      'by any of several identifiers, of the type that was chosen if they have none',
      { emr: 'sandbox-no', type: 'no_personal_number', patient: '15859000026, emr_id:p-2' },
      ['list appointments', 'get patient', 'get patient', 'get patient'],
    ],
    ['in a time', { from: '2020-01-01', to: '2020-01-02T00:00' }, []],
  ])('%s', async (_, fields, operations) => {
    const { status, html, text } = await search(fields);
    expect(status).toBe(200);
    expect(column(html, 'Operation')).toEqual(operations);
    if (operations.length === 0) expect(text).toContain('No entries.');
  });

  test('with client, place, outcome and request, and without an identifier', async () => {
    const { html } = await search({ emr: 'sandbox-no', patient: 'emr_id:nobody' });
    expect(column(html, 'Who')).toEqual(['everything']);
    expect(column(html, 'EHR and care unit')[0]).toMatch(/^sandbox-no\s+oslo-sentrum$/);
    expect(column(html, 'Outcome')).toEqual(['patient not found']);
    expect(column(html, 'Ids')[0]).toMatch(/^Request\s+Request\s+\S{36}$/);
    expect(column(html, 'Patient hashes')[0]).toMatch(/^[0-9a-f]{8}$/);
    expect(html).not.toContain('nobody');
  });
});

test('a search has days of the time zone of the console, and finds accesses of the last one too', async () => {
  // A minute before and after midnight in Oslo, in winter.
  for (const at of ['2019-01-31T22:59:00Z', '2019-01-31T23:01:00Z', '2019-02-01T22:59:00Z', '2019-02-01T23:01:00Z']) {
    await sql`
      INSERT INTO audit_drafts (at, actor_kind, client_id, operation, emr, care_unit_id, patient_hashes, record_ids, outcome,
        request_id, writer_id, key_id, mac)
      SELECT ${at}::timestamptz, 'client', 'of-a-day', 'get_patient', 'sandbox-no', 'oslo-sentrum', '{}', '{}', 'success',
        ${at}, gen_random_uuid(), id, '\\x00' FROM audit_keys LIMIT 1`.execute(db);
  }
  const { html } = await search({ client: 'of-a-day', from: '2019-02-01', to: '2019-02-01' });
  expect(column(html, 'Ids').map((it) => it.split(/\s+/).at(-1))).toEqual([
    '2019-02-01T22:59:00Z',
    '2019-01-31T23:01:00Z',
  ]);
  expect(html).toMatch(/<input id="from" name="from" type="date" value="2019-02-01"/);
  expect(html).toContain('Day in the time of Oslo.');
});

test('EHRs, clients and types of identifiers are chosen from lists', async () => {
  const { html } = await admin.open('/console/audit');
  expect(html).toMatch(/<select id="emr"[\s\S]*<option value="sandbox-no">Sandkassen Norge \(sandbox-no\)/);
  expect(html).toMatch(/<select id="client"[\s\S]*<option value="narrowed"/);
  expect(html).toMatch(/<select id="type"[\s\S]*<option value="nhs_number">NHS number/);
});

test('a patient who asks for the log gets a file in plain words, without identifiers', async () => {
  const found = await search({ emr: 'sandbox-no', patient: `${national} emr_id:p-1` });
  expect(found.text).toContain('Export for the patient');
  const before = (await listActivity(db, 500)).length;
  const file = await admin.submit('/console/audit/export');
  expect([file.status, file.headers['content-disposition']]).toEqual([200, 'attachment; filename="access-log.html"']);
  expect(file.text).toContain('This list shows who looked at or changed your record in Sandkassen Norge');
  expect(file.html).toMatch(/<body>\s*<main>\s*<h1>Who had access[\s\S]*<\/main>\s*<\/body>/);
  expect(file.text).toMatch(/Looked up your details Oslo sentrum Done/);
  expect(file.text).toMatch(/Listed your appointments/);
  expect(file.html).not.toMatch(/p-1|15859|>[0-9a-f]{8}<|<script|get_patient/);
  const [latest, ...rest] = await listActivity(db, 500);
  expect(rest).toHaveLength(before);
  expect(latest).toMatchObject({
    operator: 'the admin',
    action: 'audit_export',
    target: 'sandbox-no',
    outcome: 'done',
  });

  await search({ client: 'narrowed' });
  expect((await admin.submit('/console/audit/export')).status).toBe(400);
  const other = await signedIn('admin', 'yet another admin');
  await other.open('/console/audit');
  const sealed = /name="search" value="([^"]+)"/.exec(found.html)?.[1] ?? '';
  expect((await other.submit('/console/audit/export', { search: sealed })).status).toBe(400);
});

test('pages of a result have no identifier in their URL or form, and belong to one operator', async () => {
  for (let count = 0; count < 60; count++) await read('p-5');
  const first = await search({ emr: 'sandbox-no', patient: 'emr_id:p-5' });
  expect(column(first.html, 'Time')).toHaveLength(50);
  const older = /name="older" value="([^"]+)"/.exec(first.html)?.[1] ?? '';
  expect(Buffer.from(older, 'base64url').toString('latin1')).not.toContain('p-5');
  const next = await admin.submit('/console/audit', { older });
  expect(next.path).toBe('/console/audit');
  expect(column(next.html, 'Time')).toHaveLength(10);
  expect(next.html).not.toMatch(/name="older"|p-5/);
  const requests = [...column(first.html, 'Ids'), ...column(next.html, 'Ids')];
  expect(new Set(requests).size).toBe(60);

  const other = await signedIn('admin', 'another admin');
  await other.open('/console/audit');
  for (const sent of [older, 'x']) expect((await other.submit('/console/audit', { older: sent })).status).toBe(400);
});

test.each([
  [{ patient: national }, 'A search by patient needs an EHR.'],
  [{ emr: 'sandbox-no', patient: 'no_personal_number:15859000027' }, 'fødselsnummer'],
  [{ from: 'yesterday' }, 'A time has the form'],
])('%j is rejected with what is wrong', async (fields, explanation) => {
  const { status, text, html } = await search(fields);
  expect(status).toBe(400);
  expect(text).toContain(explanation);
  expect(html).toMatch(/role="alert"[\s\S]*href="#(emr|patient|from)"/);
  expect(html).not.toContain('15859');
});

test('each search is in the activity list, and nothing that was typed in the log', async () => {
  const before = (await listActivity(db, 500)).length;
  await search({ emr: 'sandbox-no', patient: national });
  const [latest, ...rest] = await listActivity(db, 500);
  expect(rest).toHaveLength(before);
  expect(latest).toMatchObject({
    operator: 'the admin',
    action: 'audit_search',
    target: 'sandbox-no',
    outcome: 'done',
  });
  expect(gateway.logLines.join('')).not.toContain('15859000026');
  const { rows } = await sql<{ text: string }>`SELECT operator_activity::text AS text FROM operator_activity`.execute(
    db,
  );
  expect(JSON.stringify(rows)).not.toContain('15859000026');
});

test('an EHR that does not exist is not stored in the activity list', async () => {
  await search({ emr: '15859000026', patient: 'emr_id:p-1' });
  expect((await listActivity(db, 1))[0]).toMatchObject({ action: 'audit_search', target: null });
});

test('only administrators search', async () => {
  for (const role of ['view', 'operate'] as const) {
    const browser = await signedIn(role);
    expect((await browser.open('/console/audit')).status).toBe(403);
    await browser.open('/console');
    expect((await browser.submit('/console/audit', {})).status).toBe(403);
  }
});
