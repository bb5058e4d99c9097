import { randomUUID } from 'node:crypto';
import type { Appointment, AppointmentChange, Connector, EhrHttp, TimeSlot } from '@crossward/connector-kit';
import { onTestFinished } from 'vitest';
import { institutions, people, professionals, specialities } from '../fake/data.ts';
import { type FakeServer, type SeenCall, startFake, users } from '../fake/server.ts';
import type { GnuHealthSettings } from '../src/settings.ts';
import { ordinaryStarts } from './starts.ts';
import { north, openConnector, settingsFor } from './subject.ts';

interface Opened {
  readonly fake: FakeServer;
  readonly connector: Connector;
}

/** A connector before a fake that closes itself at the end of the test. */
export async function open(
  settings: Partial<GnuHealthSettings> = {},
  { http, now, days = 1 }: { readonly http?: EhrHttp; readonly now?: () => Date; readonly days?: number } = {},
): Promise<Opened> {
  const fake = await startFake({ starts: ordinaryStarts(days) });
  onTestFinished(() => fake.close());
  return { fake, connector: await openConnector(settingsFor(fake.url, settings), http, now) };
}

export async function freeSlots(connector: Connector, count: number): Promise<TimeSlot[]> {
  const start = new Date();
  const end = new Date(start.getTime() + 30 * 24 * 60 * 60 * 1000);
  const found =
    (await connector.listTimeSlots?.({ careUnit: north, start, end, resourceIds: ['1'], limit: count })) ?? [];
  if (found.length < count) throw new Error(`The fake has ${found.length} free slots`);
  return [...found];
}

export function creation(slot: TimeSlot | undefined, patientId: number = people.kari): AppointmentChange {
  if (!slot) throw new Error('No slot');
  const { resourceId, healthcareServiceId, start, end } = slot;
  return {
    kind: 'create',
    patientId: String(patientId),
    resourceId,
    healthcareServiceId,
    start,
    end,
    comment: null,
    holdUntil: null,
  };
}

/** Makes one change. */
export async function write(connector: Connector, change: AppointmentChange): Promise<Appointment> {
  const [made] =
    (await connector.changeAppointments?.({ operationId: randomUUID(), careUnit: north, changes: [change] })) ?? [];
  if (!made) throw new Error('A write returned nothing');
  return made;
}

export async function read(connector: Connector, id: string): Promise<Appointment | undefined> {
  return (await connector.findAppointments?.(north, [id]))?.[0];
}

/** A write of appointments, directly or through the patient. */
export function isWrite({ method }: SeenCall): boolean {
  return /\.(write|create|delete)$/.test(method);
}

/** The rows in this state that overlap the time, of one professional. */
export function rowsIn(fake: FakeServer, state: string, { start, resourceId }: TimeSlot) {
  return [...fake.tables.of('gnuhealth.appointment').values()].filter(
    (row) =>
      row.state === state && row.healthprof === Number(resourceId) && row.appointment_date === start.getTime() * 1000,
  );
}

/** Gives the health professional Ada a calendar, which the gateway may not change. */
export function addCalendar(fake: FakeServer): number {
  return fake.as('desk', (it) => {
    const [user = 0] = it.create('res.user', [{ calendar: null }]);
    const [calendar = 0] = it.create('calendar.calendar', [{ owner: user, read_users: [], write_users: [] }]);
    it.write('res.user', [user], { calendar });
    const party = Number(fake.tables.of('gnuhealth.healthprofessional').get(professionals.ada)?.party);
    it.write('party.party', [party], { internal_user: user });
    return calendar;
  });
}

/** Makes an appointment as somebody who may change the calendars. */
export function bookAsAdmin(fake: FakeServer, start: Date, patient: number = people.ola): number {
  fake.tables.calendarAdmins.add(users.desk ?? 0);
  const [id = 0] = fake.as('desk', (it) =>
    it.create('gnuhealth.appointment', [
      {
        state: 'confirmed',
        patient,
        healthprof: professionals.ada,
        institution: institutions.north,
        speciality: specialities.family,
        appointment_date: start.getTime() * 1000,
        appointment_date_end: (start.getTime() + 30 * 60_000) * 1000,
        comments: null,
      },
    ]),
  );
  return id;
}
