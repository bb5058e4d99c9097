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
import { appointmentTime, keepsSlots, slotsOf, standingOf, toAppointment, withHold } from '../mappers/appointment.ts';
import { claimedSlot, claimOf, freedSlot, slotState } from '../mappers/slot.ts';
import { creationKey, operationIdentifiers, remember } from '../operation-ids.ts';
import { readPatient } from '../patients.ts';
import { ownerNames, ownersOf } from '../slot-owners.ts';
import { searchSlots } from '../time-slots.ts';
import { ruleOn } from './change-rules.ts';
import { timeTaken, UnderWay } from './lost-race.ts';
import { newAppointment, placedAppointment } from './new-appointment.ts';
import { slotPath } from './slot-path.ts';

export interface PlannedSlot {
  readonly before: FhirSlot;
  readonly after: FhirSlot;
  /** Who takes it, or gives it up. */
  readonly owner: string;
}

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

interface Draft {
  readonly before: FhirAppointment | null;
  after: FhirAppointment;
  readonly key: string;
  /** What it is called on its slots. */
  readonly owner: string;
}

interface Wish {
  readonly draft: Draft;
  readonly resourceId: string;
  readonly serviceId: string;
  readonly start: Date;
  readonly end: Date;
  readonly holdUntil: Date | null;
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
  const { careUnit, operationId } = write;
  const { clock } = ehr.client;
  const changes = write.changes.map((change) => byClockOfEhr(change, clock));
  const now = clock.now();
  const ids = [...new Set(changes.flatMap((change) => (change.kind === 'create' ? [] : [change.appointmentId])))];
  const [directory, existing] = await Promise.all([
    ehr.directory.of(careUnit),
    readAppointments(ehr, ids),
    assertPatients(ehr, write),
  ]);
  assertKnown(directory, write);
  const ours = new Map(
    existing
      .filter((it) => toAppointment(it, directory, ehr.dialect, clock) !== null)
      .map((resource) => [resource.id ?? '', resource]),
  );

  const drafts: Draft[] = [];
  const wishes: Wish[] = [];
  const fates = new Map<Draft, 'free' | 'book' | { readonly holdUntil: Date }>();
  const order = changes.map((change, index) => {
    const identifiers = operationIdentifiers(ehr.dialect.operationSystem, operationId, index, changes.length);
    if (change.kind === 'create') {
      const key = creationKey(operationId, index, changes.length);
      const draft = { before: null, after: newAppointment(change, directory, ehr, identifiers), key, owner: key };
      wishes.push({ draft, ...change, serviceId: change.healthcareServiceId });
      return drafts.push(draft) - 1;
    }
    const before = ours.get(change.appointmentId);
    if (!before) throw new ConnectorError('appointment_not_found', 'No such appointment in this care unit');
    const known = drafts.findIndex((it) => it.before === before);
    const place =
      known === -1 ? drafts.push({ before, after: before, key: operationId, owner: referenceTo(before) }) - 1 : known;
    const draft = drafts[place] as Draft;
    const ruling = ruleOn(draft.after, change, ehr.dialect, now);
    draft.after = ehr.operationLookup ? remember(ruling.after, ehr.dialect.operationSystem, identifiers) : ruling.after;
    if (ruling.slots !== 'stay') fates.set(draft, ruling.slots);
    if (change.kind !== 'update') return place;
    const facts = toAppointment(draft.after, directory, ehr.dialect, clock);
    const time = change.time ?? appointmentTime(draft.after);
    const resourceId = change.resourceId ?? facts?.resourceId;
    if (!facts || !time || resourceId === undefined) return place;
    const stays =
      facts.resourceId === resourceId &&
      facts.start.getTime() === time.start.getTime() &&
      facts.end.getTime() === time.end.getTime();
    if (stays) return place;
    fates.set(draft, 'free');
    const { start, end } = time;
    wishes.push({ draft, resourceId, serviceId: facts.healthcareServiceId, start, end, holdUntil: null });
    return place;
  });

