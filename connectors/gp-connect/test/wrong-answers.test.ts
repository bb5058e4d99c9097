import { expect, test } from 'vitest';
import { patientResource, patients } from '../fake/data-set.ts';
import type { SeenRequest } from '../fake/server.ts';
import { book, change, creation, freeSlot, main, openPractice } from './practice.ts';

const bundle = (...resources: readonly object[]) => ({
  status: 200,
  body: JSON.stringify({ resourceType: 'Bundle', entry: resources.map((resource) => ({ resource })) }),
});
const [meadow, brook] = patients.map(patientResource);
const byNumber = { type: 'nhs_number', value: '9990000018' } as const;

test.each([
  ['another patient', () => bundle(brook ?? {})],
  ['two patients', () => bundle(meadow ?? {}, meadow ?? {})],
  ['a patient without an id', () => bundle({ ...meadow, id: undefined })],
  ['another type of resource', () => ({ status: 200, body: JSON.stringify(meadow) })],
  ['no resource', () => ({ status: 200, body: '{}' })],
  ['JSON that is cut off', () => ({ status: 200, body: '{"resourceType":' })],
  [
    'the first of several pages',
    () => ({ status: 200, body: '{"resourceType":"Bundle","link":[{"relation":"next"}]}' }),
  ],
])('a search for a patient that is answered with %s is rejected', async (_, answer) => {
  const { practice, connector } = await openPractice();
  practice.misbehave = answer;
  await expect(connector.findPatient(byNumber)).rejects.toMatchObject({ kind: 'rejected' });
});

test('an empty Bundle is no patient, and no slot', async () => {
  const { practice, connector } = await openPractice();
  practice.misbehave = () => bundle();
  expect(await connector.findPatient(byNumber)).toBeNull();
  const range = { start: new Date(), end: new Date(Date.now() + 86_400_000) };
  expect(await connector.listTimeSlots({ careUnit: main, ...range, limit: 5 })).toEqual([]);
});

test('an appointment that is read is the one that was asked for', async () => {
  const opened = await openPractice();
  const [first, second] = [await book(opened), await book(opened)];
  const other = opened.practice.appointments.read(second.id);
  opened.practice.misbehave = () => ({
    status: 200,
    body: JSON.stringify({ resourceType: 'Appointment', id: second.id, ...other.content }),
  });
  await expect(opened.connector.findAppointments(main, [first.id])).rejects.toMatchObject({ kind: 'rejected' });
});

test('a booking or cancellation that is answered with another appointment may have been made', async () => {
  const opened = await openPractice();
  const [first, second] = [await book(opened), await book(opened)];
  const slot = await freeSlot(opened);
  const other = opened.practice.appointments.read(second.id);
  const answer = {
    status: 200,
    body: JSON.stringify({ resourceType: 'Appointment', id: second.id, ...other.content }),
  };
  opened.practice.misbehave = ({ method }: SeenRequest) => (method === 'GET' ? undefined : answer);
  const unknown = { kind: 'outcome_unknown' };
  await expect(change(opened, creation(slot))).rejects.toMatchObject(unknown);
  await expect(change(opened, { kind: 'cancel', appointmentId: first.id })).rejects.toMatchObject(unknown);
});

test('an appointment without a version is not changed', async () => {
  const opened = await openPractice();
  const { id } = await book(opened);
  const { content } = opened.practice.appointments.read(id);
  opened.practice.misbehave = ({ method }: SeenRequest) =>
    method === 'GET'
      ? { status: 200, body: JSON.stringify({ resourceType: 'Appointment', id, ...content }) }
      : undefined;
  await expect(change(opened, { kind: 'cancel', appointmentId: id })).rejects.toMatchObject({ kind: 'rejected' });
});

test('appointments that the practice has booked for other things are shown', async () => {
  const opened = await openPractice();
  const { id } = await book(opened);
  const { content } = opened.practice.appointments.read(id);
  Object.assign(content, { serviceType: [{ text: 'Something else' }] });
  const list = await opened.connector.listAppointments({ careUnit: main, patientId: '1', limit: 10 });
  expect(list).toMatchObject([{ id, healthcareServiceId: null }]);
});
