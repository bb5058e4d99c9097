import type { FhirAppointment, FhirResource, FhirSlot, Reference } from '../src/fhir.ts';
import { Rejected, type Store, type Stored } from './store.ts';

/** A create that the EHR checks: its slots must be free, and exactly one patient must have accepted. */
export function checkedCreate(
  store: Store,
  wanted: FhirAppointment,
  { oneSlot = false, bookedStatus }: { readonly oneSlot?: boolean; readonly bookedStatus?: string | undefined } = {},
): Stored {
  const patients = (wanted.participant ?? []).filter(({ actor }) => actor?.reference?.startsWith('Patient/'));
  const slots = wanted.slot?.length ?? 0;
  const isAccepted = patients.length === 1 && patients[0]?.status === 'accepted';
  if (slots === 0 || (oneSlot && slots > 1) || !isAccepted) throw new Rejected(422, 'business-rule');
  return bookSlots(store, wanted, bookedStatus);
}

/** An update that the EHR checks: it takes added slots and frees removed ones. A cancellation frees all slots. */
export function checkedUpdate(
  store: Store,
  reference: string,
  wanted: FhirAppointment,
  ifMatch: string | undefined,
): Stored {
  const before = store.get(reference) as unknown as FhirAppointment;
  const saved = store.update(reference, wanted, ifMatch);
  const previous = (before.slot ?? []).map((it) => it.reference ?? '');
  const wantedSlots = wanted.status === 'cancelled' ? [] : (wanted.slot ?? []).map((it) => it.reference ?? '');
  for (const slot of wantedSlots.filter((it) => !previous.includes(it))) take(store, slot);
  if (before.status === 'cancelled') return saved;
  for (const slot of previous.filter((it) => !wantedSlots.includes(it) && store.has(it))) {
    store.save({ ...store.get(slot), status: 'free' } as FhirResource);
  }
  return saved;
}

/** Marks the slots as busy and stores the booked appointment. */
export function bookSlots(store: Store, wanted: FhirAppointment, status = 'booked'): Stored {
  const slots = (wanted.slot ?? []).map(({ reference }) => store.get(reference ?? ''));
  for (const slot of slots) take(store, `Slot/${slot.id}`);
  const { id: _, ...rest } = wanted;
  const others = (wanted.participant ?? []).filter(({ actor }) => isKept(actor));
  const [first] = slots;
  if (!first) throw new Rejected(422, 'business-rule');
  const schedule = store.get((first.schedule as Reference).reference ?? '');
  return store.save({
    ...rest,
    serviceType: wanted.serviceType ?? schedule.serviceType,
    status,
    start: first.start,
    end: slots.at(-1)?.end,
    participant: [...others, ...actorsOf(store, first)],
  } as FhirResource);
}

/** Whether a participant stays when the EHR takes the others from the Slot. */
export function isKept(actor: Reference | undefined): boolean {
  return /^(Patient|HealthcareService)\//.test(actor?.reference ?? '');
}

/** Marks a free slot as busy. */
export function take(store: Store, reference: string): void {
  const slot = store.get(reference) as unknown as FhirSlot;
  if (slot.status !== 'free') throw new Rejected(409, 'conflict');
  const busy: FhirSlot = { ...slot, status: 'busy' };
  store.save(busy);
}

/** The actors of the slot's schedule, as participants who have accepted. */
export function actorsOf(store: Store, slot: Stored): object[] {
  const schedule = store.get((slot.schedule as Reference).reference ?? '');
  return (schedule.actor as Reference[]).map((actor) => ({ actor, status: 'accepted' }));
}
