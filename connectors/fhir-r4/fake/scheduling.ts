import type { FhirAppointment, FhirResource, FhirSlot, Reference } from '../src/fhir.ts';
import { Refused, type Store, type Stored } from './store.ts';

/** An EHR that looks after its slots itself: it takes free slots and one patient who has accepted. */
export function checkedCreate(store: Store, wanted: FhirAppointment, { oneSlot = false } = {}): Stored {
  const patients = (wanted.participant ?? []).filter(({ actor }) => actor?.reference?.startsWith('Patient/'));
  const slots = wanted.slot?.length ?? 0;
  const isAccepted = patients.length === 1 && patients[0]?.status === 'accepted';
  if (slots === 0 || (oneSlot && slots > 1) || !isAccepted) throw new Refused(422, 'business-rule');
  return bookSlots(store, wanted);
}

/** The same for a change: a cancellation frees the slots. */
export function checkedUpdate(
  store: Store,
  reference: string,
  wanted: FhirAppointment,
  ifMatch: string | undefined,
): Stored {
  const before = store.get(reference) as unknown as FhirAppointment;
  const saved = store.update(reference, wanted, ifMatch);
  const former = (before.slot ?? []).map((it) => it.reference ?? '');
  const wantedSlots = wanted.status === 'cancelled' ? [] : (wanted.slot ?? []).map((it) => it.reference ?? '');
  for (const slot of wantedSlots.filter((it) => !former.includes(it))) take(store, slot);
  if (before.status === 'cancelled') return saved;
  for (const slot of former.filter((it) => !wantedSlots.includes(it))) {
    store.save({ ...store.get(slot), status: 'free' } as FhirResource);
  }
  return saved;
}

/** Takes the slots and books. */
export function bookSlots(store: Store, wanted: FhirAppointment): Stored {
  const slots = (wanted.slot ?? []).map(({ reference }) => store.get(reference ?? ''));
  for (const slot of slots) take(store, `Slot/${slot.id}`);
  const { id: _, ...rest } = wanted;
  const patients = (wanted.participant ?? []).filter(({ actor }) => actor?.reference?.startsWith('Patient/'));
  const [first] = slots;
  if (!first) throw new Refused(422, 'business-rule');
  const schedule = store.get((first.schedule as Reference).reference ?? '');
  return store.save({
    ...rest,
    serviceType: wanted.serviceType ?? schedule.serviceType,
    status: 'booked',
    start: first.start,
    end: slots.at(-1)?.end,
    participant: [...patients, ...actorsOf(store, first)],
  } as FhirResource);
}

export function take(store: Store, reference: string): void {
  const slot = store.get(reference) as unknown as FhirSlot;
  if (slot.status !== 'free') throw new Refused(409, 'conflict');
  const busy: FhirSlot = { ...slot, status: 'busy' };
  store.save(busy);
}

export function actorsOf(store: Store, slot: Stored): object[] {
  const schedule = store.get((slot.schedule as Reference).reference ?? '');
  return (schedule.actor as Reference[]).map((actor) => ({ actor, status: 'accepted' }));
}
