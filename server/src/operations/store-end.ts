import { type Kysely, type RawBuilder, sql } from 'kysely';
import { draftsText, insertDrafts, insertedDrafts, type NewDraft } from '../audit/drafts.ts';
import { isOneOfFew } from '../db/few-rows.ts';
import { grouped } from '../db/grouped.ts';
import type { Db, Tx } from '../db/kysely.ts';
import { LeaseLost, leaseEnd, setLeased, updateLeased, withoutLease } from '../db/operation-lease.ts';
import { statement } from '../db/statement.ts';
import type { Tables } from '../db/tables/index.ts';
import type { NewEvent } from '../events/new-event.ts';
import { type Changed, eventsText, withEvents, writeEvents } from '../events/write-events.ts';
import type { Leased } from './stored-operation.ts';

/** Column values of an operation that has ended. */
const done = { state: 'done' as const, patient_hashes: [], consecutive_failures: 0, suspended_at: null };
const doneWithoutLease = { ...withoutLease, ...done };
/** Column values of an operation that starts over. */
const withoutPlan = {
  state: 'pending' as const,
  sealed_plan: null,
  kind: null,
  next_attempt_at: null,
  patient_hashes: [],
  first_sent_at: null,
  last_sent_at: null,
  consecutive_failures: 0,
  suspended_at: null,
  reported_unknown: false,
  expires_at: null,
};

type Lease = Pick<Leased, 'id' | 'token'>;

/** What the statement that ends an operation also writes. */
export interface Records {
  readonly events?: readonly NewEvent[];
  /** Of the audit trail. */
  readonly drafts?: readonly NewDraft[];
}

interface RecordsText {
  /** JSON text of lists. */
  readonly events: string;
  readonly drafts: string;
}

/** The records of each changed row. */
function recordsText(changes: readonly (Records & { readonly id: string })[]): RecordsText {
  const all = changes.map(({ id, events = [], drafts = [] }) => ({ id, events, drafts }));
  return { events: eventsText(all), drafts: draftsText(all) };
}

function withRecords(statement: RawBuilder<Changed>, { events, drafts }: RecordsText): RawBuilder<{ id: string }> {
  return withEvents(statement, events, insertedDrafts(drafts, sql`draft.of IN (SELECT id::text FROM changed)`));
}

/** Writes events and drafts in the transaction that ends an operation without a row. */
export async function writeRecords(tx: Tx, { events = [], drafts = [] }: Records): Promise<void> {
  await writeEvents(tx, events);
  await insertDrafts(tx, drafts);
}

/**
 * Declares a statement that ends an operation under its lease and returns its `id`. Its events and drafts are written by the
 * same statement. The function throws LeaseLost.
 */
function ending<Input extends Lease>(build: (db: Kysely<Tables>, input: Input) => RawBuilder<Changed>) {
  const recording = statement((db, input: Input & RecordsText) => withRecords(build(db, input), input));
  return async (db: Db | Tx, input: Input, records: Records = {}): Promise<void> => {
    const { rows } = await recording(db, { ...input, ...recordsText([{ id: input.id, ...records }]) });
    if (rows.length === 0) throw new LeaseLost();
  };
}

/**
 * Ends an operation. With a key its response is stored; without one its row is deleted. Outside a transaction, responses of
 * requests that run at the same time are stored by one statement.
 *
 * @throws LeaseLost
 */
export async function storeResponse(
  db: Db | Tx,
  operation: Leased,
  sealedResponse: Buffer | null,
  records: Records = {},
): Promise<void> {
  if (sealedResponse === null) return removeOperation(db, operation, records);
  const { id, token } = operation;
  const response = { ...records, id, token, sealedResponse };
  const isStored = db.isTransaction ? (await storeAll(db, [response]))[0] : await storeInGroup(db, response);
  if (!isStored) throw new LeaseLost();
}

interface EndingResponse extends Lease, Records {
  readonly sealedResponse: Buffer;
}

const storeInGroup = grouped({
  begins: 'UPDATE operations',
  run: storeAll,
  keyOf: ({ id }: EndingResponse) => id,
});

/** Returns for each response whether its operation was still leased. */
async function storeAll(db: Db | Tx, responses: readonly EndingResponse[]): Promise<boolean[]> {
  const input = { responses: JSON.stringify(responses.map(asJson)), ...recordsText(responses) };
  const { rows } = await updateResponses(db, input);
  const stored = new Set(rows.map(({ id }) => id));
  return responses.map(({ id }) => stored.has(id));
}

function asJson({ id, token, sealedResponse }: EndingResponse) {
  return { id, token, sealed_response: sealedResponse.toString('base64') };
}

