/** @module-tag any-database */
import { sql } from 'kysely';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { faultyEhrs } from '../../../../../test/ehrs/faulty-ehr.ts';
import { wrapConnector } from '../../../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../../../test/gateway/gateway.ts';
import { eventually } from '../../../../../test/requests/codes.ts';
import { browserWith, withConsole } from '../../../../../test/requests/console.ts';
import { listActivity } from '../../audit/activity.ts';
import { addEmr } from '../emr-actions.ts';
import { withoutIds } from './try-booking.ts';

const faults = faultyEhrs();
const gateway = await startGateway({
  configure: withConsole,
  connectors: [wrapConnector(faults.faulty)],
  logLevel: 'debug',
});
afterAll(() => gateway.close());
beforeEach(() => faults.reset());
const { db, keys, ehrs } = gateway.deps.services;
const definition = {
  id: 'trial',
  name: 'Trial',
  connector: 'sandbox',
  settings: { country: 'SE' },
  synthetic_identifiers: true,
  policies: { booking_confirmation: 'code', cancellation_confirmation: 'code' },
  care_units: [{ id: 'sodermalm', name: 'Södermalm', time_zone: 'Europe/Stockholm', language: 'sv' }],
};
await addEmr({ db, keys }, { id: 'trial', definition, isOpen: true }, {});
await gateway.deps.console?.refreshStored();
await eventually(() => expect(ehrs.get('trial')?.isOpen).toBe(true));
const { browser } = await browserWith(gateway, 'ada', 'admin');
const page = '/console/connections/trial/try';
const fields = { booking_care_unit: 'sodermalm', patient: 'p-3' };
const send = () => browser.submit(`${page}/booking`, fields);

/** The appointments of the patient, in the EHR. */
async function appointments() {
  const ehr = ehrs.get('trial');
  const careUnit = ehr?.careUnits.get('sodermalm');
  if (!ehr || !careUnit) throw new Error('The EHR is in use');
  return ehr.call('listAppointments', { careUnit, patientId: 'p-3', limit: 500 });
}
const states = async () => (await appointments()).map(({ state }) => state).toSorted();

test('a booking and its cancellation are made as for a client, without a code, and leave nothing', async () => {
  const before = await states();
  await browser.open(page);
  const tried = await send();
  expect(tried.text).toContain('Booking and cancellation work. Nothing is left in the EHR.');
  expect(tried.text).toMatch(/Book ok booked: .* Cancel ok cancelled: /);
  expect(await states()).toEqual([...before, 'cancelled'].toSorted());
  const { rows } = await sql`SELECT FROM messages`.execute(db);
  expect(rows).toEqual([]);
  await eventually(async () => {
    const { rows: seen } = await sql<{ operation: string; outcome: string }>`
      SELECT operation, outcome FROM audit_entries WHERE client_id = 'operator:ada' ORDER BY at`.execute(db);
    expect(seen.map(({ operation, outcome }) => [operation, outcome])).toEqual([
      ['create_appointment', 'success'],
      ['change_appointment', 'success'],
    ]);
  });
  const [{ action, target, outcome } = {}] = await listActivity(db, 1);
  expect([action, target, outcome]).toEqual(['emr_try_booking', 'trial', 'done']);
  for (const text of [tried.html, ...gateway.logLines]) expect(text).not.toMatch(/\bp-3\b(?!<)/);
  const report = await browser.submit('/console/connections/trial/report');
  expect(report.text).toContain('What was tried Booking and cancellation worked');
});

test('a booking that is refused is told, and nothing is booked', async () => {
  await browser.open(page);
  const before = await states();
  const unknown = await browser.submit(`${page}/booking`, { ...fields, patient: 'p-none' });
  expect(unknown.text).toMatch(/Nothing was booked\..*patient_not_found/);
  const mistyped = await browser.submit(`${page}/booking`, { ...fields, patient: 'passport:1' });
  expect(mistyped.text).toMatch(/Nothing was booked\..*identifier_malformed/);
  expect(await states()).toEqual(before);
});

test('a cancellation that the EHR refuses is told with what stands there', async () => {
  faults.of('trial').failNext('rejected', { kind: 'cancel' });
  await browser.open(page);
  const tried = await send();
  expect(tried.text).toMatch(/The appointment stands in the EHR: appointment \S+ , .*Cancel it there\./);
  const standing = (await appointments()).filter(({ state }) => state === 'booked');
  expect(standing.map(({ id }) => tried.text.includes(id))).toContain(true);
});

test('a form that is sent again after a lost answer books no second time, and cancels', async () => {
  const before = await states();
  faults.of('trial').goDownDuring({ kind: 'cancel', isDone: false });
  await browser.open(page);
  const tried = await send();
  expect(tried.text).toContain('It is not known whether the appointment still stands in the EHR');
  expect((await states().catch(() => [])).length).toBeLessThanOrEqual(before.length + 1);
  faults.of('trial').comeUp();
  await eventually(async () => expect((await send()).text).toContain('Booking and cancellation work.'));
  expect(await states()).toEqual([...before, 'cancelled'].toSorted());
});

test('only an admin can try, and a draft is told to open first', async () => {
  const { browser: operator } = await browserWith(gateway, 'olav', 'operate');
  await operator.open('/console');
  expect((await operator.submit(`${page}/booking`, fields)).status).toBe(403);
  await addEmr({ db, keys }, { id: 'draft', definition: { ...definition, id: 'draft' }, isOpen: false }, {});
  expect((await browser.open('/console/connections/draft/try')).text).toContain(
    'A booking can be tried when the EHR is',
  );
  const refused = await browser.submit('/console/connections/draft/try/booking', fields);
  expect(refused.text).toContain('Nothing was booked. Choose a care unit');
});

test('a request is shown without what names a patient or a record', () => {
  const hidden = new Set(['anna']);
  expect(withoutIds('GET /fhir/R4/Patient/anna/$everything?identifier=1', hidden)).toBe(
    'GET /fhir/R4/Patient/…/$everything',
  );
  expect(withoutIds('PUT /api/v1/facility/7f6c-1/appointments/A1', hidden)).toBe(
    'PUT /api/v1/facility/…/appointments/…',
  );
});
