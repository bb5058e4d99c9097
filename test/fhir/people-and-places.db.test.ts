import { afterAll, expect, test } from 'vitest';
import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import type { FhirResource } from '../../connectors/fhir-r4/src/fhir.ts';
import { careUnitPath } from '../ehrs/other-ehrs.ts';
import { startGateway } from '../gateway/gateway.ts';
import { creationBody, freeSlot, type Slot } from '../requests/bookings.ts';
import { careUnitOf } from '../requests/codes.ts';
import { fhirEhr, withEhrs } from './fhir-ehr.ts';

const reference = (text: string) => ({ reference: text });
const fake = await startFake({ data: { days: 14 } });
const save = (resource: FhirResource & Readonly<Record<string, unknown>>) => fake.store.save(resource);
// `r-3` works in the south. The north has its own role for the same person, with its own schedule.
save({
  resourceType: 'PractitionerRole',
  id: 'r-3-north',
  practitioner: reference('Practitioner/r-3'),
  location: [reference('Location/north')],
});
const inNorth = new Date(Math.ceil(Date.now() / 3_600_000) * 3_600_000 + 9 * 24 * 3_600_000);
save({ resourceType: 'Schedule', id: 'r-3-north', actor: [reference('PractitionerRole/r-3-north')] });
save({
  resourceType: 'Slot',
  id: 'r-3-north',
  schedule: reference('Schedule/r-3-north'),
  status: 'free',
  start: inNorth.toISOString(),
  end: new Date(inNorth.getTime() + 30 * 60_000).toISOString(),
});
const drafts = fhirEhr('drafts', fake, { booking: { hold: false } }, { booking_confirmation: 'code' });
const gateway = await startGateway({ configure: (demo) => withEhrs(demo, [fhirEhr('fhir', fake), drafts]) });
afterAll(async () => {
  await gateway.close();
  await fake.close();
});

const north = careUnitPath('fhir', 'north');
const south = careUnitPath('fhir', 'south');

test('a time of one care unit cannot be booked through another, even if the practitioner works in both', async () => {
  const ofSouth = await freeSlot(gateway, { careUnit: south, resourceId: 'r-3' });
  const rejected = await careUnitOf(gateway, north).create(creationBody(ofSouth));
  expect(rejected).toMatchObject({ status: 400, body: { reason: 'time_slot_unavailable' } });
  const ofNorth = await freeSlot(gateway, { careUnit: north, resourceId: 'r-3' });
  expect(Date.parse(ofNorth.start)).toBe(inNorth.getTime());
  expect(await careUnitOf(gateway, north).create(creationBody(ofNorth))).toMatchObject({ status: 201 });
});

test.each([
  ['has died', { deceasedDateTime: '2026-01-01' }],
  ['is inactive', { active: false }],
])('a patient whose record %s cannot be booked', async (_, change) => {
  save({ ...fake.store.get('Patient/p-4'), active: true, deceasedDateTime: undefined, ...change });
  const slot = await freeSlot(gateway, { careUnit: north });
  const rejected = await careUnitOf(gateway, north).create({ ...creationBody(slot), patient_id: 'p-4' });
  expect(rejected).toMatchObject({ status: 409, body: { reason: 'patient_inactive' } });
});

test('a patient whose record was replaced is booked under the replacement, which the response names', async () => {
  const link = [{ type: 'replaced-by', other: reference('Patient/p-1') }];
  save({ ...fake.store.get('Patient/p-5'), active: false, link });
  const slot: Slot = await freeSlot(gateway, { careUnit: north });
  const made = await careUnitOf(gateway, north).create({ ...creationBody(slot), patient_id: 'p-5' });
  expect(made).toMatchObject({ status: 201, body: { patient_id: 'emr_id:p-1' } });
});

test('a draft for a patient who has died is rejected before a code is sent', async () => {
  save({ ...fake.store.get('Patient/p-6'), deceasedBoolean: true });
  const { create } = careUnitOf(gateway, careUnitPath('drafts', 'north'));
  const slot = await freeSlot(gateway, { careUnit: north });
  const rejected = await create({ ...creationBody(slot), patient_id: 'p-6' });
  expect(rejected).toMatchObject({ status: 409, body: { reason: 'patient_inactive' } });
});
