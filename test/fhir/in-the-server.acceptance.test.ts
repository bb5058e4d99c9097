/** @module-tag every-ehr */
import { afterAll, describe, expect, inject, test } from 'vitest';
import type { FhirAppointment, FhirSlot } from '../../connectors/fhir-r4/src/fhir.ts';
import { actorsOf, slotsOf } from '../../connectors/fhir-r4/src/mappers/appointment.ts';
import type { FhirEhr } from '../ehrs/fhir.ts';
import { startGateway } from '../gateway/gateway.ts';
import {
  book,
  consecutiveSlots,
  creationBody,
  freeSlot,
  oslo,
  riverside,
  type Slot,
  sodermalm,
} from '../requests/bookings.ts';
import { careUnitOf, codeFor } from '../requests/codes.ts';

/** Checks the FHIR resources after requests to the gateway. The acceptance tests check the responses. */
const gateway = await startGateway();
afterAll(() => gateway.close());

const norway = careUnitOf(gateway, oslo);
const sweden = careUnitOf(gateway, sodermalm);
const uk = careUnitOf(gateway, riverside);

const serverOf = (emr: string) => (gateway.ehr(emr) as FhirEhr).server;
const inEhr = (id: string, emr: string) => serverOf(emr).read<FhirAppointment>(`Appointment/${id}`);
const withSecond = (slot: Slot): Slot => ({ ...slot, resource_id: 'emr_id:r-2' });

async function slotStatuses(appointment: FhirAppointment, emr: string): Promise<(string | undefined)[]> {
  const slots = await Promise.all(slotsOf(appointment).map((slot) => serverOf(emr).read<FhirSlot>(slot)));
  return slots.map(({ status }) => status);
}

/** Consecutive times at which the first two resources are both free. */
async function freeWithBoth(length: number): Promise<readonly Slot[]> {
  const from = new Date(Date.now() + 21 * 24 * 60 * 60 * 1000);
  const slots = await consecutiveSlots(gateway, length, { from });
  const ofSecond = await consecutiveSlots(gateway, length, { from, resourceId: 'r-2' });
  expect(ofSecond.map(({ start }) => start)).toEqual(slots.map(({ start }) => start));
  return slots;
}

test('the gateway uses transactions if the server supports them', () => {
  // Medplum's in-memory repository does not roll back, so slots are claimed one at a time.
  const transactions = inject('ehrKind') === 'fhir';
  for (const ehr of gateway.deps.ehrs.values()) expect(ehr.capabilities).toMatchObject({ transactions });
});

test('a booking creates an Appointment with patient, practitioner and busy slots', async () => {
  const [first, second] = (await consecutiveSlots(gateway, 2)) as [Slot, Slot];
  const { body } = await norway.create({ ...creationBody(first, second), comment: 'First visit' });
  const appointment = await inEhr(body.id, 'sandbox-no');
  expect(appointment).toMatchObject({ status: 'booked', comment: 'First visit', minutesDuration: 60 });
  expect([appointment.start, appointment.end].map((it) => Date.parse(it ?? ''))).toEqual(
    [first.start, second.end].map((it) => Date.parse(it)),
  );
  expect(actorsOf(appointment)).toEqual(['Patient/p-3', 'Practitioner/r-1', 'Location/oslo-sentrum']);
  expect(await slotStatuses(appointment, 'sandbox-no')).toEqual(['busy', 'busy']);
});

test('an update changes the same Appointment and frees its previous slots', async () => {
  const [slot, to] = (await consecutiveSlots(gateway, 2)) as [Slot, Slot];
  const { id } = await book(gateway, { slot });
  const before = await inEhr(id, 'sandbox-no');
  await norway.change(id, { start: to.start, end: to.end });
  const after = await inEhr(id, 'sandbox-no');
  expect(Date.parse(after.start ?? '')).toBe(Date.parse(to.start));
  expect(await slotStatuses(after, 'sandbox-no')).toEqual(['busy']);
  expect(await slotStatuses(before, 'sandbox-no')).toEqual(['free']);
});

test('a cancellation keeps the Appointment and frees its slots', async () => {
  const { id } = await book(gateway);
  const before = await inEhr(id, 'sandbox-no');
  await norway.cancel(id, { comment: 'The patient is ill' });
  expect(await inEhr(id, 'sandbox-no')).toMatchObject({ status: 'cancelled', comment: 'The patient is ill' });
  expect(await slotStatuses(before, 'sandbox-no')).toEqual(['free']);
});

