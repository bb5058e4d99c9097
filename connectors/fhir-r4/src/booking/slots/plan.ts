import { type AppointmentWrite, ConnectorError } from '@crossward/connector-kit';
import type { CareUnitDirectory } from '../../directory/directory.ts';
import { type FhirAppointment, type FhirSlot, referenceTo } from '../../fhir.ts';
import { keepsSlots, patientIdOf, slotsOf, withHold } from '../../mappers/appointment.ts';
import { claimOf, slotState } from '../../mappers/slot.ts';
import type { BookingConnection } from '../../server/connection.ts';
import { abandonedSlots } from '../../slots/abandoned-slots.ts';
import { occupiedSlots } from '../../slots/occupied-slots.ts';
import { slotsAt } from '../../slots/search.ts';
import { ownersOf } from '../../slots/slot-owners.ts';
import { slotUsers } from '../../slots/slot-users.ts';
import type { Drafted } from '../changes/drafts.ts';
import { existingIds, readChanges } from '../changes/read.ts';
import type { PlannedAppointment } from '../write/appointment.ts';
import type { PlanOptions } from '../write/attempts.ts';
import { isTimeTaken, LostRace } from '../write/outcomes.ts';
import type { IntendedBookings } from './intended-bookings.ts';
import { type PlaceContext, type Placed, type PlannedSlot, placeDrafts } from './place.ts';
import type { ReadAhead, ReadTogether } from './read-ahead.ts';

/** Every resource that a write changes, before and after it, each once. */
export interface Plan {
  readonly slots: readonly PlannedSlot[];
  readonly appointments: readonly PlannedAppointment[];
  /** For each change of the write, the index of its appointment in `appointments`. */
  readonly order: readonly number[];
  /** Expired holds that lose their slots to this write. */
  readonly swept: readonly { readonly before: FhirAppointment; readonly after: FhirAppointment }[];
}

/** What the gateway's look-ups before the write have read already. */
export interface ReadBefore {
  readonly ahead: Pick<ReadAhead, 'take'>;
  readonly intended: Pick<IntendedBookings, 'take'>;
}

/**
 * Reads the slots and appointments of a write, and decides what to write. Changes nothing in the EHR.
 *
 * @throws OperationInProgress when another call with this operation id has claimed the slots
 */
export async function planWrite(
  ehr: BookingConnection,
  write: AppointmentWrite,
  options: PlanOptions,
  { ahead, intended }: ReadBefore,
): Promise<Plan> {
  const ids = existingIds(write);
  const known = options.isFirstAttempt && ids.length > 0 ? ahead.take(ids) : undefined;
  if (!known) return planFrom(ehr, write, options, { intended });
  try {
    return await planFrom(ehr, write, options, { known, intended });
  } catch (error) {
    // Data that was read earlier must not reject the write, so plan again with current data.
    if (error instanceof ConnectorError) return planFrom(ehr, write, options, { intended });
    throw error;
  }
}

async function planFrom(
  ehr: BookingConnection,
  write: AppointmentWrite,
  { takeOver }: PlanOptions,
  { known, intended }: { readonly known?: ReadTogether } & Pick<ReadBefore, 'intended'>,
): Promise<Plan> {
  const { directory, now, ...drafted } = await readChanges(ehr, write, known?.appointments);
  const slots = await loadSlots(ehr, directory, drafted, known?.slots ?? [], intended);
  const expired = [...slots.values()].filter((slot) => slotState(slot, now) === 'expired');
  const [owners, occupied, users] = await Promise.all([
    ownersOf(ehr, expired),
    occupiedByOthers(ehr, directory, slots, drafted),
    otherUsers(ehr, directory, slots, drafted, expired),
  ]);
  const context = { ehr, directory, slots, owners, occupied, users, abandoned: new Set<string>(), takeOver, now };
  // If the time is taken, the write is planned again with current data anyway.
  const placed = known ? placeDrafts(context, drafted) : await placeWith(context, drafted);
  const changed = new Set(drafted.drafts.flatMap(({ before }) => before?.id ?? []));
  return {
    slots: placed.slots,
    appointments: drafted.drafts,
    order: drafted.order,
    swept: placed.swept
      .filter(({ id }) => !changed.has(id ?? ''))
      .map((before) => ({ before, after: { ...withHold(before, null), status: 'cancelled' } })),
  };
}

