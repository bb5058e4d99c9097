import { setTimeout as pause } from 'node:timers/promises';
import { ConnectorError, type Withdrawal } from '@crossward/connector-kit';
import { operationSystem } from '../booking/operation-ids.ts';
import { afterWriting, isBroken, isConflict, isUnknown, unknownOutcome } from '../booking/write/outcomes.ts';
import { compare, type FhirDocumentReference, referenceTo } from '../fhir.ts';
import type { WriteResponse } from '../server/client.ts';
import type { FhirConnection } from '../server/connection.ts';
import { isUnchanged, withContentHash } from './content-hash.ts';
import { createdAt, isEnteredInError } from './document-reference.ts';

/** How often a write is tried that loses against others at the same time. */
const attempts = 5;

/**
 * Creates a document once. Looks for the operation id first, and again after the create: where a server ignores
 * `If-None-Exist`, two calls with one operation id can leave two documents, of which the first stays. A server that does not
 * keep operation ids is sent the document without one, and the gateway never repeats the call.
 *
 * @param onNoResponse called if the server may still create the document
 * @throws ConnectorError `outcome_unknown`
 */
export async function createDocument(
  ehr: FhirConnection,
  document: FhirDocumentReference,
  operationId: string,
  onNoResponse: (() => void) | undefined,
): Promise<FhirDocumentReference> {
  const earlier = ehr.documentLookup ? await findCreated(ehr, operationId) : null;
  return earlier ?? createNew(ehr, document, operationId, onNoResponse);
}

/** As `createDocument`, when the look-up of the operation id has just found nothing. */
export async function createNew(
  ehr: FhirConnection,
  document: FhirDocumentReference,
  operationId: string,
  onNoResponse: (() => void) | undefined,
): Promise<FhirDocumentReference> {
  if (!ehr.documentLookup) return createUnnamed(ehr, document);
  const identifier = [...(document.identifier ?? []), { system: operationSystem, value: operationId }];
  const ifNoneExist = `identifier=${operationSystem}|${operationId}`;
  for (let attempt = 1; ; attempt++) {
    let created: FhirDocumentReference | undefined;
    try {
      created = await send(ehr, withContentHash({ ...document, identifier }), ifNoneExist);
    } catch (error) {
      if (!isUnknown(error) && !(error instanceof Conflict)) throw error;
      if (isUnknown(error)) onNoResponse?.();
      const found = await afterWriting(() => findCreated(ehr, operationId));
      if (found) return found;
      if (!(error instanceof Conflict)) throw unknownOutcome(error);
      if (attempt === attempts) throw new ConnectorError('unavailable', error.message);
      // A random pause, so that two creates that conflicted do not conflict again.
      await pause(5 + Math.random() * 40 * attempt);
      continue;
    }
    return (await afterWriting(() => findCreated(ehr, operationId))) ?? created;
  }
}

/** Creates a document in a server that does not keep operation ids. Nobody can tell whether one without a response is done. */
async function createUnnamed(ehr: FhirConnection, document: FhirDocumentReference): Promise<FhirDocumentReference> {
  try {
    return await send(ehr, document, undefined);
  } catch (error) {
    if (error instanceof Conflict) throw new ConnectorError('rejected', error.message);
    throw isUnknown(error) ? unknownOutcome(error) : error;
  }
}

/** The server created nothing because of another request, such as Medplum during concurrent creates. */
class Conflict extends Error {}

async function send(
  { client }: FhirConnection,
  document: FhirDocumentReference,
  ifNoneExist: string | undefined,
): Promise<FhirDocumentReference> {
  const response = await client.create(document, ifNoneExist === undefined ? {} : { ifNoneExist });
  if (isConflict(response.status)) throw new Conflict(`The EHR responded with ${response.status}`);
  assertDone(response);
  if (response.resource?.resourceType === 'DocumentReference' && response.resource.id !== undefined) {
    return response.resource as FhirDocumentReference;
  }
  const { reference } = response;
  const found = reference && (await afterWriting(() => client.read<FhirDocumentReference>(reference)));
  if (!found) throw unknownOutcome();
  return found;
}

function assertDone(response: WriteResponse): void {
  if (isBroken(response.status)) throw unknownOutcome(response.rejection);
  if (!response.ok)
    throw response.rejection ?? new ConnectorError('rejected', `The EHR responded with ${response.status}`);
}

/**
 * The document that an operation created, also one that was withdrawn. Its duplicates are withdrawn.
 *
 * @returns `null`: the operation has created none
 */
export async function findCreated(ehr: FhirConnection, operationId: string): Promise<FhirDocumentReference | null> {
  const all = await documentsOf(ehr, operationId);
  const [kept, ...duplicates] = all.filter((it) => !isEnteredInError(it)).sort(byCreation);
  for (const duplicate of duplicates) if (isUnchanged(duplicate)) await markAsError(ehr, duplicate);
  return kept ?? all[0] ?? null;
}

/** Marks the document of an operation as entered in error, unless somebody has changed it since. */
export async function withdrawDocument(ehr: FhirConnection, operationId: string): Promise<Withdrawal> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const found = (await documentsOf(ehr, operationId)).filter((it) => !isEnteredInError(it));
    if (!found.every(isUnchanged)) return 'changed';
    const marked = await Promise.all(found.map((it) => markAsError(ehr, it)));
    if (marked.every(Boolean)) return 'withdrawn';
  }
  throw new ConnectorError('unavailable', 'The document kept changing; nothing was withdrawn');
}

async function documentsOf({ client }: FhirConnection, operationId: string): Promise<FhirDocumentReference[]> {
  const identifier = ['identifier', `${operationSystem}|${operationId}`] as const;
  const found = await client.search<FhirDocumentReference>('DocumentReference', [identifier], { few: true });
  // Some servers ignore a search parameter that they do not know.
  return found.filter((it) =>
    it.identifier?.some(({ system, value }) => system === operationSystem && value === operationId),
  );
}

/** @returns whether it is done. If not, somebody else has changed the document meanwhile. */
async function markAsError({ client }: FhirConnection, document: FhirDocumentReference): Promise<boolean> {
  const ifMatch = document.meta?.versionId;
  if (ifMatch === undefined) throw new ConnectorError('rejected', 'The EHR sends documents without a version');
  const marked = { ...document, status: 'entered-in-error' } as FhirDocumentReference;
  const response = await client.update(marked, { ifMatch });
  if (isConflict(response.status)) return false;
  // Deleted meanwhile.
  if (response.status === 410 && !(await client.read(referenceTo(document)))) return true;
  assertDone(response);
  return true;
}

/**
 * A document that was changed comes first, so that it is kept; then the first one that was created. A server may store whole
 * seconds. Of two documents at one time, the one of the later call comes first: the other arrived late, and the call that
 * repeated it has found nothing else.
 */
function byCreation(a: FhirDocumentReference, b: FhirDocumentReference): number {
  const changes = Number(isUnchanged(a)) - Number(isUnchanged(b));
  return (
    changes ||
    compare(a.meta?.lastUpdated ?? '', b.meta?.lastUpdated ?? '') ||
    createdAt(b).getTime() - createdAt(a).getTime() ||
    compare(a.id ?? '', b.id ?? '')
  );
}