describe('a booking or cancellation that awaits a code', () => {
  test('is pending and keeps its slots busy, and the code is not stored in the EHR', async () => {
    const { id } = await book(gateway, { careUnit: sodermalm });
    const held = await inEhr(id, 'sandbox-se');
    expect(held.status).toBe('pending');
    expect(await slotStatuses(held, 'sandbox-se')).toEqual(['busy-tentative']);
    const code = await codeFor(gateway, id);
    await sweden.confirm(id, code);
    const booked = await inEhr(id, 'sandbox-se');
    expect(booked.status).toBe('booked');
    expect(await slotStatuses(booked, 'sandbox-se')).toEqual(['busy']);
    const everything = JSON.stringify([held, await gateway.ehr('sandbox-se').everything()]);
    expect(everything).not.toMatch(new RegExp(`(?<!\\d)${code}(?!\\d)`));
  });

  test('is cancelled and frees its slots when it is released', async () => {
    const { id } = await book(gateway, { careUnit: sodermalm });
    const held = await inEhr(id, 'sandbox-se');
    await sweden.cancel(id);
    expect(await inEhr(id, 'sandbox-se')).toMatchObject({ status: 'cancelled' });
    expect(await slotStatuses(held, 'sandbox-se')).toEqual(['free']);
  });

  test('leaves the Appointment booked until its cancellation is confirmed', async () => {
    const { id } = await book(gateway, { careUnit: riverside });
    const count = (await gateway.ehr('sandbox-uk').appointments()).length;
    const { body: view } = await uk.cancel(id);
    expect(await inEhr(id, 'sandbox-uk')).toMatchObject({ status: 'booked' });
    await uk.confirm(view.id, await codeFor(gateway, view.id));
    expect(await inEhr(id, 'sandbox-uk')).toMatchObject({ status: 'cancelled' });
    expect(await gateway.ehr('sandbox-uk').appointments()).toHaveLength(count);
  });
});

test.each([1, 2, 3])('twenty concurrent bookings of one slot create one Appointment, round %i', async () => {
  const slot = await freeSlot(gateway);
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, index) => norway.create({ ...creationBody(slot), patient_id: `p-${index + 1}` })),
  );
  const won = responses.filter(({ status }) => status === 201);
  const lost = responses.filter(({ status }) => status !== 201);
  expect(lost.map(({ status, body }) => `${status} ${body.reason}`)).toEqual(
    Array.from({ length: 19 }, () => '400 time_slot_unavailable'),
  );
  const inServer = await gateway.ehr('sandbox-no').appointments();
  const standing = inServer.filter((it) => it.state === 'booked' && it.start.getTime() === Date.parse(slot.start));
  expect(standing.map(({ id }) => id)).toEqual(won.map(({ body }) => body.id));
});

test('a bulk move is all or nothing if one of the times is booked concurrently', async () => {
  const slots = await freeWithBoth(3);
  const before = [];
  for (const slot of slots) before.push(await book(gateway, { slot }));
  const ids = before.map(({ id }) => id);
  const wanted = withSecond(slots[2] as Slot);
  const [moved, ...bookings] = await Promise.all([
    norway.changeMany(ids, { resource_id: 'r-2' }),
    ...Array.from({ length: 5 }, () => norway.create(creationBody(wanted))),
  ]);
  const isMoved = moved.status === 200;
  if (!isMoved) expect(moved).toMatchObject({ status: 400, body: { reason: 'time_slot_unavailable' } });
  const won = bookings.filter(({ status }) => status === 201);
  expect(won).toHaveLength(isMoved ? 0 : 1);
  const standing = await gateway.ehr('sandbox-no').appointments();
  const resourceOf = (id: string) => standing.find((it) => it.id === id)?.resourceId;
  expect(ids.map(resourceOf)).toEqual(ids.map(() => (isMoved ? 'r-2' : 'r-1')));
  const taken = [...ids, ...won.map(({ body }) => body.id)];
  for (const id of taken) expect(await slotStatuses(await inEhr(id, 'sandbox-no'), 'sandbox-no')).toEqual(['busy']);
  const busy = (await serverOf('sandbox-no').all<FhirSlot>('Slot')).filter(
    (it) => it.status !== 'free' && slots.some(({ start }) => Date.parse(start) === Date.parse(it.start ?? '')),
  );
  expect(busy).toHaveLength(taken.length);
});
