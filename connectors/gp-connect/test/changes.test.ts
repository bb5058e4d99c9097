import { expect, test } from 'vitest';
import type { SeenRequest } from '../fake/server.ts';
import { book, change, creation, freeSlot, freeSlots, main, openPractice } from './practice.ts';

const puts = ({ method }: SeenRequest) => method === 'PUT';

test('a booking has what GP Connect demands, and repeats the times of the slots', async () => {
  const opened = await openPractice(
    {},
    { organization: { ods_code: 'A11111', name: 'Hub', phone: '1', type: 'urgent-care' } },
  );
  const [first, second] = await freeSlots(opened);
  if (!first || !second) throw new Error('No slots');
  await change(opened, creation({ ...first, end: second.end }, 'Brings a dog'));
  const [{ content } = { content: {} }] = opened.practice.appointments.all();
  expect(content).toMatchObject({
    status: 'booked',
    description: 'GP appointment',
    comment: 'Brings a dog',
    created: expect.stringMatching(/T\d\d:\d\d:\d\d\+0[01]:00$/),
    slot: [{ reference: expect.stringMatching(/^Slot\//) }, { reference: expect.stringMatching(/^Slot\//) }],
    contained: [{ type: [{ coding: [{ code: 'urgent-care' }] }] }],
    participant: [
      { actor: { reference: 'Patient/1' } },
      { actor: { reference: 'Location/1' } },
      { actor: { reference: 'Practitioner/1' } },
    ],
  });
  const search = opened.practice.seen.find(({ path }) => path.startsWith('/Slot'));
  const filters = new URL(search?.path ?? '', opened.practice.url).searchParams.getAll('searchFilter');
  expect(filters).toEqual([
    'https://fhir.nhs.uk/Id/ods-organization-code|A11111',
    'https://fhir.nhs.uk/STU3/CodeSystem/GPConnect-OrganisationType-1|urgent-care',
  ]);
});

test('a comment of 500 characters fits, and a longer one is not sent', async () => {
  const opened = await openPractice();
  const made = await book(opened, 'x'.repeat(500));
  const seen = opened.practice.seen.length;
  const tooLong = { kind: 'rejected', publicDetail: expect.stringMatching(/500 characters/) };
  const slot = await freeSlot(opened);
  await expect(change(opened, creation(slot, 'x'.repeat(501)))).rejects.toMatchObject(tooLong);
  const amended = change(opened, { kind: 'update', appointmentId: made.id, comment: 'x'.repeat(501) });
  await expect(amended).rejects.toMatchObject(tooLong);
  expect(opened.practice.seen.slice(seen).filter(({ method }) => method !== 'GET')).toEqual([]);
});

test('the reason of a cancellation is the comment, or the one of the settings', async () => {
  const opened = await openPractice({}, { cancel_reason: 'By phone' });
  const [first, second] = [await book(opened, 'kept'), await book(opened, 'kept')];
  const told = await change(opened, { kind: 'cancel', appointmentId: first.id, comment: 'Is well again' });
  const untold = await change(opened, { kind: 'cancel', appointmentId: second.id });
  expect([told.comment, untold.comment]).toEqual(['Is well again', 'kept']);
  const reasons = opened.practice.appointments.all().map(({ content }) => JSON.stringify(content.extension));
  expect(reasons).toEqual([expect.stringContaining('"Is well again"'), expect.stringContaining('"By phone"')]);
});

test('an appointment that staff change between read and write is read again', async () => {
  let second = 0;
  const opened = await openPractice({ now: () => Date.now() + 1000 * second });
  const { id: appointmentId } = await book(opened, 'first');
  let puttings = 0;
  opened.practice.misbehave = (request) => {
    if (!puts(request) || ++puttings > 3) return undefined;
    second++;
    opened.practice.appointments.edit(appointmentId, { comment: `by staff ${puttings}` });
    return undefined;
  };
  const cancelled = await change(opened, { kind: 'cancel', appointmentId });
  expect([cancelled.state, cancelled.comment, puttings]).toEqual(['cancelled', 'by staff 3', 4]);
});

test('a change within the second of the version is noticed by its content', async () => {
  const now = Math.floor(Date.now() / 1000) * 1000;
  const opened = await openPractice({ now: () => now });
  const { id: appointmentId } = await book(opened, 'first');
  let puttings = 0;
  opened.practice.misbehave = (request) => {
    if (puts(request) && ++puttings === 1) opened.practice.appointments.edit(appointmentId, { comment: 'by staff' });
    return undefined;
  };
  const cancelled = await change(opened, { kind: 'cancel', appointmentId });
  expect([cancelled.state, cancelled.comment, puttings]).toEqual(['cancelled', 'by staff', 2]);
});

test('an appointment that staff cancel meanwhile is not amended', async () => {
  const opened = await openPractice();
  const { id: appointmentId } = await book(opened, 'first');
  let puttings = 0;
  opened.practice.misbehave = (request) => {
    if (puts(request) && ++puttings === 1) opened.practice.appointments.edit(appointmentId, { status: 'cancelled' });
    return undefined;
  };
  const amended = change(opened, { kind: 'update', appointmentId, comment: 'second' });
  await expect(amended).rejects.toMatchObject({ kind: 'appointment_cancelled' });
});

test('somebody who never stops changing an appointment does not hold up the gateway', async () => {
  let second = 0;
  const opened = await openPractice({ now: () => Date.now() + 1000 * second });
  const { id: appointmentId } = await book(opened);
  opened.practice.misbehave = (request) => {
    if (puts(request)) opened.practice.appointments.edit(appointmentId, { comment: `by staff ${++second}` });
    return undefined;
  };
  const cancelled = change(opened, { kind: 'cancel', appointmentId });
  await expect(cancelled).rejects.toMatchObject({ kind: 'unavailable', retryAfterSeconds: 1 });
  expect(opened.practice.appointments.read(appointmentId).content.status).toBe('booked');
});

test('an appointment that is gone when it is changed was not found', async () => {
  const opened = await openPractice();
  const { id: appointmentId } = await book(opened);
  const [stored] = opened.practice.appointments.all();
  let isGone = false;
  opened.practice.misbehave = (request) => {
    isGone ||= puts(request);
    return isGone && request.path.includes(`/Appointment/${stored?.id}`) ? gone(request) : undefined;
  };
  const cancelled = change(opened, { kind: 'cancel', appointmentId });
  await expect(cancelled).rejects.toMatchObject({ kind: 'appointment_not_found' });
});

test('a cancelled appointment is not cancelled again', async () => {
  const opened = await openPractice();
  const { id: appointmentId } = await book(opened);
  await change(opened, { kind: 'cancel', appointmentId });
  await change(opened, { kind: 'cancel', appointmentId });
  expect(opened.practice.seen.filter(puts)).toHaveLength(1);
});

test('an appointment whose time has come is neither amended nor cancelled', async () => {
  const opened = await openPractice();
  const { id: appointmentId } = await book(opened);
  const [stored] = opened.practice.appointments.all();
  if (!stored) throw new Error('Nothing was booked');
  Object.assign(stored.content, { start: '2026-01-05T09:00:00+00:00', end: '2026-01-05T09:15:00+00:00' });
  for (const what of [
    { kind: 'cancel', appointmentId },
    { kind: 'update', appointmentId, comment: 'late' },
  ] as const) {
    await expect(change(opened, what)).rejects.toMatchObject({ kind: 'appointment_started' });
  }
  const [found] = await opened.connector.findAppointments(main, [appointmentId]);
  expect(found).toMatchObject({ hasStarted: true, state: 'booked' });
});

/** What the demonstrator says: it reports no failure by the status of a PUT. */
function gone({ method }: SeenRequest) {
  const issue = [{ severity: 'error', diagnostics: 'No appointment details found' }];
  const coding = [{ code: 'REFERENCE_NOT_FOUND' }];
  const body = { resourceType: 'OperationOutcome', issue };
  return method === 'PUT'
    ? { status: 200, body: JSON.stringify(body) }
    : { status: 404, body: JSON.stringify({ ...body, issue: [{ severity: 'error', details: { coding } }] }) };
}
