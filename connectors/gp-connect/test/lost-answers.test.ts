import { randomUUID } from 'node:crypto';
import { plainHttp } from '@crossward/connector-kit/conformance';
import { expect, test } from 'vitest';
import type { Fault } from '../fake/server.ts';
import { book, creation, freeSlot, main, openPractice } from './practice.ts';
import { openConnector, settingsFor } from './subject.ts';

test('a booking whose answer comes too late has been made, and shows in the list of the patient', async () => {
  const opened = await openPractice();
  const slot = await freeSlot(opened);
  const http = plainHttp();
  const impatient = await openConnector(settingsFor(opened.practice.url), http);
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  opened.practice.misbehave = ({ method }) => {
    if (method !== 'POST') return undefined;
    arrive();
    return answered;
  };
  const changes = [creation(slot)];
  const booking = impatient.changeAppointments?.({ operationId: randomUUID(), careUnit: main, changes });
  const outcome = expect(booking).rejects.toMatchObject({ kind: 'outcome_unknown' });
  await arrived;
  await expect.poll(() => opened.practice.appointments.all().length).toBe(1);
  http.cut();
  await outcome;
  answer();
  const list = await opened.connector.listAppointments({ careUnit: main, patientId: '1', limit: 10 });
  expect(list).toMatchObject([{ state: 'booked', start: slot.start, resourceId: slot.resourceId }]);
});

test.each<[Fault & string, number]>([
  ['cut_before', 0],
  ['cut_after', 1],
])('a booking that is %s has an unknown outcome, and is not sent again', async (fault, made) => {
  const opened = await openPractice();
  await freeSlot(opened);
  opened.practice.misbehave = ({ method }) => (method === 'POST' ? fault : undefined);
  await expect(book(opened)).rejects.toMatchObject({ kind: 'outcome_unknown' });
  expect(opened.practice.seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
  expect(opened.practice.appointments.all()).toHaveLength(made);
});
