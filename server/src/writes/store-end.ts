import { type RawBuilder, sql, type UpdateObject } from 'kysely';
import { draftsText, insertedDrafts, type NewDraft } from '../audit/drafts.ts';
import { isOneOfFew } from '../db/few-rows.ts';
import { grouped } from '../db/grouped.ts';
import type { Db, Tx } from '../db/kysely.ts';
import { statement } from '../db/statement.ts';
import type { Tables } from '../db/tables/index.ts';
import { LeaseLost, leaseEnd, updateLeased, withoutLease } from '../db/write-lease.ts';
import type { NewEvent } from '../events/new-event.ts';
import { type Changed, eventsText, withEvents } from '../events/write-events.ts';
import type { Row } from './end-table.ts';
import type { Leased } from './stored-write.ts';

/** What is stored of a write that ends. */
export interface Ending extends Leased, Records {
  /** After which a monitored write is looked at. */
  readonly settlingSeconds?: number;
  /** Null: none, or the one that is stored stays. */
  readonly sealedResponse?: Buffer | null;
  /** The EHR has made the write, and may make it a second time. */
  readonly hadEffect?: boolean;
}

/** What the statement that ends a write also writes. */
interface Records {
  readonly events?: readonly NewEvent[] | undefined;
  /** Of the audit trail. */
  readonly drafts?: readonly NewDraft[];
}

/** JSON text of the lists. */
type RecordsText = { readonly [Name in keyof Records]-?: string };
type Input = Required<Pick<Ending, 'id' | 'token' | 'attempt' | 'settlingSeconds' | 'sealedResponse' | 'hadEffect'>> &
  RecordsText;

/** The records of each changed row. */
function recordsText(changes: readonly (Records & { readonly id: string })[]): RecordsText {
  const all = changes.map(({ id, events = [], drafts = [] }) => ({ id, events, drafts }));
  return { events: eventsText(all), drafts: draftsText(all) };
}

function withRecords(statement: RawBuilder<Changed>, { events, drafts }: RecordsText): RawBuilder<{ id: string }> {
  return withEvents(statement, events, insertedDrafts(drafts, sql`draft.of IN (SELECT id::text FROM changed)`));
}

/**
 * Stores the end of a write, with its records. Outside a transaction, responses of requests that run at the same time share a
 * statement.
 *
 * @throws LeaseLost
 */
export async function storeEnd(db: Db | Tx, row: Row, ending: Ending): Promise<void> {
  if (row === 'open') return releaseAsUnknown(db, ending);
  if (row === 'answered') {
    if (!(await storeResponse(db, ending))) throw new LeaseLost();
    return;
  }
  const input = { settlingSeconds: 0, hadEffect: false, sealedResponse: null, ...ending, ...recordsText([ending]) };
  if ((await statements[row](db, input)).rows.length === 0) throw new LeaseLost();
}

const ended = { patient_hashes: [], consecutive_failures: 0, suspended_at: null };
const done = { ...ended, state: 'done' as const };
const answered = { ...withoutLease, ...done, sealed_plan: null, next_attempt_at: null };
const free = ({ attempt }: Input) => ({
  ...ended,
  state: 'pending' as const,
  attempt,
  sealed_plan: null,
  kind: null,
  next_attempt_at: null,
  first_sent_at: null,
  last_sent_at: null,
  reported_unknown: false,
  expires_at: null,
});

/** By what becomes of the row, unless it is answered. */
const statements = {
  monitored: updating(({ settlingSeconds, hadEffect, sealedResponse }) => ({
    ...withoutLease,
    ...done,
    next_attempt_at: leaseEnd(settlingSeconds),
    had_effect: sql<boolean>`had_effect OR ${hadEffect}`,
    sealed_response: sql<Buffer | null>`coalesce(${sealedResponse}, sealed_response)`,
  })),
  'monitored under its lease': updating(() => ({ ...done, next_attempt_at: sql<Date>`lease_expires_at` })),
  free: updating((input) => ({ ...withoutLease, ...free(input) })),
  'free under its lease': updating(free),
  gone: statement((_db, input: Input) => {
    const { id, token } = input;
    const deleted = sql<Changed>`
      DELETE FROM operations WHERE id = ${id} AND lease_token = ${token} RETURNING id, created_at AS began_at`;
    return withRecords(deleted, input);
  }),
};

function updating(values: (input: Input) => UpdateObject<Tables, 'operations'>) {
  return statement((db, input: Input) => {
    const update = updateLeased(db, input).set(values(input)).returning(['id', 'created_at as began_at']);
    return withRecords(sql`${update}`, input);
  });
}

const storeResponse = grouped({
  begins: 'UPDATE operations',
  run: storeResponses,
  keyOf: ({ id }: Ending) => id,
});

/** Returns for each response whether its write was still leased. */
async function storeResponses(db: Db | Tx, responses: readonly Ending[]): Promise<boolean[]> {
  const input = responses.map(({ id, token, sealedResponse }) => {
    return { id, token, sealed_response: sealedResponse?.toString('base64') };
  });
  const { rows } = await updateResponses(db, { responses: JSON.stringify(input), ...recordsText(responses) });
  const stored = new Set(rows.map(({ id }) => id));
  return responses.map(({ id }) => stored.has(id));
}

/** `responses`: JSON text of a list. */
const updateResponses = statement((db, input: RecordsText & { readonly responses: string }) => {
  type Response = { readonly id: string; readonly token: string; readonly sealed_response: string | null };
  const columns = sql`response (id uuid, token text, sealed_response text)`;
  const source = sql<Response>`json_to_recordset(${input.responses}::json)`.as<'response'>(columns);
  const update = db
    .updateTable('operations')
    .from(source)
    .set({
      ...answered,
      sealed_response: sql<Buffer | null>`coalesce(decode(response.sealed_response, 'base64'), operations.sealed_response)`,
    })
    .whereRef('operations.id', '=', 'response.id')
    .where('operations.lease_token', '=', sql<string>`response.token::uuid`)
    .where(isOneOfFew('response.token'))
    .returning(['operations.id', 'operations.created_at as began_at']);
  return withRecords(sql`${update}`, input);
});

/**
 * Releases the lease after `outcome_unknown` was reported. The lease may be that of an earlier write with the same key, if the
 * answer of its take-over was lost.
 */
async function releaseAsUnknown(db: Db | Tx, { id, token, clientId, keyHash }: Leased): Promise<void> {
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
