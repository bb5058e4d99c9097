import { slotPath } from '../src/booking/slot-path.ts';
import type { FhirAppointment, FhirResource, FhirSlot, Parameters, Reference } from '../src/fhir.ts';
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

/** `$find`: an appointment for each schedule that is free from start to end, kept for a while under an id of its own. */
export function find(store: Store, parameters: Parameters): Stored[] {
  const start = Date.parse(String(value(parameters, 'start')));
  const end = Date.parse(String(value(parameters, 'end')));
  const visitType = value(parameters, 'visit-type');
  const free = store.all('Slot').filter((slot) => slot.status === 'free');
  const bySchedule = Map.groupBy(free, (slot) => (slot.schedule as Reference).reference ?? '');
  return [...bySchedule].flatMap(([schedule, slots]) => {
    const path = slotPath(slots as unknown as FhirSlot[], { start: new Date(start), end: new Date(end) });
    if (!path) return [];
    const id = `proposed-${schedule.replace('/', '-')}-${start}-${end}`;
    return store.save({
      resourceType: 'Appointment',
      id,
      status: 'proposed',
      ...(visitType === undefined ? {} : { serviceType: [visitType] }),
      start: path[0]?.start,
      end: path.at(-1)?.end,
      slot: path.map((slot) => ({ reference: `Slot/${slot.id}` })),
      participant: actorsOf(store, path[0] as unknown as Stored),
    } as FhirResource);
  });
}

/** `$book` in each of its forms. */
export function book(store: Store, parameters: Parameters): Stored {
  const whole = value(parameters, 'appt-resource') as FhirAppointment | undefined;
  if (whole) return bookSlots(store, whole);
  const named = value(parameters, 'appointment-reference') as Reference | undefined;
  const reference = named?.reference ?? String(value(parameters, 'appt-id'));
  const proposed = store.get(reference) as unknown as FhirAppointment;
  const patientResource = value(parameters, 'patient-resource') as FhirResource | undefined;
  const patient = patientResource ? `Patient/${patientResource.id}` : String(value(parameters, 'patient-id'));
  const comment = value(parameters, 'comment');
  const booked = bookSlots(store, {
    ...proposed,
    participant: [...(proposed.participant ?? []), { actor: { reference: patient }, status: 'accepted' }],
    ...(comment === undefined ? {} : { comment: String(comment) }),
  });
  store.remove(reference);
  return booked;
}

function bookSlots(store: Store, wanted: FhirAppointment): Stored {
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

function take(store: Store, reference: string): void {
  const slot = store.get(reference) as unknown as FhirSlot;
  if (slot.status !== 'free') throw new Refused(409, 'conflict');
  const busy: FhirSlot = { ...slot, status: 'busy' };
  store.save(busy);
}

function actorsOf(store: Store, slot: Stored): object[] {
  const schedule = store.get((slot.schedule as Reference).reference ?? '');
  return (schedule.actor as Reference[]).map((actor) => ({ actor, status: 'accepted' }));
}

function value(parameters: Parameters, name: string): unknown {
  const found = parameters.parameter.find((it) => it.name === name);
  if (!found) return undefined;
  return found.resource ?? Object.entries(found).find(([key]) => key.startsWith('value'))?.[1];
}
