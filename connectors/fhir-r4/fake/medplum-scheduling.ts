import type { CodeableConcept, FhirAppointment, FhirResource, FhirSlot, Parameters, Reference } from '../src/fhir.ts';
import type { OperationResponse } from './operations.ts';
import { Rejected, type Store, type Stored } from './store.ts';

const mostDays = 31;
const dayMilliseconds = 24 * 60 * 60 * 1000;

interface Time {
  readonly start: string;
  readonly end: string;
}

/**
 * Medplum's scheduling (https://www.medplum.com/docs/scheduling). Free Slots say when an appointment is possible, and
 * never change. Each booking and each hold creates its own Slot, which blocks the times that overlap it.
 */
export function createMedplumScheduling(store: Store) {
  /** `$find`: proposes appointments without storing them. */
  function find(query: URLSearchParams): OperationResponse {
    const [start, end] = [Date.parse(query.get('start') ?? ''), Date.parse(query.get('end') ?? '')];
    if (!(start < end) || end - start > mostDays * dayMilliseconds) throw new Rejected(400, 'invalid');
    const reference = query.get('schedule') ?? '';
    const service = store.get(query.get('service-type-reference') ?? '');
    const schedule = scheduleFor(reference, service);
    const ignored = query.get('ignore-appointment');
    const own = ignored === null ? [] : slotsOf(store.get(ignored));
    const proposals = freeTimes(reference, own)
      .filter((time) => Date.parse(time.start) >= start && Date.parse(time.end) <= end)
      .toSorted((a, b) => Date.parse(a.start) - Date.parse(b.start))
      .slice(0, Number(query.get('_count') ?? 20))
      .map((time) => ({
        resourceType: 'Appointment',
        status: 'proposed',
        ...time,
        serviceType: service.type,
        participant: [{ actor: actorOf(schedule), required: 'required', status: 'needs-action' }],
        contained: [{ resourceType: 'Slot', status: 'busy', schedule: { reference }, ...time }],
      }));
    return bundle(200, 'searchset', proposals);
  }

  function run(name: string, id: string | undefined, parameters: Parameters): OperationResponse {
    return store.atomically(() => {
      if (name === '$confirm' && id !== undefined) return confirm(id);
      if (name === '$reschedule' && id !== undefined) return reschedule(id, parameters);
      if (name === '$hold') return createAppointment(parameters, 'pending', 'busy-tentative');
      if (name === '$book') return createAppointment(parameters, 'booked', 'busy');
      throw new Rejected(404, 'not-found');
    });
  }

  function createAppointment(parameters: Parameters, status: string, slotStatus: string): OperationResponse {
    const given = parameters.parameter.find((it) => it.name === 'appointment')?.resource as FhirAppointment | undefined;
    const { contained = [], ...appointment } = given ?? ({ resourceType: 'Appointment' } as FhirAppointment);
    if (!given || appointment.slot || contained.length === 0) throw new Rejected(400, 'invalid');
    const service = serviceOf(appointment);
    const made = (contained as FhirSlot[]).map((slot) => {
      const reference = slot.schedule?.reference ?? '';
      scheduleFor(reference, service);
      const isOpen = freeTimes(reference, []).some(
        ({ start, end }) => isSame(start, slot.start) && isSame(end, slot.end) && isSame(start, appointment.start),
      );
      if (!isOpen) throw new Rejected(400, 'invalid');
      return store.save({ ...slot, status: slotStatus } as FhirResource);
    });
    const slot = made.map((it) => ({ reference: `Slot/${it.id}` }));
    const { id: _, meta: __, ...rest } = appointment;
    const saved = store.save({ ...rest, status, slot } as FhirResource);
    return bundle(201, 'transaction-response', [saved, ...made]);
  }

  function confirm(id: string): OperationResponse {
    const held = store.get(`Appointment/${id}`);
    if (held.status !== 'pending' && held.status !== 'proposed') throw new Rejected(409, 'conflict');
    const slots = slotsOf(held).map((reference) =>
      store.save({ ...store.get(reference), status: 'busy' } as FhirResource),
    );
    return bundle(200, 'transaction-response', [store.save({ ...held, status: 'booked' } as FhirResource), ...slots]);
  }

  /** `$reschedule`: removes the previous Slots before it checks the new time. The id and the status stay the same. */
  function reschedule(id: string, parameters: Parameters): OperationResponse {
    const appointment = store.get(`Appointment/${id}`) as unknown as FhirAppointment;
    if (appointment.status !== 'booked' && appointment.status !== 'pending') throw new Rejected(400, 'invalid');
    const given = new Map(parameters.parameter.map((it) => [it.name, it]));
    const start = given.get('start')?.valueDateTime;
    const { reference = '' } = (given.get('schedule')?.valueReference ?? {}) as Reference;
    const schedule = scheduleFor(reference, serviceOf(appointment));
    const previous = (appointment.slot ?? []).map((it) => store.get(it.reference ?? ''));
    const previousActors = previous.map(
      (slot) => actorOf(store.get((slot.schedule as Reference).reference ?? ''))?.reference,
    );
    for (const slot of previous) store.remove(`Slot/${slot.id}`);
    const time = freeTimes(reference, []).find((it) => moment(it.start) === moment(start));
    if (!time) throw new Rejected(400, 'invalid');
    const status = appointment.status === 'booked' ? 'busy' : 'busy-tentative';
    const made: FhirSlot = { resourceType: 'Slot', status, schedule: { reference }, ...time };
    const slot = store.save(made);
    const others = (appointment.participant ?? []).filter(({ actor }) => !previousActors.includes(actor?.reference));
    const moved = store.save({
      ...appointment,
      ...time,
      slot: [{ reference: `Slot/${slot.id}` }],
      participant: [...others, { actor: actorOf(schedule), status: 'needs-action' }],
    } as FhirResource);
    return bundle(200, 'transaction-response', [moved, slot]);
  }

  /** The one HealthcareService that the appointment names. */
  function serviceOf({ serviceType = [] }: FhirAppointment): Stored {
    const [service, another] = serviceType
      .flatMap(({ extension }) => extension ?? [])
      .filter(({ url }) => url === 'https://medplum.com/fhir/service-type-reference');
    if (!service || another) throw new Rejected(400, 'invalid');
    return store.get(service.valueReference?.reference ?? '');
  }

  /** The schedule, which must have exactly one actor and offer the service. */
  function scheduleFor(reference: string, service: Stored): Stored {
    const schedule = store.get(reference);
    const types = codes(schedule.serviceType);
    const isOffered = codes(service.type).some((code) => types.includes(code));
    if ((schedule.actor as Reference[]).length !== 1 || !isOffered) throw new Rejected(400, 'invalid');
    return schedule;
  }

  function freeTimes(schedule: string, ignoredSlots: readonly string[]): Time[] {
    const slots = store.all('Slot').filter((slot) => (slot.schedule as Reference).reference === schedule);
    const busy = slots.filter(({ id, status }) => status !== 'free' && !ignoredSlots.includes(`Slot/${id}`));
    const isBusy = (time: Stored) =>
      busy.some((it) => moment(it.start) < moment(time.end) && moment(time.start) < moment(it.end));
    const free = slots.filter((slot) => slot.status === 'free' && !isBusy(slot));
    return [
      ...new Map(
        free.map(({ start, end }) => [`${start} ${end}`, { start: String(start), end: String(end) }]),
      ).values(),
    ];
  }

  return { find, run };
}

function actorOf(schedule: Stored): Reference | undefined {
  return (schedule.actor as Reference[])[0];
}

function slotsOf(appointment: Stored): string[] {
  return ((appointment.slot ?? []) as Reference[]).flatMap(({ reference }) => reference ?? []);
}

function codes(concepts: unknown): string[] {
  return ((concepts ?? []) as CodeableConcept[]).flatMap(({ coding = [] }) =>
    coding.map(({ system, code }) => `${system}|${code}`),
  );
}

function moment(value: unknown): number {
  return Date.parse(String(value));
}

function isSame(a: string | undefined, b: string | undefined): boolean {
  return moment(a) === moment(b);
}

function bundle(status: number, type: string, resources: readonly object[]): OperationResponse {
  return { status, resource: { resourceType: 'Bundle', type, entry: resources.map((resource) => ({ resource })) } };
}