interface ResponsesInput extends RecordsText {
  /** JSON text of a list. */
  readonly responses: string;
}

const updateResponses = statement((db, input: ResponsesInput) => {
  const columns = sql`response (id uuid, token uuid, sealed_response text)`;
  const source = sql<ResponseRow>`json_to_recordset(${input.responses}::json)`.as<'response'>(columns);
  const update = db
    .updateTable('operations')
    .from(source)
    .set({
      ...doneWithoutLease,
      sealed_plan: null,
      sealed_response: sql<Buffer>`decode(response.sealed_response, 'base64')`,
      next_attempt_at: null,
    })
    .whereRef('operations.id', '=', 'response.id')
    .whereRef('operations.lease_token', '=', 'response.token')
    .where(isOneOfFew('response.sealed_response'))
    .returning(['operations.id', 'operations.created_at as began_at']);
  return withRecords(sql`${update}`, input);
});

interface ResponseRow {
  readonly id: string;
  readonly token: string;
  readonly sealed_response: string;
}

/** @throws LeaseLost */
export const removeOperation = ending(
  (_db, { id, token }: Lease) => sql`DELETE FROM operations WHERE id = ${id} AND lease_token = ${token}
    RETURNING id, created_at AS began_at`,
);

/**
 * Ends an operation, and keeps its plan so that background recovery looks at the EHR: it may be late, or if the operation had
 * effect, make its changes a second time.
 *
 * @throws LeaseLost
 */
export const monitor = ending((db, input: Monitoring) => {
  const update = updateLeased(db, input)
    .set({
      ...doneWithoutLease,
      next_attempt_at: leaseEnd(input.settlingSeconds),
      had_effect: sql<boolean>`had_effect OR ${input.hadEffect}`,
      sealed_response: sql<Buffer | null>`coalesce(${input.sealedResponse}, sealed_response)`,
    })
    .returning(['id', 'created_at as began_at']);
  return sql`${update}`;
});

interface Monitoring extends Lease {
  readonly settlingSeconds: number;
  /** Null: none, or the one that is stored stays. */
  readonly sealedResponse: Buffer | null;
  readonly hadEffect: boolean;
}

/** Ends monitoring. The stored response stays. @throws LeaseLost */
export function stopMonitoring(db: Db | Tx, operation: Leased): Promise<void> {
  return setLeased(db, operation, { ...doneWithoutLease, sealed_plan: null, next_attempt_at: null });
}

/** Ends an attempt without effect under a lease that starts over. Monitored until then. @throws LeaseLost */
export function markNotDone(db: Db | Tx, operation: Leased): Promise<void> {
  return setLeased(db, operation, { ...done, next_attempt_at: sql<Date>`lease_expires_at` });
}

/** Records that the EHR is called once more. @throws LeaseLost */
export function markSent(db: Db, operation: Leased): Promise<void> {
  return setLeased(db, operation, { last_sent_at: sql<Date>`now()` });
}

/** Removes the plan. The holder of the lease starts over. @throws LeaseLost */
export function clearPlan(db: Db | Tx, operation: Leased, attempt: number): Promise<void> {
  return setLeased(db, operation, { ...withoutPlan, attempt });
}

/** Like `clearPlan`, and releases the lease so that a retry can start over. @throws LeaseLost */
export function resetForRetry(db: Db | Tx, operation: Leased, attempt: number): Promise<void> {
  return setLeased(db, operation, { ...withoutPlan, ...withoutLease, attempt });
}

/** Any process may lease the operation next. */
export async function releaseLease(db: Db | Tx, operation: Leased): Promise<void> {
  await updateLeased(db, operation).set(withoutLease).execute();
}

/**
 * Releases the lease after `outcome_unknown` was reported. A retry or background recovery may find out the outcome. The lease may
 * be that of an earlier operation with the same key, if the answer of its take-over was lost.
 */
export async function releaseLeaseAsUnknown(db: Db, { id, token, clientId, keyHash }: Leased): Promise<void> {
  await db
    .updateTable('operations')
    .where('lease_token', '=', token)
    .where(({ eb, or, and }) => {
      const isThis = eb('id', '=', id);
      if (keyHash === null) return isThis;
      return or([isThis, and([eb('client_id', '=', clientId), eb('idempotency_key_hash', '=', keyHash)])]);
    })
    .set({
      ...withoutLease,
      reported_unknown: true,
      suspended_at: null,
      next_attempt_at: sql<Date>`CASE WHEN sealed_plan IS NOT NULL THEN now() END`,
    })
    .execute();
}
