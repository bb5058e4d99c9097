import { randomUUID } from 'node:crypto';
import { ConnectorError } from '@crossward/connector-kit';
import {
  type BundleEntry,
  type FhirAppointment,
  type FhirResource,
  isBundle,
  referenceTo,
  storedReference,
} from '../../fhir.ts';
import type { WriteResponse } from '../../server/client.ts';
import type { BookingConnection } from '../../server/connection.ts';
import { versionIn, weakTag } from '../../server/messages.ts';
import { isOutcome } from '../../server/outcome.ts';
import { isStored } from '../../server/right-answer.ts';
import type { Plan } from '../slots/plan.ts';
import { type PlannedAppointment, versionOf } from '../write/appointment.ts';
import { afterWriting, isBroken, isConflict, LostRace, unknownOutcome } from '../write/outcomes.ts';
import { compensate, type DoneEntry, NotAtomic } from './not-atomic.ts';

/**
 * Writes the whole plan in one Bundle: https://hl7.org/fhir/R4/http.html#transaction. Every resource that was read is
 * written under the version that was read. A new appointment is always with its slots, so a second copy of the Bundle
 * fails by their versions. `ifNoneExist` is left out: with it Medplum runs the transaction serializably, and bookings of
 * different times conflict. Returns the appointments in the plan's order.
 *
 * @throws LostRace when somebody else was faster
 */
export async function runTransaction(ehr: BookingConnection, plan: Plan): Promise<readonly FhirAppointment[]> {
  const updates = [
    ...plan.slots,
    ...plan.appointments.flatMap(({ before, after }) => (before ? [{ before, after }] : [])),
    ...sweepable(ehr, plan),
  ];
  const creations = plan.appointments.filter(({ before }) => before === null);
  const entries: BundleEntry[] = [
    ...updates.map(({ before, after }) => putEntry(before, after)),
    ...creations.map(({ after }) => ({
      fullUrl: `urn:uuid:${randomUUID()}`,
      resource: after,
      request: { method: 'POST' as const, url: 'Appointment' },
    })),
  ];
  assertFits(ehr, entries.length);
  const response = await ehr.client.transaction({ resourceType: 'Bundle', type: 'transaction', entry: entries });
  await assertDone(ehr, plan, response, entries.length);
  const results = isBundle(response.body) ? (response.body.entry ?? []) : [];
  await assertWhole(ehr, entries, updates, results);
  const created = results.slice(updates.length).values();
  const references = plan.appointments.map(({ before }) =>
    before ? referenceTo(before) : createdReference(created.next().value),
  );
  const stored = await afterWriting(() => storedInOrder(ehr, references, results));
  // The response may be the one to another transaction.
  if (!stored.every((it, index) => isStored((plan.appointments[index] as PlannedAppointment).after, it))) {
    throw unknownOutcome();
  }
  return stored;
}

/** Expired holds are cancelled if the Bundle has room: they lose their slots in any case. */
function sweepable({ settings }: BookingConnection, { slots, appointments, swept }: Plan): Plan['swept'] {
  const most = settings.booking?.transaction_size ?? Number.POSITIVE_INFINITY;
  return swept.slice(0, Math.max(0, most - slots.length - appointments.length));
}

/** Checked before anything is sent. Only appointments of more than two slots can fail: see `resourcesPerChange`. */
function assertFits({ settings }: BookingConnection, count: number): void {
  const most = settings.booking?.transaction_size ?? count;
  if (count > most) {
    throw new ConnectorError(
      'rejected',
      `The write changes ${count} resources; a transaction of this EHR takes at most ${most}`,
    );
  }
}

function putEntry(before: FhirResource, after: FhirResource): BundleEntry {
  const reference = referenceTo(before);
  return { resource: after, request: { method: 'PUT', url: reference, ifMatch: weakTag(versionOf(before)) } };
}

