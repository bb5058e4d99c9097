import {
  type AppointmentChange,
  type AppointmentCreation,
  type AppointmentWrite,
  ConnectorError,
} from '@crossward/connector-kit';
import { readAppointments } from '../appointment-reads.ts';
import type { EhrClock } from '../clock.ts';
import type { FhirConnection } from '../connection.ts';
import { type CareUnitDirectory, unknownService } from '../directory.ts';
import { type FhirAppointment, type FhirSlot, referenceTo } from '../fhir.ts';
import { slotsOf, toAppointment, withHold } from '../mappers/appointment.ts';
import { slotState } from '../mappers/slot.ts';
import { readPatient } from '../patients.ts';
import { ownersOf } from '../slot-owners.ts';
import { searchSlots } from '../time-slots.ts';
import { type Drafted, draftChanges } from './drafts.ts';
import { type PlannedSlot, placeDrafts } from './place.ts';

export interface PlannedAppointment {
  /** `null`: it is to be created. */
  readonly before: FhirAppointment | null;
  readonly after: FhirAppointment;
  /** The operation identifier that says that a creation was done. */
  readonly key: string;
}

/** Every resource that a write changes, as it is and as it shall be, each once. */
export interface Plan {
  readonly slots: readonly PlannedSlot[];
  readonly appointments: readonly PlannedAppointment[];
  /** For each change of the write, the place of its appointment in `appointments`. */
  readonly order: readonly number[];
  /** Holds that have run out and lose their slots to this write. */
  readonly swept: readonly { readonly before: FhirAppointment; readonly after: FhirAppointment }[];
}

export interface PlanOptions {
  /** Whether slots claimed by another call with this operation id may be taken over: it has had its time. */
  readonly takeOver?: boolean;
}

/**
 * Reads what a write touches and decides what becomes of it, without changing anything.
 *
 * @throws UnderWay when another call with this operation id has claimed the slots
 */
export async function planWrite(
  ehr: FhirConnection,
  write: AppointmentWrite,
  { takeOver = false }: PlanOptions = {},
): Promise<Plan> {
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
  const ofCareUnit = found.filter((it) => toAppointment(it, directory, ehr.dialect, clock) !== null);
  const existing = new Map(ofCareUnit.map((resource) => [resource.id ?? '', resource]));
  const drafted = draftChanges({ ehr, directory, existing, now }, { ...write, changes });

  const slots = await loadSlots(ehr, directory, drafted);
  const runOut = [...slots.values()].filter((slot) => slotState(slot, now) === 'run_out');
  const owners = await ownersOf(ehr, runOut);
  const placed = placeDrafts({ ehr, directory, slots, owners, takeOver, now }, drafted);

  return {
    slots: placed.slots,
    appointments: drafted.drafts,
    order: drafted.order,
    swept: placed.swept
      .filter((it) => !ids.includes(it.id ?? ''))
      .map((before) => ({ before, after: { ...withHold(before, null), status: 'cancelled' } })),
  };
}

/** Holds end by the EHR's clock. */
function byClockOfEhr(change: AppointmentChange, clock: EhrClock): AppointmentChange {
  if (change.kind !== 'create' && change.kind !== 'extend') return change;
  return change.holdUntil === null ? change : { ...change, holdUntil: clock.toEhr(change.holdUntil) };
}

/** The slots that appointments have and those that they want, by reference. */
async function loadSlots(
  ehr: FhirConnection,
  directory: CareUnitDirectory,
  { fates, wishes }: Drafted,
): Promise<ReadonlyMap<string, FhirSlot>> {
  const own = [...fates.keys()].flatMap(({ before }) => (before ? slotsOf(before) : []));
  const found = await Promise.all([
    ehr.client.readMany<FhirSlot>(own),
    ...wishes.map(({ draft, resourceId, serviceId, start, end }) =>
      searchSlots(ehr, directory, directory.schedulesOf([resourceId]), {
        start,
        before: end,
        statuses: undefined,
        services: serviceId === unknownService ? undefined : [serviceId],
        freeing: draft.before?.id === undefined ? [] : [draft.before.id],
      }),
    ),
  ]);
  return new Map(found.flat().map((slot) => [referenceTo(slot), slot]));
}

function creations({ changes }: AppointmentWrite): readonly AppointmentCreation[] {
  return changes.filter((change) => change.kind === 'create');
}

async function assertPatients(ehr: FhirConnection, write: AppointmentWrite): Promise<void> {
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

/** Whether nobody has written a slot or appointment of the plan since it was read. */
export async function isStillCurrent({ client }: FhirConnection, plan: Plan): Promise<boolean> {
  const before = [...plan.slots.map((it) => it.before), ...plan.appointments.flatMap((it) => it.before ?? [])];
  const now = await client.readMany(before.map(referenceTo));
  const versions = new Map(now.map((resource) => [referenceTo(resource), resource.meta?.versionId]));
  return before.every((resource) => versions.get(referenceTo(resource)) === resource.meta?.versionId);
}
