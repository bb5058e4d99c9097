import { type AppointmentChange, type AppointmentWrite, ConnectorError } from '@crossward/connector-kit';
import { readAppointments, toAppointments } from '../../appointments/reads.ts';
import type { CareUnitDirectory } from '../../directory/directory.ts';
import type { FhirAppointment } from '../../fhir.ts';
import { readGroupId } from '../../mappers/group.ts';
import { bookablePatientId } from '../../patients/patients.ts';
import type { EhrClock } from '../../server/clock.ts';
import type { BookingConnection } from '../../server/connection.ts';
import { type Drafted, draftChanges } from './drafts.ts';

export interface ReadChanges extends Drafted {
  readonly directory: CareUnitDirectory;
  /** By the EHR's clock. */
  readonly now: Date;
}

/**
 * Reads the appointments and patients of a write, and applies its changes to them. Every booking mode starts with this.
 *
 * @param known appointments that were already read
 * @throws ConnectorError if one does not exist, or its state does not allow the change
 */
export async function readChanges(
  ehr: BookingConnection,
  write: AppointmentWrite,
  known?: readonly FhirAppointment[],
): Promise<ReadChanges> {
  const { clock } = ehr.client;
  const now = clock.now();
  const ids = existingIds(write);
  const [directory, found, patients] = await Promise.all([
    ehr.directory.of(write.careUnit),
    known ?? readAppointments(ehr, ids),
    bookablePatients(ehr, write),
  ]);
  const changes = write.changes.map((change) => withPatient(byClockOfEhr(change, clock), patients));
  assertKnown(directory, write);
  const shown = await toAppointments(ehr, directory, found, ids);
  const existing = new Map(
    shown.flatMap((facts) => {
      const resource = found.find((it) => it.id === readGroupId(facts.id).id);
      return resource ? [[facts.id, { resource, facts }] as const] : [];
    }),
  );
  return { directory, now, ...draftChanges({ ehr, directory, existing, now }, { ...write, changes }) };
}

/** The EHR's clock decides when a hold ends. */
function byClockOfEhr(change: AppointmentChange, clock: EhrClock): AppointmentChange {
  if (change.kind !== 'create' && change.kind !== 'extend') return change;
  return change.holdUntil === null ? change : { ...change, holdUntil: clock.toEhr(change.holdUntil) };
}

/** The ids of the appointments that a write changes, each once. */
export function existingIds({ changes }: Pick<AppointmentWrite, 'changes'>): readonly string[] {
  return [...new Set(changes.flatMap((change) => (change.kind === 'create' ? [] : [change.appointmentId])))];
}

/** The ids under which the patients of new appointments can be booked, by the ids that the write names. */
async function bookablePatients(
  ehr: BookingConnection,
  { changes }: AppointmentWrite,
): Promise<ReadonlyMap<string, string>> {
  const ids = new Set(changes.flatMap((change) => (change.kind === 'create' ? [change.patientId] : [])));
  return new Map(await Promise.all([...ids].map(async (id) => [id, await bookablePatientId(ehr, id)] as const)));
}

function withPatient(change: AppointmentChange, patients: ReadonlyMap<string, string>): AppointmentChange {
  if (change.kind !== 'create') return change;
  return { ...change, patientId: patients.get(change.patientId) ?? change.patientId };
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
