import { afterAll, expect, test } from 'vitest';
import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import type { FhirAppointment, FhirResource, Participant } from '../../connectors/fhir-r4/src/fhir.ts';
import { careUnitPath } from '../ehrs/other-ehrs.ts';
import { startGateway } from '../gateway/gateway.ts';
import { book } from '../requests/bookings.ts';
import { eventually, rowsOf } from '../requests/codes.ts';
import { type Event, eventsAbout, expectEvents } from '../requests/events.ts';
import { fhirEhr, withEhrs } from './fhir-ehr.ts';

const fake = await startFake({ data: { days: 42 } });
const gateway = await startGateway({
  intervals: { changes: 100, events: 100 },
  configure: (demo) => {
    const emr = fhirEhr('fhir', fake);
    return withEhrs(demo, [{ ...emr, connection: { ...emr.connection, changes_seconds: 0.2 } }]);
  },
});
afterAll(async () => {
  await gateway.close();
  await fake.close();
});

const inEhr = (id: string) => fake.store.get(`Appointment/${id}`) as unknown as FhirAppointment;

/** Changes an appointment in the EHR, as staff do. */
function atTheDesk(id: string, changed: Partial<Record<keyof FhirAppointment, unknown>>): void {
  fake.store.save(JSON.parse(JSON.stringify({ ...inEhr(id), ...changed })) as FhirResource);
}

/** The participants, with this status for those whose type it is. */
const withStatus = (id: string, type: string, status: Participant['status']) => ({
  participant: (inEhr(id).participant ?? []).map((it) =>
    it.actor?.reference?.startsWith(type) ? { ...it, status } : it,
  ),
});

/** An appointment in the care unit `north`, whose booking was read from the EHR. */
async function booked() {
  const feed = "SELECT caught_up_at FROM ehr_change_feeds WHERE emr = 'fhir' AND cursor IS NOT NULL";
  await eventually(async () => expect(await rowsOf(gateway, feed)).toHaveLength(1));
  const appointment = await book(gateway, { careUnit: careUnitPath('fhir', 'north') });
  await settled();
  return appointment;
}

/** Waits until every change that was made before has been read and reported. */
async function settled(): Promise<void> {
  const [{ now } = { now: '' }] = await rowsOf<{ now: string }>(gateway, 'SELECT clock_timestamp()::text AS now');
  await eventually(async () => {
    const caughtUp = 'SELECT 1 FROM ehr_change_feeds WHERE caught_up_at > $1::timestamptz';
    expect(await rowsOf(gateway, caughtUp, [now])).toHaveLength(1);
    expect(await rowsOf(gateway, 'SELECT 1 FROM ehr_changes')).toEqual([]);
  });
}

/** The events by care unit, without `appointment.`. */
async function toldIn(id: string, count: number) {
  const events = await eventsAbout(gateway, id, count);
  await settled();
  const typesIn = (careUnit: string) =>
    events.filter((it) => it.care_unit_id === careUnit).map(({ type }) => type.slice('appointment.'.length));
  return { events, north: typesIn('north'), south: typesIn('south') };
}

/** A client of `south` must not learn where else the appointment is or was. */
function expectNothingOfNorth(events: readonly Event[]): void {
  const south = events.filter((it) => it.care_unit_id === 'south');
  expect(south.length).toBeGreaterThan(0);
  expect(JSON.stringify(south)).not.toMatch(/r-1|north/);
}

const other = [
  { actor: { reference: 'Location/south' }, status: 'accepted' },
  { actor: { reference: 'Practitioner/r-3' }, status: 'accepted' },
];
const patientOf = (id: string) =>
  (inEhr(id).participant ?? []).filter(({ actor }) => actor?.reference?.startsWith('Patient/'));

test('an appointment that two care units show has events in both', async () => {
  const { id } = await booked();
  const alone = inEhr(id).participant ?? [];
  const here = { actor: { reference: 'Location/north' }, status: 'accepted' };
  atTheDesk(id, { participant: [...alone, here, ...other] });
  const shared = await toldIn(id, 2);
  expect(shared).toMatchObject({ north: ['booked'], south: ['booked'] });
  atTheDesk(id, { status: 'cancelled' });
  const cancelled = await toldIn(id, 4);
  expect(cancelled).toMatchObject({ north: ['booked', 'cancelled'], south: ['booked', 'cancelled'] });
  expectNothingOfNorth(cancelled.events);
});

test('an appointment that staff move to another care unit is cancelled in the former one', async () => {
  const { id, start, end } = await booked();
  const day = 24 * 60 * 60 * 1000;
  const later = (time: string) => new Date(Date.parse(time) + day).toISOString();
  atTheDesk(id, { participant: [...patientOf(id), ...other], start: later(start), end: later(end) });
  const moved = await toldIn(id, 3);
  expect(moved).toMatchObject({ north: ['booked', 'cancelled'], south: ['booked'] });
  expect(moved.events.at(-1)).toMatchObject({ care_unit_id: 'south', data: { resource_id: 'emr_id:r-3' } });
  expect(moved.events.at(1)).toMatchObject({ data: { start, end, resource_id: 'emr_id:r-1', status: 'cancelled' } });
  expectNothingOfNorth(moved.events);
});

test.each([
  ['the patient is declined', (id: string) => withStatus(id, 'Patient/', 'declined')],
  ['the practitioner is declined', (id: string) => withStatus(id, 'Practitioner/', 'declined')],
  ['it has no time any more', () => ({ start: undefined, end: undefined })],
] as const)('an appointment is cancelled if %s, and booked again if staff take that back', async (_, change) => {
  const { id } = await booked();
  const before = inEhr(id);
  atTheDesk(id, change(id));
  await expectEvents(gateway, id, ['booked', 'cancelled']);
  atTheDesk(id, { ...before });
  await expectEvents(gateway, id, ['booked', 'cancelled', 'booked']);
});

test('a booking by staff is reported as such, although it has changed since in a server that sets no time of creation', async () => {
  const { id: like } = await booked();
  const { identifier: _, created: __, ...own } = inEhr(like);
  atTheDesk(like, { status: 'cancelled' });
  const day = 24 * 60 * 60 * 1000;
  const later = (time = '') => new Date(Date.parse(time) + day).toISOString();
  const byStaff = { ...own, id: 'by-staff', start: later(own.start), end: later(own.end) };
  for (const comment of ['new', 'changed']) fake.store.save({ ...byStaff, comment } as FhirResource);
  await expectEvents(gateway, 'by-staff', ['booked']);
});

test('an appointment that staff make provisional is reported, and so is its booking', async () => {
  const { id } = await booked();
  atTheDesk(id, { status: 'pending' });
  const [, provisional] = await eventsAbout(gateway, id, 2);
  expect(provisional).toMatchObject({
    type: 'appointment.awaiting_confirmation',
    data: { status: 'awaiting_confirmation' },
  });
  atTheDesk(id, { status: 'booked' });
  await expectEvents(gateway, id, ['booked', 'awaiting_confirmation', 'booked']);
});
