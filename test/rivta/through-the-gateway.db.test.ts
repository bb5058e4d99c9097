import { afterAll, beforeEach, expect, test } from 'vitest';
import { north, patients } from '../../connectors/rivta-scheduling/fake/data-set.ts';
import { patient, type Shown, startRegion, unit } from './region.ts';

const region = await startRegion();
const { fake, gateway, book, bodyOf, change } = region;
afterAll(region.close);
beforeEach(region.restore);

test('books, reads, moves and cancels, and no text that leaves the gateway has the number of the patient', async () => {
  fake.behaviour.info = 'Kom fastande.';
  const made = await book();
  expect(made.status, made.text).toBe(201);
  expect(made.body).toMatchObject({ status: 'booked', notice: 'Kom fastande.' });
  const path = `${unit}/appointments/${encodeURIComponent(made.body.id)}`;
  const read = await gateway.request<Shown>('GET', path);
  expect([read.status, read.body.id, read.body.notice]).toEqual([200, made.body.id, null]);
  const list = await gateway.request('GET', `${unit}/appointments?patient_id=${patient}`);
  expect(list.status, list.text).toBe(200);
  const { start_time, end_time } = await bodyOf();
  const moved = await change(made.body.id, { start: start_time, end: end_time });
  expect([moved.status, moved.body.id], moved.text).toEqual([200, made.body.id]);
  const cancelled = await change(made.body.id, { status: 'cancelled' });
  expect(cancelled.status, cancelled.text).toBe(200);
  // The producer has it no more, and the gateway knows what it was.
  const forgotten = await gateway.request<Shown>('GET', path);
  expect([forgotten.status, forgotten.body], forgotten.text).toEqual([200, { ...cancelled.body, notice: null }]);
  expect((await change(made.body.id, { status: 'cancelled' })).status).toBe(200);
  const late = await change(made.body.id, { comment: 'x' });
  expect([late.status, late.body.reason]).toEqual([409, 'appointment_cancelled']);
  for (const { text } of [made, read, list, moved, cancelled, forgotten, late])
    expect(text).not.toContain(patients.first.slice(2));
  // A caller who knows the form of the ids cannot make one.
  await book();
  const [booking] = fake.calendar.bookings.keys();
  const forged = encodeURIComponent(`${patients.first}/${north.hsaId}/${booking}`);
  expect((await gateway.request('GET', `${unit}/appointments/${forged}`)).status).toBe(404);
  expect(gateway.logLines.join('\n')).not.toContain(patients.first.slice(2));
});

test('reads the journal notes that are approved for the patient, and none has the number of the patient', async () => {
  const note = { subject: patients.first, time: '20260105081500', text: 'Ont i knät.', careUnit: north.hsaId };
  fake.notes.push(
    { ...note, documentId: 'd-1', approved: true },
    { ...note, documentId: 'd-2', approved: false },
    { ...note, documentId: 'd-3', approved: true, subject: patients.second },
  );
  type Notes = { readonly medical_notes: readonly { readonly id: string; readonly patient_id: string }[] };
  const path = `${unit}/patients/header:X-Patient/medical-notes`;
  const listed = await gateway.request<Notes>('GET', path, { headers: { 'x-patient': patient } });
  expect(listed.status, listed.text).toBe(200);
  expect(listed.body.medical_notes).toMatchObject([{ text: 'Ont i knät.', created_at: '2026-01-05T08:15:00+01:00' }]);
  const [{ patient_id = '' } = {}] = listed.body.medical_notes;
  const again = await gateway.request<Notes>('GET', `${unit}/patients/${patient_id}/medical-notes`);
  expect(again.body).toEqual(listed.body);
  const written = await gateway.request<Shown>('POST', path, {
    headers: { 'x-patient': patient },
    body: { text: 'x' },
  });
  expect([written.status, written.body.reason]).toEqual([501, 'operation_unsupported']);
  for (const text of [listed.text, written.text, ...gateway.logLines])
    expect(text).not.toContain(patients.first.slice(2));
});