async function assertDone(ehr: BookingConnection, plan: Plan, response: WriteResponse, count: number): Promise<void> {
  if (response.ok && isBundle(response.body)) return;
  if (isConflict(response.status)) throw new LostRace();
  if (isBroken(response.status) || response.ok) throw unknownOutcome(response.rejection);
  // Some servers respond with 400 or 422 to an old version.
  if (!(await isStillCurrent(ehr, plan))) throw new LostRace();
  const { rejection = new ConnectorError('rejected', `The EHR responded with ${response.status}`) } = response;
  if (rejection.kind !== 'rejected') throw rejection;
  throw new ConnectorError('rejected', `${rejection.message} to a transaction of ${count} resources`);
}

/**
 * Compensates a transaction that the server executed in part, as a batch. If the response has no status for an entry,
 * the outcome is unknown.
 */
async function assertWhole(
  ehr: BookingConnection,
  entries: readonly BundleEntry[],
  updates: readonly { readonly before: FhirResource; readonly after: FhirResource }[],
  results: readonly BundleEntry[],
): Promise<void> {
  const statuses = entries.map((_, index) => results[index]?.response?.status ?? '');
  if (entries.some(({ request }, index) => request?.method === 'PUT' && isOfAnother(request.url, results[index]))) {
    throw unknownOutcome();
  }
  if (statuses.every(isDone)) return;
  if (!statuses.some((status) => /^\d/.test(status) && !isDone(status))) throw unknownOutcome();
  const done = statuses.flatMap((status, index): DoneEntry[] => {
    if (!isDone(status)) return [];
    const { before = null } = updates[index] ?? {};
    const result = results[index];
    return [{ before, reference: createdReference(result), version: versionIn(result?.response?.etag) }];
  });
  const isClear = statuses.every((status) => isDone(status) || status.startsWith('4'));
  const isCompensated = await compensate(ehr, done);
  throw new NotAtomic({ isCompensated: isCompensated && isClear });
}

/** Whether the result names another resource than the one that was written. */
function isOfAnother(reference: string, result: BundleEntry | undefined): boolean {
  const shown = result?.resource;
  const location = storedReference(result?.response?.location);
  const named = shown && !isOutcome(shown) ? referenceTo(shown) : location;
  return named !== undefined && named !== reference;
}

/** Such as `201 Created`. Medplum's 304 means that the resource already had this content. */
function isDone(status: string): boolean {
  return /^(2|304)/.test(status);
}

function createdReference(entry: BundleEntry | undefined): string | undefined {
  if (entry?.resource?.id && entry.resource.resourceType === 'Appointment') return referenceTo(entry.resource);
  return storedReference(entry?.response?.location);
}

/** The stored resource, to which the EHR may have added elements. It is read if the response does not contain it. */
async function storedInOrder(
  ehr: BookingConnection,
  references: readonly (string | undefined)[],
  results: readonly BundleEntry[],
): Promise<readonly FhirAppointment[]> {
  const shown = results.flatMap(({ resource }) => (resource?.resourceType === 'Appointment' ? [resource] : []));
  const found = new Map(shown.map((it) => [referenceTo(it), it as FhirAppointment]));
  const hidden = references.flatMap((reference) => (reference === undefined || found.has(reference) ? [] : reference));
  const read = hidden.length > 0 ? await ehr.client.readMany<FhirAppointment>(hidden) : [];
  for (const it of read) found.set(referenceTo(it), it);
  return references.map((reference) => {
    const appointment = found.get(reference ?? '');
    if (!appointment) throw unknownOutcome();
    return appointment;
  });
}

/** Whether every slot and appointment of the plan still has the version that was read. */
async function isStillCurrent({ client }: BookingConnection, plan: Plan): Promise<boolean> {
  const before = [...plan.slots.map((it) => it.before), ...plan.appointments.flatMap((it) => it.before ?? [])];
  const now = await client.readMany(before.map(referenceTo));
  const versions = new Map(now.map((resource) => [referenceTo(resource), resource.meta?.versionId]));
  return before.every((resource) => versions.get(referenceTo(resource)) === resource.meta?.versionId);
}
