import { expect, test } from 'vitest';
import { people, professionals } from '../fake/data.ts';
import { users } from '../fake/server.ts';
import { TrytonException } from '../fake/transaction.ts';
import { gnuHealthConnector } from '../src/connector.ts';
import { addCalendar, bookAsAdmin, creation, freeSlots, isWrite, open, read, rowsIn, write } from './bookings.ts';
import { contextFor, settingsFor } from './subject.ts';

const hour = 3_600_000;

/** Exceptions that have nothing to do with a race, as Tryton's JSON-RPC returns them. */
const refusals = [
  ['UserError', ['You are not allowed to write to records "1" of "Event" of Kari Nordmann', '', null]],
  ['UserWarning', ['appointment_warning_1', 'Kari Nordmann has an appointment on this day', '']],
  ["'NoneType' object has no attribute 'calendar'", 'Traceback (most recent call last): …'],
  ['Nordmann', ''],
] as const;

test.each(refusals)('a write that is refused for good is sent once, and told as refused (%s)', async (...answer) => {
  const { fake, connector } = await open();
  const [from, to] = await freeSlots(connector, 2);
  const { id } = await write(connector, creation(from));
  fake.seen.length = 0;
  fake.misbehave = (call) => (isWrite(call) ? { exception: new TrytonException(...answer) } : undefined);
  for (const change of [
    creation(to),
    { kind: 'update', appointmentId: id, ...(to ? { time: to } : {}) },
    { kind: 'update', appointmentId: id, comment: 'x' },
    { kind: 'cancel', appointmentId: id },
  ] as const) {
    const error = await write(connector, change).catch((it: unknown) => it);
    expect(error).toMatchObject({ kind: 'rejected' });
    expect(String(error)).not.toMatch(/Nordmann|calendar/);
    const [name] = answer;
    if (name === 'UserError' || name === 'UserWarning') expect(String(error)).toContain(name);
  }
  expect(fake.seen.filter(isWrite)).toHaveLength(4);
  expect(await read(connector, id)).toMatchObject({ state: 'booked', start: from?.start });
});

test.each(['could not serialize access due to concurrent update\n', 'deadlock detected\nDETAIL: …'])(
  'a write that the database gave up is sent again (%s)',
  async (message) => {
    const { fake, connector } = await open();
    const [slot] = await freeSlots(connector, 1);
    let isOver = false;
    fake.misbehave = (call) => {
      if (isOver || !isWrite(call)) return undefined;
      isOver = true;
      return { exception: new TrytonException(message, '') };
    };
    expect(await write(connector, creation(slot))).toMatchObject({ state: 'booked' });
  },
);

test('a time that staff delete in between is a lost race, although Tryton calls it a UserError', async () => {
  const { fake, connector } = await open();
  const [slot] = await freeSlots(connector, 1);
  fake.misbehave = (call) => {
    const [row] = isWrite(call) && slot ? rowsIn(fake, 'free', slot) : [];
    if (row) fake.as('desk', (it) => it.delete('gnuhealth.appointment', [row.id]));
    return undefined;
  };
  await expect(write(connector, creation(slot))).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
});

test('an appointment in a calendar that the user may not change is not moved, and is told once', async () => {
  const { fake, connector } = await open();
  const calendar = addCalendar(fake);
  const [to] = await freeSlots(connector, 1);
  const id = String(bookAsAdmin(fake, new Date((to?.start.getTime() ?? 0) - hour)));
  const move = () => write(connector, { kind: 'update', appointmentId: id, ...(to ? { time: to } : {}) });
  fake.seen.length = 0;
  await expect(move()).rejects.toMatchObject({ kind: 'rejected', message: expect.stringContaining('UserError') });
  expect(fake.seen.filter(isWrite)).toHaveLength(1);
  expect(to && rowsIn(fake, 'free', to)).toHaveLength(1);
  fake.as('desk', (it) => it.write('calendar.calendar', [calendar], { write_users: [users.crossward] }));
  expect(await move()).toMatchObject({ id, start: to?.start, patientId: String(people.ola) });
});

test('a move to a professional without a user is refused by a mistake of GNU Health, and is told once', async () => {
  const { fake, connector } = await open();
  addCalendar(fake);
  fake.tables.calendarAdmins.add(users.crossward ?? 0);
  const [to] = await freeSlots(connector, 1);
  const id = String(bookAsAdmin(fake, new Date((to?.start.getTime() ?? 0) - hour)));
  fake.seen.length = 0;
  await expect(
    write(connector, {
      kind: 'update',
      appointmentId: id,
      ...(to ? { time: to } : {}),
      resourceId: String(professionals.bo),
    }),
  ).rejects.toMatchObject({ kind: 'rejected' });
  expect(fake.seen.filter(isWrite)).toHaveLength(1);
});

test('the probe finds calendars that the user may not change', async () => {
  const { fake } = await open();
  const calendars = async () => {
    const report = await gnuHealthConnector.probe?.(contextFor(settingsFor(fake.url)));
    return report?.findings.find(({ name }) => name === 'calendars');
  };
  expect(await calendars()).toMatchObject({ status: 'ok' });
  const calendar = addCalendar(fake);
  const set = (values: object) => fake.as('desk', (it) => it.write('calendar.calendar', [calendar], { ...values }));
  expect(await calendars()).toMatchObject({ status: 'problem', detail: expect.stringContaining('of 1 health') });
  set({ read_users: [users.crossward] });
  expect(await calendars()).toMatchObject({ status: 'problem' });
  set({ write_users: [users.crossward] });
  expect(await calendars()).toMatchObject({ status: 'ok' });
  set({ read_users: [], write_users: [] });
  fake.tables.calendarAdmins.add(users.crossward ?? 0);
  expect(await calendars()).toMatchObject({ status: 'ok' });
});

test('the login names the exception with which the server refuses it', async () => {
  const { fake, connector } = await open();
  fake.misbehave = () => ({ exception: new TrytonException('LoginException', ['sms', 'Code for Kari', 'char']) });
  await expect(connector.findPatient?.({ type: 'emr_id', value: '1' })).rejects.toMatchObject({
    kind: 'rejected',
    message: 'The EHR responded to the login with LoginException',
  });
});