test('a service that is offered to one patient is found and booked for them, and for nobody else', async () => {
  const special = { subject: patients.first, id: 'uppfoljning', name: 'Uppföljning' };
  fake.behaviour.ofOnePatient = special;
  const [slot] = fake.calendar.slots;
  if (!slot) throw new Error('No slot');
  fake.calendar.slots[0] = { ...slot, timeTypes: [special] };
  type Slots = { timeslots: { start: string; end: string; resource_id: string; healthcare_service_id: string }[] };
  const timesFor = async (number: string) => {
    const query = new URLSearchParams({
      start: new Date().toISOString(),
      end: new Date(Date.now() + 6 * 86_400_000).toISOString(),
      healthcare_service_id: special.id,
      patient_id: `se_personal_number:${number}`,
    });
    return gateway.request<Slots>('GET', `${unit}/timeslots?${query}`);
  };
  const [own, others] = [await timesFor(patients.first), await timesFor(patients.second)];
  expect([own.status, own.body.timeslots?.length], own.text).toEqual([200, 1]);
  expect(others.body.timeslots ?? []).toEqual([]);
  const [{ start, end, resource_id } = { start: '', end: '', resource_id: '' }] = own.body.timeslots;
  const booking = {
    ...(await bodyOf()),
    resource_id,
    healthcare_service_id: special.id,
    start_time: start.slice(0, 19),
    end_time: end.slice(0, 19),
  };
  const refused = await book({ ...booking, patient_id: `se_personal_number:${patients.second}` });
  expect(refused.status, refused.text).toBe(400);
  const made = await book(booking);
  expect([made.status, made.body], made.text).toEqual([
    201,
    expect.objectContaining({ status: 'booked', healthcare_service_id: special.id }),
  ]);
});

test('a refusal hands its text to the caller', async () => {
  fake.behaviour.refusal = 'Du har redan en tid här.';
  const { status, body } = await book();
  expect([status, body.reason, body.detail]).toEqual([502, 'ehr_rejected', 'Du har redan en tid här.']);
});

test.each([
  [{ status: 'cancelled' }, 'This booking cannot be cancelled online.'],
  [{ comment: 'Ny text' }, 'This booking cannot be changed online.'],
])("a change that the flags of the booking forbid is the caller's mistake: %o", async (wanted, detail) => {
  const made = await book();
  const [booking] = fake.calendar.bookings.values();
  Object.assign(booking ?? {}, { allowsCancel: false, allowsRebook: false });
  const { status, body, text } = await change(made.body.id, wanted);
  expect([status, body], text).toEqual([
    409,
    expect.objectContaining({ reason: 'change_not_allowed', retryable: false, detail }),
  ]);
  expect(fake.calendar.bookings.size).toBe(1);
});

test('of twenty who book one time at once, one gets it', async () => {
  const body = await bodyOf();
  // All have seen the time free before the first of them books it.
  const several = Promise.withResolvers<void>();
  let arrived = 0;
  fake.before = async (operation) => {
    if (operation !== 'MakeBooking') return;
    arrived += 1;
    if (arrived === 5) several.resolve();
    await several.promise;
  };
  const numbers = [patients.first, patients.second];
  const racers = Array.from({ length: 20 }, (_, index) =>
    book({ ...body, patient_id: `se_personal_number:${numbers[index % 2]}` }),
  );
  const responses = await Promise.all(racers);
  expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
  const others = responses.filter(({ status }) => status !== 201).map(({ status, body: it }) => [status, it.reason]);
  expect(others).toEqual(Array.from({ length: 19 }, () => [400, 'time_slot_unavailable']));
  expect(fake.calendar.bookings.size).toBe(1);
  expect(arrived).toBeGreaterThanOrEqual(5);
});
