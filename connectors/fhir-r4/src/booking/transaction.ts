import { randomUUID } from 'node:crypto';
import { ConnectorError } from '@crossward/connector-kit';
import { isBundle, versionIn, type WriteAnswer, weakTag } from '../client.ts';
import type { FhirConnection } from '../connection.ts';
import { type BundleEntry, type FhirAppointment, type FhirResource, localReference, referenceTo } from '../fhir.ts';
import { afterWriting, isBroken, isConflict, LostRace, unknownOutcome } from './lost-race.ts';
import { type DoneEntry, NotAtomic, undo } from './not-atomic.ts';
import { isStillCurrent, type Plan } from './plan.ts';
import { versionOf } from './version.ts';

/**
 * The whole plan in one Bundle: https://hl7.org/fhir/R4/http.html#transaction. Every resource that was read is written
 * under the version that was read. An appointment comes with its slots, so a second copy of the Bundle fails by theirs;
 * asked for `ifNoneExist` too, Medplum runs it serializably, and bookings of other times break each other off.
 *
 * @throws LostRace when somebody else was faster
 */
export async function runTransaction(ehr: FhirConnection, plan: Plan): Promise<readonly FhirAppointment[]> {
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
  const answer = await ehr.client.transaction({ resourceType: 'Bundle', type: 'transaction', entry: entries });
  await assertDone(ehr, plan, answer, entries.length);
  const results = isBundle(answer.body) ? (answer.body.entry ?? []) : [];
  await assertWhole(ehr, entries, updates, results);
  const created = results.slice(updates.length).values();
  const references = plan.appointments.map(({ before }) =>
    before ? referenceTo(before) : createdReference(created.next().value),
  );
  return afterWriting(() => readInOrder(ehr, references));
}

/** Tidying takes what room the write leaves: a hold that has run out loses its slots whether it is cancelled or not. */
function sweepable({ settings }: FhirConnection, { slots, appointments, swept }: Plan): Plan['swept'] {
  const most = settings.booking?.transaction_size ?? Number.POSITIVE_INFINITY;
  return swept.slice(0, Math.max(0, most - slots.length - appointments.length));
}

/** Before anything is sent. Only appointments of more than two slots come to this: `resourcesPerChange` covers others. */
function assertFits({ settings }: FhirConnection, count: number): void {
  const most = settings.booking?.transaction_size ?? count;
  if (count > most) {
    throw new ConnectorError(
      'rejected',
      `The write takes ${count} resources, a transaction of this EHR ${most} at most`,
    );
  }
}

function putEntry(before: FhirResource, after: FhirResource): BundleEntry {
  const reference = referenceTo(before);
  return { resource: after, request: { method: 'PUT', url: reference, ifMatch: weakTag(versionOf(before)) } };
}

async function assertDone(ehr: FhirConnection, plan: Plan, answer: WriteAnswer, count: number): Promise<void> {
  if (answer.ok && isBundle(answer.body)) return;
  if (isConflict(answer.status)) throw new LostRace();
  if (isBroken(answer.status) || answer.ok) throw unknownOutcome(answer.refusal);
  // Some servers answer 400 or 422 to a version that has gone.
  if (!(await isStillCurrent(ehr, plan))) throw new LostRace();
  const { refusal = new ConnectorError('rejected', `The EHR answered ${answer.status}`) } = answer;
  if (refusal.kind !== 'rejected') throw refusal;
  throw new ConnectorError('rejected', `${refusal.message} to a transaction of ${count} resources`);
}

/**
 * A server that runs a transaction as a batch does some of it: that is undone, and the server is not trusted again. An
 * answer that does not say what became of an entry says nothing either way.
 */
async function assertWhole(
  ehr: FhirConnection,
  entries: readonly BundleEntry[],
  updates: readonly { readonly before: FhirResource; readonly after: FhirResource }[],
  results: readonly BundleEntry[],
): Promise<void> {
  const statuses = entries.map((_, index) => results[index]?.response?.status ?? '');
  if (statuses.every(isDone)) return;
  if (!statuses.some((status) => /^\d/.test(status) && !isDone(status))) throw unknownOutcome();
  const done = statuses.flatMap((status, index): DoneEntry[] => {
    if (!isDone(status)) return [];
    const { before = null } = updates[index] ?? {};
    const result = results[index];
    return [{ before, reference: createdReference(result), version: versionIn(result?.response?.etag) }];
  });
  const isClear = statuses.every((status) => isDone(status) || status.startsWith('4'));
  const isUndone = await undo(ehr, done);
  throw new NotAtomic({ isUndone: isUndone && isClear });
}

/** `201 Created`; Medplum's 304 says that it was so already. */
function isDone(status: string): boolean {
  return /^(2|304)/.test(status);
}

function createdReference(entry: BundleEntry | undefined): string | undefined {
  if (entry?.resource?.id && entry.resource.resourceType === 'Appointment') return referenceTo(entry.resource);
  return localReference({ reference: entry?.response?.location ?? '' });
}

/** As the EHR has them now: it may have added something, and some servers answer without resources. */
async function readInOrder(
  ehr: FhirConnection,
  references: readonly (string | undefined)[],
): Promise<readonly FhirAppointment[]> {
  const known = references.filter((reference) => reference !== undefined);
  const found = new Map((await ehr.client.readMany<FhirAppointment>(known)).map((it) => [referenceTo(it), it]));
  return references.map((reference) => {
    const appointment = found.get(reference ?? '');
    if (!appointment) throw unknownOutcome();
    return appointment;
  });
}
