import type { FhirAppointment, FhirResource, FhirSlot, Parameters, Participant, Reference } from '../src/fhir.ts';
import type { FhirSettings } from '../src/settings.ts';
import { slotPath } from '../src/slots/slot-path.ts';
import { actorsOf, bookSlots, checkedUpdate, take } from './scheduling.ts';
import { Rejected, type Store, type Stored } from './store.ts';

/** The HTTP response to an operation. */
export interface OperationResponse {
  readonly status: number;
  readonly resource: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface OperationOptions {
  /** How long the server keeps a hold. Clients cannot choose this. */
  readonly holdMilliseconds: number;
  readonly now: () => number;
}

/** The values of the setting `booking.operations`. */
export type OperationFormName = NonNullable<NonNullable<FhirSettings['booking']>['operations']>;
type Form = Exclude<OperationFormName, 'medplum'>;

/** The parameters that each operation accepts, with their types. All others are rejected. */
const known: Readonly<Record<Form, Readonly<Record<string, Readonly<Record<string, string>>>>>> = {
  // https://profiles.ihe.net/ITI/Scheduling/
  ihe: {
    $find: {
      start: 'valueDateTime',
      end: 'valueDateTime',
      practitioner: 'valueReference',
      'location-reference': 'valueReference',
      'visit-type': 'valueString',
      'patient-reference': 'valueReference',
    },
    $hold: { 'appointment-reference': 'valueReference' },
    $book: {
      'appointment-reference': 'valueReference',
      'appointment-resource': 'resource',
      'patient-resource': 'resource',
      comment: 'valueString',
    },
  },
  // https://fhir.org/guides/argonaut/scheduling/
  argonaut: {
    $find: {
      start: 'valueDateTime',
      end: 'valueDateTime',
      practitioner: 'valueUri',
      'location-reference': 'valueUri',
      'visit-type': 'valueString',
      'patient-reference': 'valueUri',
    },
    $hold: { 'appt-id': 'valueUri' },
    $book: { 'appt-id': 'valueUri', 'patient-id': 'valueUri', comment: 'valueString' },
  },
  // Epic, before R4
  epic: {
    $find: { startTime: 'valueDateTime', endTime: 'valueDateTime', 'service-type': 'valueCodeableConcept' },
    $book: { patient: 'valueIdentifier', appointment: 'valueIdentifier', appointmentNote: 'valueString' },
  },
  // https://gematik.de/fhir/isik/OperationDefinition/AppointmentBook
  isik: { $book: { 'appt-resource': 'resource' } },
};

/** `$find`, `$hold` and `$book` as published, for a server that manages its Slots itself. */
export function createOperations(store: Store, form: Form, { holdMilliseconds, now }: OperationOptions) {
  const holds = new Map<string, number>();

  function run(name: string, parameters: Parameters): OperationResponse {
    const types = known[form][name];
    if (!types) throw new Rejected(404, 'not-supported');
    for (const given of parameters.parameter) {
      if (types[given.name] === undefined || !((types[given.name] as string) in given))
        throw new Rejected(400, 'invalid');
    }
    const value = (parameter: string) => {
      const given: object | undefined = parameters.parameter.find((it) => it.name === parameter);
      return Object.entries(given ?? {}).find(([name]) => name === types[parameter])?.[1];
    };
    if (name === '$find') return found(find(value));
    try {
      return store.atomically(() => (name === '$hold' ? hold(value) : book(value)));
    } catch (error) {
      if (!(error instanceof Rejected)) throw error;
      return rejection(error);
    }
  }

  /** Proposes an appointment for each schedule that is free from start to end. */
  function find(value: (name: string) => unknown): Stored[] {
    const start = new Date(String(value('start') ?? value('startTime')));
    const end = new Date(String(value('end') ?? value('endTime')));
    const [system, code] = String(value('visit-type') ?? '').split('|');
    const serviceType = code === undefined ? value('service-type') : { coding: [{ system, code }] };
    const free = store.all('Slot').filter((slot) => slot.status === 'free');
    const bySchedule = Map.groupBy(free, (slot) => (slot.schedule as Reference).reference ?? '');
    return [...bySchedule.values()].flatMap((slots) => {
      const path = slotPath(slots as unknown as FhirSlot[], { start, end });
      if (!path) return [];
      return store.save({
        resourceType: 'Appointment',
        status: 'proposed',
        ...(serviceType === undefined ? {} : { serviceType: [serviceType] }),
        start: path[0]?.start,
        end: path.at(-1)?.end,
        slot: path.map((slot) => ({ reference: `Slot/${slot.id}` })),
        participant: actorsOf(store, path[0] as unknown as Stored),
      } as FhirResource);
    });
  }

  /** The server decides how long it holds. The appointment names no patient yet. */
  function hold(value: (name: string) => unknown): OperationResponse {
    const proposed = named(value);
    if (proposed.status !== 'proposed') throw new Rejected(409, 'conflict');
    for (const { reference } of proposed.slot ?? []) take(store, reference ?? '');
    const held: FhirAppointment = { ...proposed, status: 'pending' };
    const until = now() + holdMilliseconds;
    holds.set(`Appointment/${held.id}`, until);
    const response = found([store.save(held)]);
    // Argonaut reports when the hold expires. IHE defines nothing for it.
    return form === 'argonaut' ? { ...response, headers: { expires: new Date(until).toUTCString() } } : response;
  }

  function book(value: (name: string) => unknown): OperationResponse {
    const whole = value('appt-resource') as FhirAppointment | undefined;
    if (whole) {
      if (whole.status !== 'proposed') throw new Rejected(422, 'business-rule');
      return found([bookSlots(store, whole)]);
    }
    const changed = value('appointment-resource') as FhirAppointment | undefined;
    if (changed) {
      if (changed.status === 'pending') return found([bookSlots(store, changed)]);
      return found([checkedUpdate(store, `Appointment/${changed.id}`, changed, undefined)]);
    }
    const chosen = named(value);
    if (chosen.status !== 'proposed' && chosen.status !== 'pending') throw new Rejected(409, 'conflict');
    if (chosen.status === 'proposed') for (const { reference } of chosen.slot ?? []) take(store, reference ?? '');
    const comment = value('comment') ?? value('appointmentNote');
    const others = (chosen.participant ?? []).filter(({ actor }) => !actor?.reference?.startsWith('Patient/'));
    const patient: Participant = { actor: { reference: patientOf(value) }, status: 'accepted' };
    const booked: FhirAppointment = {
      ...chosen,
      status: 'booked',
      participant: [...others, patient],
      ...(comment === undefined ? {} : { comment: String(comment) }),
    };
    holds.delete(`Appointment/${chosen.id}`);
    return found([store.save(booked)]);
  }

  function named(value: (name: string) => unknown): FhirAppointment {
    const id = (value('appointment') as { value?: string } | undefined)?.value;
    const reference = (value('appointment-reference') as Reference | undefined)?.reference ?? value('appt-id');
    return store.get(id === undefined ? String(reference) : `Appointment/${id}`) as unknown as FhirAppointment;
  }

  function patientOf(value: (name: string) => unknown): string {
    const id =
      (value('patient-resource') as FhirResource | undefined)?.id ??
      (value('patient') as { value?: string } | undefined)?.value;
    return id === undefined ? String(value('patient-id')) : `Patient/${id}`;
  }

  /** Each guide has its own response for a time that is already booked. */
  function rejection({ code }: Rejected): OperationResponse {
    const issue = (status: string) => ({
      resourceType: 'OperationOutcome',
      issue: [{ severity: 'fatal', code: status }],
    });
    switch (form) {
      case 'ihe':
        return found([issue('not-found')]);
      case 'argonaut':
        return found([{ resourceType: 'Appointment', id: 'rejected', status: 'cancelled' }, issue(code)]);
      case 'epic':
        return { status: 400, resource: issue('business-rule') };
      case 'isik':
        return { status: 409, resource: issue(code) };
    }
  }

  /** Cancels expired holds and frees their slots, as the server does by itself. */
  function endExpiredHolds(): void {
    for (const [reference, until] of holds) {
      if (until > now()) continue;
      holds.delete(reference);
      const held = store.get(reference) as unknown as FhirAppointment;
      if (held.status !== 'pending') continue;
      store.save({ ...held, status: 'cancelled' } as FhirResource);
      for (const slot of held.slot ?? []) {
        store.save({ ...store.get(slot.reference ?? ''), status: 'free' } as FhirResource);
      }
    }
  }

  return { run, endExpiredHolds };
}

function found(resources: readonly object[]): OperationResponse {
  const entry = resources.map((resource) => ({ resource }));
  return { status: 200, resource: { resourceType: 'Bundle', type: 'searchset', total: entry.length, entry } };
}