  const slots = await loadSlots(ehr, directory, [...fates.keys()], wishes);
  const finals = new Map<string, PlannedSlot>();
  const plan = (before: FhirSlot, after: FhirSlot, owner: string) =>
    finals.set(referenceTo(before), { before, after, owner });
  const released = new Map<string, Draft>();
  for (const [draft, fate] of fates) {
    for (const slot of slotsOf(draft.before as FhirAppointment).flatMap((it) => slots.get(it) ?? [])) {
      const isOurs = belongsTo(slot, draft.before as FhirAppointment, ehr.dialect.operationSystem);
      const owner = claimOf(slot)?.owner ?? draft.owner;
      if (fate === 'free') {
        if (!isOurs || slot.status === 'free') continue;
        plan(slot, freedSlot(slot), owner);
        released.set(referenceTo(slot), draft);
      } else {
        if (!isOurs && slot.status !== 'free') throw timeTaken();
        const after =
          fate === 'book'
            ? claimedSlot(slot, 'busy', { owner, until: null })
            : claimedSlot(slot, 'busy-tentative', { owner, until: fate.holdUntil });
        plan(slot, after, owner);
      }
    }
  }

  const owners = await ownersOf(
    ehr,
    [...slots.values()].filter((slot) => slotState(slot, now) === 'run_out'),
  );
  const swept = new Map<string, FhirAppointment>();
  const taken = new Set<string>();
  for (const { draft, resourceId, serviceId, start, end, holdUntil } of wishes) {
    const candidates = [...slots.values()].filter((slot) => {
      const reference = referenceTo(slot);
      const offer = directory.offerOf(slot);
      if (taken.has(reference) || offer?.resourceId !== resourceId) return false;
      return serviceId === unknownService || offer.services.some(({ id }) => id === serviceId);
    });
    const isAvailable = (slot: FhirSlot) => {
      const reference = referenceTo(slot);
      if (released.has(reference)) return true;
      const state = slotState(slot, now);
      if (state === 'free') return true;
      const claim = claimOf(slot);
      if (slot.status === 'busy-tentative' && claim?.owner === draft.owner && (draft.before !== null || takeOver)) {
        return true;
      }
      if (state !== 'run_out') return false;
      const owner = owners.get(reference);
      return !owner || !keepsSlots(owner, now) || !slotsOf(owner).includes(reference);
    };
    const isToCome = start.getTime() > Date.now();
    const path = isToCome ? slotPath(candidates.filter(isAvailable), { start, end }) : null;
    if (!path) {
      const isUnderWay = candidates.some((slot) => claimOf(slot)?.owner === draft.owner && slot.status !== 'free');
      if (isUnderWay && draft.before === null && isToCome) throw new UnderWay();
      throw timeTaken();
    }
    for (const slot of path) {
      const reference = referenceTo(slot);
      taken.add(reference);
      plan(
        slot,
        claimedSlot(slot, holdUntil ? 'busy-tentative' : 'busy', { owner: draft.owner, until: holdUntil }),
        draft.owner,
      );
      const owner = owners.get(reference);
      if (owner && standingOf(owner, now).hasRunOut) swept.set(referenceTo(owner), owner);
    }
    draft.after = placedAppointment(draft.after, path, { start, end }, resourceId, directory);
  }

  const changed = new Set(drafts.flatMap(({ before }) => (before ? [referenceTo(before)] : [])));
  return {
    slots: [...finals.values()],
    appointments: drafts,
    order,
    swept: [...swept]
      .filter(([reference]) => !changed.has(reference))
      .map(([, before]) => ({ before, after: { ...withHold(before, null), status: 'cancelled' } })),
  };
}

/** Holds end by the EHR's clock. */
function byClockOfEhr(change: AppointmentChange, clock: EhrClock): AppointmentChange {
  if (change.kind !== 'create' && change.kind !== 'extend') return change;
  return change.holdUntil === null ? change : { ...change, holdUntil: clock.toEhr(change.holdUntil) };
}

/** A slot that names another owner was taken by somebody else meanwhile. */
function belongsTo(slot: FhirSlot, appointment: FhirAppointment, operationSystem: string): boolean {
  if (slot.status !== 'busy' && slot.status !== 'busy-tentative') return false;
  const claim = claimOf(slot);
  return claim === null || ownerNames(appointment, operationSystem).includes(claim.owner);
}

/** The slots that appointments have and those that they want, by reference. */
async function loadSlots(
  ehr: FhirConnection,
  directory: CareUnitDirectory,
  changed: readonly Draft[],
  wishes: readonly Wish[],
): Promise<ReadonlyMap<string, FhirSlot>> {
  const own = changed.flatMap(({ before }) => (before ? slotsOf(before) : []));
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