/**
 * Only if the time is taken: check whether the current owners still need it.
 *
 * @throws LostRace while another call frees a slot of an appointment that has ended
 */
async function placeWith(context: PlaceContext, drafted: Drafted): Promise<Placed> {
  try {
    return placeDrafts(context, drafted);
  } catch (error) {
    if (!isTimeTaken(error)) throw error;
    const slots = [...context.slots.values()];
    const abandoned = await abandonedSlots(context.ehr, slots);
    if (abandoned.size > 0) return placeDrafts({ ...context, abandoned }, drafted);
    if (!context.takeOver && (await areBeingFreed(context, slots))) throw new LostRace();
    throw error;
  }
}

/** Whether the claim on a slot is of an appointment that has ended, for example of a hold that has just expired. */
async function areBeingFreed({ ehr, now }: PlaceContext, slots: readonly FhirSlot[]): Promise<boolean> {
  const tentative = slots.filter(
    (it) => it.status === 'busy-tentative' && slotState(it, now) === 'taken' && claimOf(it),
  );
  return [...(await ownersOf(ehr, tentative)).values()].some((owner) => !keepsSlots(owner, now));
}

async function occupiedByOthers(
  ehr: BookingConnection,
  directory: CareUnitDirectory,
  slots: ReadonlyMap<string, FhirSlot>,
  { slotOutcomes, neededTimes }: Drafted,
): Promise<ReadonlySet<string>> {
  if (neededTimes.length === 0) return new Set();
  const leaving = leavingIn(slotOutcomes).flatMap(({ id }) => id ?? []);
  return occupiedSlots(ehr, directory, [...slots.values()], new Set(leaving), { strict: true });
}

/** Active appointments that need a slot which the write is to free, or whose claim has expired. Key: the slot. */
async function otherUsers(
  ehr: BookingConnection,
  directory: CareUnitDirectory,
  slots: ReadonlyMap<string, FhirSlot>,
  { slotOutcomes }: Drafted,
  expired: readonly FhirSlot[],
): Promise<ReadonlyMap<string, FhirAppointment>> {
  const leaving = leavingIn(slotOutcomes);
  const left = leaving.flatMap((it) => slotsOf(it).flatMap((reference) => slots.get(reference) ?? []));
  const asked = new Set([...left.filter(({ status }) => status !== 'free'), ...expired]);
  return slotUsers(ehr, directory, [...asked], new Set(leaving.flatMap(({ id }) => id ?? [])));
}

function leavingIn(slotOutcomes: Drafted['slotOutcomes']): FhirAppointment[] {
  return [...slotOutcomes].flatMap(([{ before }, slotOutcome]) => (slotOutcome === 'free' && before ? [before] : []));
}

/** The slots that the appointments have, and all slots at the times that they need, by reference. */
async function loadSlots(
  ehr: BookingConnection,
  directory: CareUnitDirectory,
  { slotOutcomes, neededTimes }: Drafted,
  known: readonly FhirSlot[],
  intended: Pick<IntendedBookings, 'take'>,
): Promise<ReadonlyMap<string, FhirSlot>> {
  const own = [...slotOutcomes.keys()].flatMap(({ before }) => (before ? slotsOf(before) : []));
  const isKnown = new Set(known.map(referenceTo));
  const found = await Promise.all([
    known,
    ehr.client.readMany<FhirSlot>(own.filter((slot) => !isKnown.has(slot))),
    ...neededTimes.map(async (needed) => {
      const patientId = needed.draft.before === null ? patientIdOf(needed.draft.after) : undefined;
      const read = patientId === undefined ? undefined : await intended.take(patientId, needed);
      return read ?? slotsAt(ehr, directory, needed);
    }),
  ]);
  return new Map(found.flat().map((slot) => [referenceTo(slot), slot]));
}

/** One appointment for each change of the write, in order. */
export function inOrderOfChanges({ order }: Plan, appointments: readonly FhirAppointment[]): FhirAppointment[] {
  return order.map((place) => appointments[place] as FhirAppointment);
}
