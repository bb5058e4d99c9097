import { randomUUID } from 'node:crypto';
import type { Appointment, AppointmentChange, Connector } from '@crossward/connector-kit';
import { sandboxConnector } from '@crossward/connector-sandbox';

/** An EHR that keeps appointments in memory and responds at once, to measure what the gateway adds. Checks nothing. */
export const memoryConnector = { ...sandboxConnector, open: async () => openMemoryEhr() };

const kept = 100_000;

function openMemoryEhr(): Connector {
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

function changed(appointments: Map<string, Appointment>, careUnitId: string, change: AppointmentChange): Appointment {
  if (change.kind !== 'create') throw new Error('Only bookings are measured');
  const { kind: _kind, holdUntil: _holdUntil, ...facts } = change;
  const appointment: Appointment = { ...facts, id: randomUUID(), state: 'booked', heldUntil: null, careUnitId };
  if (appointments.size >= kept) appointments.clear();
  appointments.set(appointment.id, appointment);
  return appointment;
}
