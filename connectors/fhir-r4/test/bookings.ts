import { randomUUID } from 'node:crypto';
import type { AppointmentChange, AppointmentCreation, Connector, TimeSlot } from '@crossward/connector-kit';
import { north } from './subject.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;

/** As many slots as the number says, if it is known. */
type Slots<Count extends number, Found extends readonly TimeSlot[] = readonly []> = number extends Count
  ? readonly TimeSlot[]
  : Found['length'] extends Count
    ? Found
    : Slots<Count, readonly [...Found, TimeSlot]>;

/** The first free slots for a consultation from the day after tomorrow on. Throws if there are fewer than `limit`. */
export async function freeSlots<Count extends number>(
  connector: Connector,
  limit: Count,
  resourceId = 'r-1',
  freeing: readonly string[] = [],
): Promise<Slots<Count>> {
  // At midnight, so that the first day has all its slots.
  const start = new Date(Math.ceil(Date.now() / dayMilliseconds + 1) * dayMilliseconds);
  const slots = await connector.listTimeSlots?.({
    careUnit: north,
    start,
    end: new Date(start.getTime() + 14 * dayMilliseconds),
    resourceIds: [resourceId],
    healthcareServiceIds: ['consultation'],
    limit,
    freeing,
  });
  if (slots?.length !== limit) throw new Error('Not enough free slots');
  return slots as unknown as Slots<Count>;
}

/** Books the slot, or holds it until `holdUntil`. */
export function creation(slot: TimeSlot, holdUntil: Date | null = null): AppointmentCreation {
  return { kind: 'create', patientId: 'p-1', comment: 'as written', holdUntil, ...slot };
}

/** Changes appointments in the care unit `north`. A write without an operation id is the first call of its operation. */
export async function write(
  connector: Connector,
  changes: readonly AppointmentChange[],
  operationId?: string,
  isFirst = operationId === undefined,
) {
  const operation = { operationId: operationId ?? randomUUID(), isFirst };
  const appointments = await connector.changeAppointments?.({ ...operation, careUnit: north, changes });
  if (!appointments) throw new Error('The connector cannot change appointments');
  return appointments;
}
