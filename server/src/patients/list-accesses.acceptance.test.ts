/** @module-tag any-database */
import { afterAll, expect, test } from 'vitest';
import { type Problem, type RequestOptions, startGateway, type TestClient } from '../../../test/gateway/gateway.ts';
import { bergen, oslo, sodermalm } from '../../../test/requests/bookings.ts';

interface Access {
  readonly time: string;
  readonly client: { readonly id: string; readonly name: string | null };
  readonly operation: string;
  readonly care_unit_id: string;
  readonly outcome: string;
  readonly request_id: string;
}
interface Accesses {
  readonly accesses: readonly Access[];
  readonly next_cursor: string | null;
}

const gateway = await startGateway();
afterAll(() => gateway.close());

const get = (path: string, client: TestClient = 'everything', headers: RequestOptions['headers'] = {}) =>
  gateway.request<Accesses & Problem>('GET', path, { client, headers });
const number = 'no_personal_number:15859000026';
const header = { 'x-patient': number };

/** Reads the record of the patient in several ways. */
async function readRecord() {
  const requests = [
    () => get(`${oslo}/patients/p-1`),
    () => get(`${oslo}/appointments?patient_id=header:x-patient`, 'narrowed', header),
    () => get(`${bergen}/patients/p-1/documents`, 'documents:read'),
    () => get(`${oslo}/patients/header:x-patient`, 'webhooks:manage', header),
    // Other patients, and the same id in another EHR.
    () => get(`${oslo}/patients/p-2`),
    () => get(`${sodermalm}/patients/p-1`),
  ];
  for (const request of requests) await request();
}

const summary = ({ client, operation, care_unit_id, outcome }: Access) =>
  [client.id, client.name, operation, care_unit_id, outcome].join(' ');

test('shows who had access to a record, with which client, newest first, itself in the next list', async () => {
  const before = Date.now() - 1_000;
  await readRecord();
  const read = [
    'webhooks-manage webhooks:manage get_patient oslo-sentrum scope_missing',
    'documents-read documents:read list_documents bergen-nord success',
    'narrowed narrowed list_appointments oslo-sentrum success',
    'everything everything get_patient oslo-sentrum success',
  ];
  const first = await get(`${oslo}/patients/header:x-patient/accesses`, 'accesses:read', header);
  expect(first.status).toBe(200);
  expect(first.body.accesses.map(summary)).toEqual(read);
  expect(first.text).not.toContain('15859000026');
  const own = 'accesses-read accesses:read list_accesses oslo-sentrum success';
  // By the EHR's own id, the same ones are found.
  const second = await get(`${oslo}/patients/p-1/accesses`, 'accesses:read');
  expect(second.body.accesses.map(summary)).toEqual([own, ...read]);
  const [{ time, request_id } = { time: '', request_id: '' }] = second.body.accesses;
  expect(Date.parse(time)).toBeGreaterThanOrEqual(before - (before % 1000));
  expect(time).toMatch(/\+0[12]:00$/);
  expect(request_id).toBe(first.headers['x-request-id']);

  // A client sees what happened at the care units that it is granted.
  const narrowed = await get(`${oslo}/patients/p-1/accesses`, 'narrowed');
  expect(narrowed.body.accesses.map(summary)).toEqual([own, own, ...read.filter((it) => it.includes('oslo'))]);

  // Pages do not shift, although each is an access.
  const found: string[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await get(`${oslo}/patients/p-1/accesses?limit=2${cursor}`);
    found.push(...body.accesses.map(summary));
    if (body.next_cursor === null) break;
    cursor = `&cursor=${body.next_cursor}`;
  }
  expect(found.slice(-read.length)).toEqual(read);
  expect(found).toHaveLength(3 + read.length);

  const { body } = await get(`${oslo}/patients/p-1/accesses?limit=1`);
  const moved = await get(`${oslo}/patients/p-2/accesses?limit=1&cursor=${body.next_cursor}`);
  expect(moved).toMatchObject({ status: 400, body: { reason: 'cursor_invalid' } });
  expect((await get(`${oslo}/patients/p-1/accesses?end=2020-01-01T00:00:00`)).body.accesses).toEqual([]);
  const ofYears = await get(`${oslo}/patients/p-1/accesses?start=2020-01-01T00:00:00&end=2020-01-01T00:00:00`);
  expect(ofYears).toMatchObject({ status: 400, body: { reason: 'time_range_invalid' } });
});

test('needs a patient whom the EHR knows', async () => {
  expect(await get(`${oslo}/patients/nobody/accesses`)).toMatchObject({
    status: 404,
    body: { reason: 'patient_not_found' },
  });
});
