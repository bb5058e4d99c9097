import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import { portalServer, portalSettings, portalUnits } from '../../connectors/fhir-r4/test/portal-server.ts';
import { startGateway } from '../gateway/gateway.ts';
import { fhirEhr, withEhrs } from './fhir-ehr.ts';

/** A server that wants the patient in each call, and one that cannot move an appointment. */
const portal = await startFake({ ...portalServer, data: { days: 9 } });
const fixed = await startFake({
  ...{ transactions: 'none', plainWrites: false, checksAppointments: true, patchOnly: true },
  data: { days: 9 },
});
const gateway = await startGateway({
  configure: (demo) => {
    const ofPortal = fhirEhr('portal', portal, portalSettings);
    const care_units = ofPortal.care_units.map((it, index) => ({
      ...it,
      settings: portalUnits[index]?.settings ?? {},
    }));
    const ofFixed = fhirEhr('fixed', fixed, { booking: { mode: 'create', rebooks: true } });
    return withEhrs(demo, [{ ...ofPortal, care_units } as typeof ofPortal, ofFixed]);
  },
});
afterAll(async () => {
  await gateway.close();
  await Promise.all([portal.close(), fixed.close()]);
});

interface Body {
  readonly id: string;
  readonly timeslots: readonly { readonly start: string; readonly end: string }[];
}
const at = (emr: string) => `/api/emrs/${emr}/care-units/north`;
const send = (method: string, path: string, body?: object) =>
  gateway.request<Body>(method, path, body ? { body, headers: { 'idempotency-key': randomUUID() } } : {});

const day = 86_400_000;
const week = new URLSearchParams({
  start: new Date(Date.now() + day).toISOString(),
  end: new Date(Date.now() + 8 * day).toISOString(),
  resource_id: 'r-1',
});

/** Books the first free time, and returns the appointment and the next one. */
async function book(emr: string, query: string) {
  const { body } = await send('GET', `${at(emr)}/timeslots?${week}&healthcare_service_id=consultation${query}`);
  const [first, second] = body.timeslots;
  if (!first || !second) throw new Error('There are no free times');
  const made = await send('POST', `${at(emr)}/appointments`, {
    ...{ patient_id: 'p-1', resource_id: 'r-1', healthcare_service_id: 'consultation', comment: 'first' },
    ...{ start_time: first.start, end_time: first.end },
  });
  expect(made).toMatchObject({ status: 201, body: { status: 'booked', start: first.start } });
  return { id: made.body.id, first, second, move: { start: second.start, end: second.end } };
}

test('a server that wants the patient in each call is read, booked and changed', async () => {
  const { id, second, move } = await book('portal', '&patient_id=p-1');
  // The server's own id needs the patient's beside it.
  expect(id).not.toContain('p-1');
  const path = `${at('portal')}/appointments`;
  const moved = await send('PATCH', `${path}/${id}`, { ...move, comment: 'later' });
  expect(moved).toMatchObject({ status: 200, body: { id, status: 'booked', start: second.start, comment: 'later' } });
  expect(await send('GET', `${path}/${id}`)).toMatchObject({ status: 200, body: { id, start: second.start } });
  expect(await send('GET', `${path}?patient_id=p-1`)).toMatchObject({ body: { appointments: [{ id }] } });
  expect(await send('GET', `${path}?patient_id=p-2`)).toMatchObject({ body: { appointments: [] } });
  expect(await send('GET', `${path}/nothing`)).toMatchObject({ status: 404 });
  expect(await send('GET', `${path}?${week}`)).toMatchObject({ status: 501 });
  expect(await send('GET', `${at('portal')}/timeslots?${week}`)).toMatchObject({ status: 400 });
  expect(await send('PATCH', `${path}/${id}`, { status: 'cancelled' })).toMatchObject({
    status: 200,
    body: { status: 'cancelled' },
  });
});

test('an appointment of a server that cannot move one is booked anew, and cancelled', async () => {
  const { id, second, move } = await book('fixed', '');
  const moved = await send('PATCH', `${at('fixed')}/appointments/${id}`, move);
  expect(moved).toMatchObject({ status: 200, body: { status: 'booked', start: second.start, supersedes_id: id } });
  const all = fixed.store.all('Appointment').map(({ status }) => status);
  expect(all.sort()).toEqual(['booked', 'cancelled']);
});
