import {
  type AppointmentChange,
  type AppointmentCreation,
  type AppointmentWrite,
  ConnectorError,
} from '@crossward/connector-kit';
import { readAppointments } from '../../appointment-reads.ts';
import type { EhrClock } from '../../clock.ts';
import type { BookingConnection } from '../../connection.ts';
import type { CareUnitDirectory } from '../../directory.ts';
import { toAppointment } from '../../mappers/appointment.ts';
import { readGroupId, viewOf } from '../../mappers/group.ts';
import { readPatient } from '../../patients.ts';
import { type Drafted, draftChanges } from './drafts.ts';

export interface ReadChanges extends Drafted {
  readonly directory: CareUnitDirectory;
  /** By the EHR's clock. */
  readonly now: Date;
}

/**
 * Reads the appointments and patients of a write, and applies its changes to them. Every way to book begins with this.
 *
 * @throws ConnectorError for whatever is not there, or is not in a state that allows the change
 */
export async function readChanges(ehr: BookingConnection, write: AppointmentWrite): Promise<ReadChanges> {
  const { clock } = ehr.client;
  const now = clock.now();
  const changes = write.changes.map((change) => byClockOfEhr(change, clock));
  const ids = [...new Set(changes.flatMap((change) => (change.kind === 'create' ? [] : [change.appointmentId])))];
  const [directory, found] = await Promise.all([
    ehr.directory.of(write.careUnit),
    readAppointments(ehr, ids),
    assertPatients(ehr, write),
  ]);
  assertKnown(directory, write);
  const existing = new Map(
    ids.flatMap((id) => {
      const resource = found.find((it) => it.id === readGroupId(id).id);
      const view = resource && viewOf(resource, id);
      const isHere = view !== undefined && toAppointment(view, directory, ehr.dialect, clock) !== null;
      return resource && isHere ? [[id, resource] as const] : [];
    }),
  );
  return { directory, now, ...draftChanges({ ehr, directory, existing, now }, { ...write, changes }) };
}

/** The EHR's clock decides when a hold ends. */
function byClockOfEhr(change: AppointmentChange, clock: EhrClock): AppointmentChange {
  if (change.kind !== 'create' && change.kind !== 'extend') return change;
  return change.holdUntil === null ? change : { ...change, holdUntil: clock.toEhr(change.holdUntil) };
}

function creations({ changes }: AppointmentWrite): readonly AppointmentCreation[] {
  return changes.filter((change) => change.kind === 'create');
}

async function assertPatients(ehr: BookingConnection, write: AppointmentWrite): Promise<void> {
  const ids = new Set(creations(write).map(({ patientId }) => patientId));
  const patients = await Promise.all([...ids].map((id) => readPatient(ehr, id)));
  if (patients.includes(null)) throw new ConnectorError('patient_not_found', 'No such patient');
}

function assertKnown(directory: CareUnitDirectory, { changes }: AppointmentWrite): void {
  for (const change of changes) {
    const resourceId = 'resourceId' in change ? change.resourceId : undefined;
    if (resourceId !== undefined && directory.referenceOf(resourceId) === undefined) {
      throw new ConnectorError('resource_not_found', 'No such resource in this care unit');
    }
    if (change.kind === 'create' && !directory.services.some(({ id }) => id === change.healthcareServiceId)) {
      throw new ConnectorError('healthcare_service_not_found', 'No such healthcare service');
    }
  }
}
