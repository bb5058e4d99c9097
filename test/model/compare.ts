import { expect } from 'vitest';
import type { Appointment, Slot } from '../requests/bookings.ts';
import {
  bookingsOf,
  channelTo,
  dayEnd,
  type Entry,
  entriesOf,
  isFree,
  type Model,
  offers,
  original,
  resources,
  services,
  slots,
  statusOf,
} from './model.ts';
import type { Real } from './real.ts';

/** The expected response for a model entry. Values that are first known from the response come from `actual`. */
export function bodyOf(real: Real, entry: Entry, actual?: Appointment): object {
  real.learn(entry.id, actual?.id);
  const { patient, service, resource, comment, ...time } = original(entry);
  return {
    id: real.id(entry.id),
    status: statusOf(entry),
    ...real.range(time),
    comment,
    patient_id: `emr_id:${patient}`,
    resource_id: `emr_id:${real.place.resources[resource]}`,
    healthcare_service_id: service,
    emr: real.place.emr,
    care_unit_id: real.place.careUnitId,
    confirmation: confirmationOf(real, entry, actual),
    replaces_id: entry.kind === 'view' ? real.id(entry.of.id) : null,
    resource_name: null,
    supersedes_id: null,
    attendance: null,
    modality: null,
    notice: null,
  };
}

function confirmationOf(real: Real, { code, waiting }: Entry, actual: Appointment | undefined): object | null {
  if (!code || waiting !== 'pending') return null;
  const confirmation = actual?.confirmation as { id: unknown; expires_at: unknown } | null | undefined;
  real.learn(code.name, confirmation?.id);
  real.learnExpiry(code, confirmation?.expires_at);
  return {
    id: real.id(code.name),
    kind: code.kind,
    channel: channelTo(code.patient, code.kind),
    delivery: expect.stringMatching(/^(queued|sent)$/),
    expires_at: real.expiry(code),
    attempts_remaining: code.attempts,
    page_url: null,
  };
}

/** The expected response of a dry run: fields that do not exist yet are null. */
export function previewOf(model: Model, real: Real, entry: Entry, change: string, isNew: boolean): object {
  if (!isNew) return { ...bodyOf(real, entry), change };
  const { patient, service, resource, comment, ...time } = original(entry);
  const { code } = entry;
  return {
    id: null,
    status: statusOf(entry),
    ...real.range(time),
    comment,
    patient_id: `emr_id:${patient}`,
    resource_id: `emr_id:${real.place.resources[resource]}`,
    healthcare_service_id: service,
    emr: real.place.emr,
    care_unit_id: real.place.careUnitId,
    confirmation: code
      ? {
          id: null,
          kind: code.kind,
          channel: channelTo(code.patient, code.kind),
          delivery: null,
          expires_at: null,
          attempts_remaining: model.policy.attempts,
          page_url: null,
        }
      : null,
    replaces_id: entry.kind === 'view' ? real.id(entry.of.id) : null,
    resource_name: null,
    supersedes_id: null,
    attendance: null,
    modality: null,
    notice: null,
    change,
  };
}

/** Compares all appointments and free slots with the model. */
export async function compareWorld(model: Model, real: Real): Promise<void> {
  const range = new URLSearchParams(real.range({ from: 0, to: dayEnd }));
  const wanted = new URLSearchParams(range);
  for (const resource of resources) wanted.append('resource_id', real.place.resources[resource]);
  const [list, free, ...ones] = await Promise.all([
    real.request<{ appointments: Appointment[] }>('GET', `/appointments?${range}`),
    real.request<{ timeslots: Slot[] }>('GET', `/timeslots?${wanted}`),
    ...entriesOf(model).map(({ id }) => real.request<Appointment>('GET', `/appointments/${real.id(id)}`)),
  ]);

  entriesOf(model).forEach((entry, index) => {
    expect(ones[index]?.body, `the appointment ${entry.id}`).toEqual(bodyOf(real, entry));
  });
  expect(owned(real, list.body.appointments), 'the list of the day').toEqual(listed(model, real));
  expect(free.body.timeslots, 'the free time slots').toEqual(freeSlots(model, real));
  assertNoOverlap(list.body.appointments);
}

/** Leaves out cancelled appointments that no response has contained, such as released holds with a lost response. */
export function owned(real: Real, appointments: readonly Appointment[]): readonly Appointment[] {
  return appointments.filter(({ id, status }) => status !== 'cancelled' || real.knows(id));
}

/** Ordered by start, then id. Pending cancellations are not listed. */
export function listed(model: Model, real: Real, filter: (entry: Entry) => boolean = () => true): object[] {
  return bookingsOf(model)
    .filter(filter)
    .toSorted((a, b) => a.from - b.from || (real.id(a.id) < real.id(b.id) ? -1 : 1))
    .map((booking) => bodyOf(real, booking));
}

function freeSlots(model: Model, real: Real): object[] {
  return slots.flatMap((from) =>
    resources
      .flatMap((resource) =>
        services
          .filter((service) => (offers[resource] as readonly string[]).includes(service))
          .filter((service) => isFree(model, { resource, service, from, to: from + 1 }))
          .map((service) => ({
            ...real.range({ from, to: from + 1 }),
            resource_id: `emr_id:${real.place.resources[resource]}`,
            healthcare_service_id: service,
            modality: null,
          })),
      )
      .toSorted((a, b) => (a.resource_id < b.resource_id ? -1 : Number(a.resource_id > b.resource_id))),
  );
}

function assertNoOverlap(appointments: readonly Appointment[]): void {
  const taken = appointments.filter(({ status }) => status !== 'cancelled');
  const clashes = taken.flatMap((a, index) =>
    taken
      .slice(index + 1)
      .filter((b) => a.resource_id === b.resource_id && a.start < b.end && b.start < a.end)
      .map((b) => [a.id, b.id]),
  );
  expect(clashes, 'appointments that overlap').toEqual([]);
}
