import { randomUUID } from 'node:crypto';
import { ConnectorError } from '@crossward/connector-kit';
import { type FhirClient, isBundle, isRefusal, type WriteAnswer, weakTag } from '../client.ts';
import { type FhirAppointment, type FhirResource, localReference, referenceTo } from '../fhir.ts';
import { withdraw } from './withdraw.ts';

/** A version that no server gives. */
export const noVersion = '999999999';

/**
 * - `held`: the server keeps the promise
 * - `broken`: it does not
 * - `refused`: it does not let us write slots, or not in this way
 * - `unproven`: it has nothing to try it on, or refused to be tried
 */
export type Proof = 'held' | 'broken' | 'refused' | 'unproven';

/**
 * Whether a transaction is all or nothing: one that has to fail must leave nothing behind. Some servers run it as a
 * batch, some do not roll back. What is left behind is an appointment that is `entered-in-error`, and it is removed.
 */
export async function proveTransactions(client: FhirClient, operationSystem: string): Promise<Proof> {
  const victim = await anySlotOrSchedule(client);
  if (!victim) return 'unproven';
  const marker = `probe-${randomUUID()}`;
  const reference = referenceTo(victim);
  const answer = await client.transaction({
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [
      {
        fullUrl: `urn:uuid:${randomUUID()}`,
        resource: probeAppointment(operationSystem, marker),
        request: { method: 'POST', url: 'Appointment' },
      },
      { resource: victim, request: { method: 'PUT', url: reference, ifMatch: weakTag(noVersion) } },
    ],
  });
  const ours = await appointmentsMarked(client, operationSystem, marker);
  for (const appointment of ours) await withdraw({ client }, referenceTo(appointment));
  if (answer.ok || ours.length > 0) {
    const entries = isBundle(answer.body) ? (answer.body.entry ?? []) : [];
    for (const { resource, response } of entries) {
      const made = localReference({ reference: response?.location ?? (resource ? referenceTo(resource) : '') });
      if (made?.startsWith('Appointment/') && response?.status?.startsWith('2') && ours.length === 0) {
        await withdraw({ client }, made);
      }
    }
    return 'broken';
  }
  // A refusal of the whole for a reason of its own says nothing of atomicity.
  return proofOfRefusal(answer, victim, (ifMatch) =>
    client.transaction({
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [{ resource: victim, request: { method: 'PUT', url: reference, ifMatch: weakTag(ifMatch) } }],
    }),
  );
}

/** Whether a PUT under a version that is not the current one is refused. It writes what is already there. */
export async function proveIfMatch(client: FhirClient): Promise<Proof> {
  const victim = await anySlotOrSchedule(client);
  if (!victim) return 'unproven';
  const answer = await client.update(victim, { ifMatch: noVersion });
  return answer.ok ? 'broken' : proofOfRefusal(answer, victim, (ifMatch) => client.update(victim, { ifMatch }));
}

/**
 * Whether an appointment is found by an identifier of ours that it was created with: some servers drop those of others.
 * The appointment is `entered-in-error`, and removed where the server removes any.
 */
export async function proveOperationIds(client: FhirClient, operationSystem: string): Promise<Proof> {
  const marker = `probe-${randomUUID()}`;
  const made = await client.create(probeAppointment(operationSystem, marker));
  if (!made.ok) return 'unproven';
  try {
    const [found] = await appointmentsMarked(client, operationSystem, marker);
    return found ? 'held' : 'broken';
  } catch (error) {
    if (isRefusal(error)) return 'broken';
    throw error;
  } finally {
    await withdraw({ client }, made.reference);
  }
}

async function appointmentsMarked(client: FhirClient, system: string, marker: string): Promise<FhirAppointment[]> {
  const found = await client.search<FhirAppointment>('Appointment', [['identifier', `${system}|${marker}`]]);
  // Some servers ignore a search parameter that they do not know.
  return found.filter((it) => it.identifier?.some(({ value }) => value === marker));
}

/** Whoever may write slots need not be one who may write schedules. */
async function proofOfRefusal(
  { status }: WriteAnswer,
  { resourceType, meta }: FhirResource,
  writeUnder: (version: string) => Promise<WriteAnswer>,
): Promise<Proof> {
  if (status === 412 || status === 409) return 'held';
  // It may be for the version, or for anything else: only then is the same refused under the right one too.
  if (status === 400) return meta?.versionId && (await writeUnder(meta.versionId)).ok ? 'held' : 'unproven';
  const isForbidden = status === 401 || status === 403 || status === 405;
  return isForbidden && resourceType === 'Slot' ? 'refused' : 'unproven';
}

async function anySlotOrSchedule(client: FhirClient): Promise<FhirResource | undefined> {
  for (const type of ['Slot', 'Schedule']) {
    try {
      for await (const { resources } of client.pages(type, [['_count', '1']])) {
        if (resources[0]) return resources[0];
        break;
      }
    } catch (error) {
      // Some servers want to be told more in a search for slots.
      if (!(error instanceof ConnectorError) || error.kind !== 'rejected') throw error;
    }
  }
  return undefined;
}

function probeAppointment(system: string, value: string): FhirAppointment {
  const start = new Date('2000-01-01T00:00:00Z');
  return {
    resourceType: 'Appointment',
    status: 'entered-in-error',
    identifier: [{ system, value }],
    start: start.toISOString(),
    end: new Date(start.getTime() + 60_000).toISOString(),
    participant: [{ actor: { display: 'Crossward' }, status: 'declined' }],
  };
}
