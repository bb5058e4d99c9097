import { readAppointments } from '../appointments/reads.ts';
import type { CareUnitDirectory } from '../directory/directory.ts';
import { type FhirAppointment, type FhirSlot, referenceTo } from '../fhir.ts';
import { slotsOf, standingOf } from '../mappers/appointment.ts';
import { patientIn, readGroupId } from '../mappers/group.ts';
import { slotState, slotTime } from '../mappers/slot.ts';
import { ofPatient } from '../patients/of-patient.ts';
import type { BookingConnection } from '../server/connection.ts';
import { abandonedSlots } from './abandoned-slots.ts';
import type { FreeTime, FreeTimeSource } from './list.ts';
import { occupiedSlots } from './occupied-slots.ts';
import { offerIn, whySeveral } from './offer.ts';
import { searchSlots } from './search.ts';
import { livingOwners, ownersOf } from './slot-owners.ts';
import { slotUsers } from './slot-users.ts';

/** A slot whose claim has expired, and the appointment that still needs it. */
export interface Leftover {
  readonly slot: FhirSlot;
  readonly owner: FhirAppointment | undefined;
}

interface Options {
  /** For a booking mode that claims Slots: cleans up after interrupted writes of the gateway. */
  readonly sweep?: ((leftovers: readonly Leftover[]) => Promise<void>) | undefined;
}

/** Free times that are Slot resources. */
export function slotTimes(connection: BookingConnection, { sweep }: Options = {}): FreeTimeSource {
  const readsBusy = sweep !== undefined || connection.settings.slots?.check_appointments === true;
  return async (directory, schedules, query) => {
    const { patientId, forAppointment } = query;
    const ehr = patientId === undefined ? connection : await ofPatient(connection, patientId);
    const ids = query.freeing ?? [];
    const freed = await slotsOfAppointments(ehr, ids);
    return async (range) => {
      const seen: FhirAppointment[] = [];
      const found = await searchSlots(ehr, directory, schedules, {
        ...range,
        // HAPI 8.8 takes five times as long for several statuses as for any. Slots that are not offered are left out below.
        statuses: freed.size > 0 || readsBusy ? undefined : 'free,busy-tentative',
        services: query.healthcareServiceIds,
        moved: forAppointment === undefined ? undefined : readGroupId(forAppointment).id,
        ...(sweep ? { withAppointments: (appointments) => void seen.push(...appointments) } : {}),
      });
      const slots = found.filter(isOffered);
      const now = ehr.client.clock.now();
      const expired = slots.filter((slot) => slotState(slot, now) === 'expired');
      const claimants = await ownersOf(ehr, expired);
      const owners = await livingOwners(ehr, directory, expired, claimants);
      const leaving = new Set(ids.map((id) => readGroupId(id).id));
      // A server that writes the Slots itself decides whether they become free.
      const left = sweep ? slots.filter((slot) => freed.has(referenceTo(slot)) && slot.status !== 'free') : [];
      const kept = await slotUsers(ehr, directory, left, leaving);
      const abandoned = sweep ? await abandonedSlots(ehr, slots, seen) : new Set<string>();
      const occupied = await occupiedSlots(ehr, directory, slots, leaving, { strict: false });
      if (sweep) await sweep(leftoversIn(slots, { abandoned, claimants, owners, now }));
      return slots
        .filter((slot) => {
          const reference = referenceTo(slot);
          const isOpen = abandoned.has(reference) || canBeBooked(slot, { freed, owners, now });
          return isOpen && !occupied.has(reference) && !kept.has(reference);
        })
        .flatMap((slot) => freeTime(ehr, slot, directory));
    };
  };
}

interface Facts {
  readonly owners: ReadonlyMap<string, FhirAppointment>;
  readonly now: Date;
}

/** The gateway releases an expired hold with its Slots, and may still confirm it, so it needs no clean-up. */
function leftoversIn(
  slots: readonly FhirSlot[],
  {
    abandoned,
    claimants,
    owners,
    now,
  }: Facts & { readonly abandoned: ReadonlySet<string>; readonly claimants: ReadonlyMap<string, FhirAppointment> },
): Leftover[] {
  return slots.flatMap((slot) => {
    const reference = referenceTo(slot);
    if (abandoned.has(reference)) return [{ slot, owner: undefined }];
    const claimant = claimants.get(reference);
    if (slotState(slot, now) !== 'expired' || (claimant && standingOf(claimant, now).hasExpired)) return [];
    return [{ slot, owner: owners.get(reference) }];
  });
}

function freeTime({ leftOut }: BookingConnection, slot: FhirSlot, directory: CareUnitDirectory): FreeTime[] {
  const time = slotTime(slot);
  const all = directory.offerOf(slot);
  const path = all && whySeveral(slot, all);
  if (path) leftOut({ type: 'Slot', id: slot.id, path });
  const offer = offerIn(directory, slot);
  if (!time || !offer) return [];
  return [{ ...time, resourceId: offer.resourceId, serviceIds: offer.services.map(({ id }) => id) }];
}

async function slotsOfAppointments(ehr: BookingConnection, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const found = await readAppointments(ehr, ids);
  // The other patients of a group keep its slots.
  const isShared = (it: FhirAppointment) =>
    ids.some((id) => readGroupId(id).id === it.id && patientIn(it, id)?.hasOthers === true);
  return new Set(found.filter((it) => !isShared(it)).flatMap(slotsOf));
}

/** The slots that can be booked, for a booking mode that writes no Slots. */
export async function freeSlots(
  ehr: BookingConnection,
  directory: CareUnitDirectory,
  slots: readonly FhirSlot[],
  leaving: FhirAppointment | null,
): Promise<FhirSlot[]> {
  const now = ehr.client.clock.now();
  const expired = slots.filter((slot) => slotState(slot, now) === 'expired');
  const freed = new Set(leaving ? slotsOf(leaving) : []);
  const [owners, occupied] = await Promise.all([
    ownersOf(ehr, expired).then((claimants) => livingOwners(ehr, directory, expired, claimants)),
    occupiedSlots(ehr, directory, slots, new Set(leaving?.id ? [leaving.id] : []), { strict: true }),
  ]);
  return slots.filter((slot) => !occupied.has(referenceTo(slot)) && canBeBooked(slot, { freed, owners, now }));
}

/**
 * Whether a slot can be booked: it is free; or its claim has expired and its owner no longer needs it; or it is in `freed`,
 * because its appointment is about to leave it.
 */
function canBeBooked(slot: FhirSlot, { freed, owners, now }: Facts & { readonly freed: ReadonlySet<string> }): boolean {
  const reference = referenceTo(slot);
  if (freed.has(reference)) return isOffered(slot);
  const state = slotState(slot, now);
  return state === 'free' || (state === 'expired' && !owners.has(reference));
}

/** Whether a slot is part of its schedule, free or not (https://hl7.org/fhir/R4/valueset-slotstatus.html). */
function isOffered({ status }: FhirSlot): boolean {
  return status !== 'busy-unavailable' && status !== 'entered-in-error';
}
