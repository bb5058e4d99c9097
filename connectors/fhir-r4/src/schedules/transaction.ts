import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ConnectorError } from '@crossward/connector-kit';
import { versionOf } from '../booking/write/appointment.ts';
import { isBroken, isConflict, LostRace, unknownOutcome } from '../booking/write/outcomes.ts';
import { type BundleEntry, type FhirResource, isBundle, referenceTo } from '../fhir.ts';
import type { FhirConnection } from '../server/connection.ts';
import { weakTag } from '../server/messages.ts';

/** What a transaction writes. */
export interface ScheduleChanges {
  /** Written under the versions that were read. */
  readonly updates: readonly { readonly before: FhirResource; readonly after: FhirResource }[];
  readonly creations?: readonly FhirResource[];
}

const attempts = 10;

/** How many resources fit in one transaction. */
export function transactionSize({ settings }: FhirConnection, preferred: number): number {
  return Math.min(preferred, settings.booking?.transaction_size ?? preferred);
}

/**
 * Writes everything or nothing: https://hl7.org/fhir/R4/http.html#transaction
 *
 * @throws LostRace when one of the resources has changed since it was read
 */
export async function writeTogether(ehr: FhirConnection, { updates, creations = [] }: ScheduleChanges): Promise<void> {
  const entries: BundleEntry[] = [
    ...updates.map(({ before, after }) => ({
      resource: after,
      request: { method: 'PUT' as const, url: referenceTo(before), ifMatch: weakTag(versionOf(before)) },
    })),
    ...creations.map((resource) => ({
      fullUrl: `urn:uuid:${randomUUID()}`,
      resource,
      request: { method: 'POST' as const, url: resource.resourceType },
    })),
  ];
  const most = transactionSize(ehr, entries.length);
  if (entries.length > most) {
    const message = `The write changes ${entries.length} resources; a transaction of this EHR takes at most ${most}`;
    throw new ConnectorError('rejected', message);
  }
  const response = await ehr.client.transaction({ resourceType: 'Bundle', type: 'transaction', entry: entries });
  if (response.ok && isBundle(response.body)) {
    const statuses = (response.body.entry ?? []).map((it) => it.response?.status ?? '');
    if (statuses.length === entries.length && statuses.every((it) => /^(2|304)/.test(it))) return;
    throw unknownOutcome();
  }
  if (isConflict(response.status)) throw new LostRace();
  if (isBroken(response.status) || response.ok) throw unknownOutcome(response.rejection);
  // Some servers respond with 400 or 422 to an old version.
  if (
    !(await areCurrent(
      ehr,
      updates.map(({ before }) => before),
    ))
  )
    throw new LostRace();
  throw response.rejection ?? new ConnectorError('rejected', `The EHR responded with ${response.status}`);
}

async function areCurrent({ client }: FhirConnection, resources: readonly FhirResource[]): Promise<boolean> {
  const now = await client.readMany(resources.map(referenceTo));
  const versions = new Map(now.map((it) => [referenceTo(it), it.meta?.versionId]));
  return resources.every((it) => versions.get(referenceTo(it)) === it.meta?.versionId);
}

/** Starts `work` again when somebody else was faster. It must read what it changes. */
export async function untilCurrent<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof LostRace)) throw error;
      // A random pause, so that two calls that conflicted do not conflict again.
      await pause(5 + Math.random() * 40 * attempt);
    }
  }
  throw new ConnectorError('unavailable', 'The schedule kept changing during the write; nothing was written');
}
