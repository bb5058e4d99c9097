import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  Appointment,
  AppointmentChange,
  Connector,
  DatabaseConnectorModule,
  TimeSlot,
  TimeSlotQuery,
} from '@crossward/connector-kit';
import { sandboxConnector } from '@crossward/connector-sandbox';

interface MemorySettings {
  /** Milliseconds that a search for time slots takes. Absent: none. */
  readonly search_ms?: number;
}

/** An EHR that keeps appointments in memory and responds at once, to measure what the gateway adds. Checks nothing. */
export const memoryConnector: DatabaseConnectorModule<MemorySettings> = {
  name: sandboxConnector.name,
  migrations: sandboxConnector.migrations,
  settingsSchema: { type: 'object', properties: { search_ms: { type: 'integer' } } },
  open: async ({ settings: { search_ms = 0 } }) => openMemoryEhr(search_ms),
};

const kept = 100_000;

function openMemoryEhr(searchMilliseconds: number): Connector {
  const appointments = new Map<string, Appointment>();
  const operations = new Map<string, readonly Appointment[]>();
  return {
    capabilities: {
      patientIdentifierTypes: ['emr_id'],
      resourceIdentifierTypes: ['emr_id'],
      changes: ['create', 'update', 'cancel'],
      transactions: true,
    },
    findPatient: async ({ value }) => ({
      id: value,
      identifiers: [{ type: 'emr_id', value }],
      givenName: null,
      familyName: null,
      birthDate: null,
      gender: null,
      phone: null,
      email: null,
      address: null,
    }),
    findResource: async (_careUnit, { value }) => ({
      id: value,
      identifiers: [{ type: 'emr_id', value }],
      kind: 'practitioner',
      name: value,
      healthcareServiceIds: ['consultation'],
    }),
    listResources: async () => [],
    async listTimeSlots(query) {
      if (searchMilliseconds > 0) await sleep(searchMilliseconds);
      return timeSlots(query);
    },
    listHealthcareServices: async () => [{ id: 'consultation', name: 'Consultation', durationMinutes: 30 }],
    findAppointments: async (_careUnit, ids) => ids.flatMap((id) => appointments.get(id) ?? []),
    findOperation: async (_careUnit, id) => operations.get(id) ?? null,
    async changeAppointments({ operationId, careUnit, changes }) {
      const done = operations.get(operationId) ?? changes.map((change) => changed(appointments, careUnit.id, change));
      if (operations.size >= kept) operations.clear();
      operations.set(operationId, done);
      return done;
    },
  };
}

const halfHour = 30 * 60 * 1000;

/** Every half hour is free. */
function timeSlots({ start, end, after, limit }: TimeSlotQuery): TimeSlot[] {
  const from = Math.max(start.getTime(), after ? after.start.getTime() + 1 : 0);
  const found: TimeSlot[] = [];
  for (let at = Math.ceil(from / halfHour) * halfHour; found.length < limit && at + halfHour <= end.getTime(); ) {
    const slot = { start: new Date(at), end: new Date(at + halfHour) };
    found.push({ ...slot, resourceId: 'r-1', healthcareServiceId: 'consultation' });
    at += halfHour;
  }
  return found;
}

function changed(appointments: Map<string, Appointment>, careUnitId: string, change: AppointmentChange): Appointment {
  if (change.kind !== 'create') throw new Error('Only bookings are measured');
  const { kind: _kind, holdUntil: _holdUntil, ...facts } = change;
  const appointment: Appointment = { ...facts, id: randomUUID(), state: 'booked', heldUntil: null, careUnitId };
  if (appointments.size >= kept) appointments.clear();
  appointments.set(appointment.id, appointment);
  return appointment;
}
