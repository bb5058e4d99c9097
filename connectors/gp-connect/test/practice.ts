import { randomUUID } from 'node:crypto';
import type { Appointment, AppointmentChange, Connector, TimeSlot } from '@crossward/connector-kit';
import { onTestFinished } from 'vitest';
import { type FakeOptions, type FakePractice, startFake } from '../fake/server.ts';
import type { GpConnectSettings } from '../src/settings.ts';
import { careUnits, openConnector, settingsFor } from './subject.ts';

const day = 24 * 60 * 60 * 1000;
export const [main, branch] = careUnits;

export interface Opened {
  readonly practice: FakePractice;
  readonly connector: Required<
    Pick<Connector, 'findPatient' | 'listTimeSlots' | 'findAppointments' | 'listAppointments' | 'changeAppointments'>
  >;
}

/** A practice, and a connector to it. Both last as long as the test. */
export async function openPractice(
  options: FakeOptions = {},
  settings: Partial<GpConnectSettings> = {},
): Promise<Opened> {
  const practice = await startFake({ days: 3, ...options });
  onTestFinished(() => practice.close());
  const connector = await openConnector(settingsFor(practice.url, settings));
  return { practice, connector: connector as Opened['connector'] };
}

/** Slots of Dr One, from now on. */
export async function freeSlots({ connector }: Opened, days = 10): Promise<readonly TimeSlot[]> {
  return connector.listTimeSlots({
    careUnit: main,
    start: new Date(),
    end: new Date(Date.now() + days * day),
    resourceIds: ['1'],
    limit: 1000,
  });
}

export async function freeSlot(opened: Opened): Promise<TimeSlot> {
  const [slot] = await freeSlots(opened);
  if (!slot) throw new Error('The practice has no free slot');
  return slot;
}

export async function change({ connector }: Opened, what: AppointmentChange): Promise<Appointment> {
  const [made] = await connector.changeAppointments({ operationId: randomUUID(), careUnit: main, changes: [what] });
  if (!made) throw new Error('The write returned nothing');
  return made;
}

export function creation(
  { start, end, resourceId, healthcareServiceId }: TimeSlot,
  comment: string | null = null,
  patientId = '1',
): AppointmentChange {
  return { kind: 'create', patientId, resourceId, healthcareServiceId, start, end, comment, holdUntil: null };
}

export async function book(opened: Opened, comment: string | null = null): Promise<Appointment> {
  return change(opened, creation(await freeSlot(opened), comment));
}
