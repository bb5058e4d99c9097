/** @module-tag any-database */
import type { Bundle, BundleEntry, BundleEntryRequest, OperationOutcome } from '@medplum/fhirtypes';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { oslo, sodermalm } from '../../../test/requests/bookings.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());
const base = `${oslo}/fhir-r4`;

type Sent = Partial<BundleEntryRequest>;

function send<Body = Bundle>(
  entries: readonly Sent[],
  { path = base, type = 'batch', ...options }: Record<string, unknown> = {},
) {
  const body = { resourceType: 'Bundle', type, entry: entries.map((request) => ({ request })) };
  const headers = { 'content-type': 'application/fhir+json' };
  return gateway.request<Body>('POST', String(path), { body, headers, ...options });
}

const reading = (...urls: readonly string[]): Sent[] => urls.map((url) => ({ method: 'GET', url }));
const statusesIn = ({ entry = [] }: Bundle) => entry.map(({ response }) => response?.status);
const codeOf = ({ response }: BundleEntry) => (response?.outcome as OperationOutcome | undefined)?.issue?.[0]?.code;

test('each read and search of a batch has the response that it has alone, in the order of the batch', async () => {
  const urls = [
    'Patient/p-1',
    'Practitioner?_count=1',
    `http://127.0.0.1:${gateway.port}${base}/Slot?_count=2`,
    'metadata',
  ];
  const { status, body } = await send(reading(...urls));
  expect([status, body.type]).toEqual([200, 'batch-response']);
  expect(statusesIn(body)).toEqual(['200 OK', '200 OK', '200 OK', '200 OK']);
  const alone = await gateway.request<{ id: string }>('GET', `${base}/Patient/p-1`);
  expect(body.entry?.[0]).toMatchObject({ resource: alone.body, response: { etag: alone.headers.etag } });
  const found = await gateway.request<Bundle>('GET', `${base}/Slot?_count=2`);
  expect(body.entry?.[2]?.resource).toMatchObject({ entry: found.body.entry });
  const known = await send([{ method: 'GET', url: 'Patient/p-1', ifNoneMatch: String(alone.headers.etag) }]);
  expect(known.body.entry).toEqual([{ response: { status: '304 Not Modified', etag: alone.headers.etag } }]);
  expect((await send([])).body).toEqual({ resourceType: 'Bundle', type: 'batch-response' });
});

test('an entry that fails leaves the others as they are', async () => {
  const { status, body } = await send([
    ...reading(
      'Patient/nobody',
      'Patient/p-1',
      'Slot?colour=red',
      `${sodermalm}/fhir-r4/Patient/p-1`,
      '../../x',
      'Encounter/1',
    ),
    { method: 'DELETE', url: 'Appointment/1' },
    { method: 'POST', url: 'Patient' },
    ...reading('Patient?identifier=urn:oid:2.16.578.1.12.4.1.4.1|15859000026'),
  ]);
  expect(status).toBe(200);
  expect(statusesIn(body).map((it) => it?.slice(0, 3))).toEqual([
    ...['404', '200', '400', '400', '400', '404', '422', '422', '400'],
  ]);
  const [nobody, , colour, elsewhere] = body.entry ?? [];
  expect([nobody, colour].map((it) => it && codeOf(it))).toEqual(['not-found', 'not-supported']);
  expect(elsewhere?.response?.outcome).toMatchObject({ issue: [{ expression: ['Bundle.entry[3].request.url'] }] });
});

test('each entry needs its scope, counts, and leaves its entry in the audit trail', async () => {
  const { body } = await send(reading('Patient/p-1', 'Appointment?patient=p-1'), { client: 'patients:read' });
  expect(statusesIn(body)).toEqual(['200 OK', '403 Forbidden']);
  const reads = () =>
    sql`SELECT FROM audit_entries WHERE operation = 'fhir_read_patient'`.execute(gateway.deps.services.db);
  await expect.poll(async () => (await reads()).rows.length).toBeGreaterThan(0);
  expect((await send(reading('Patient/p-1'), { client: null })).status).toBe(401);
});

test.each<[string, readonly Sent[], Record<string, unknown>, number, string]>([
  ['a transaction', reading('Patient/p-1'), { type: 'transaction' }, 422, 'Bundle.type'],
  ['too many entries', reading(...Array.from({ length: 21 }, () => 'Patient/p-1')), {}, 400, 'Bundle.entry'],
  ['an entry without a URL', [{ method: 'GET' }], {}, 400, 'Bundle.entry[0].request'],
])('%s is refused', async (_name, entries, options, expected, place) => {
  const { status, body } = await send<OperationOutcome>(entries, options);
  expect([status, body.issue?.[0]?.expression]).toEqual([expected, [expect.stringContaining(place)]]);
});

test('a batch over all care units, and one with a slash behind the base URL', async () => {
  const urls = [
    'Location?_count=1',
    'Patient/unknown',
    '$bulk-publish',
    'bulk-publish/slots.ndjson',
    '.well-known/smart-configuration',
    'Encounter/1',
  ];
  const all = await send(reading(...urls), { path: '/api/fhir-r4' });
  expect(all.status).toBe(200);
  expect(statusesIn(all.body).map((it) => it?.slice(0, 3))).toEqual(['200', '404', '400', '400', '400', '404']);
  const slash = await send(reading('Patient/p-1'), { path: `${base}/` });
  expect(statusesIn(slash.body)).toEqual(['200 OK']);
});
