import { type Kysely, type RawBuilder, sql } from 'kysely';
import { grouped } from '../db/grouped.ts';
import type { Db, Tx } from '../db/kysely.ts';
import { statement } from '../db/statement.ts';
import type { Tables } from '../db/tables/index.ts';
import type { NewEvent } from '../events/new-event.ts';
import { type Changed, eventsText, withEvents } from '../events/write-events.ts';
import { LeaseLost } from './errors.ts';
import { leaseEnd, released, requireLease, updateLeased } from './lease.ts';
import type { Leased } from './stored-operation.ts';

/** Column values of an ended operation. */
const ended = { state: 'done' as const, patient_hashes: [], consecutive_failures: 0, suspended_at: null };
const over = { ...released, ...ended };

type Lease = Pick<Leased, 'id' | 'token'>;

/**
 * Declares a statement that ends an operation under its lease and returns its `id`. Its events are written by the same
 * statement. The function throws LeaseLost.
 */
function ending<Input extends Lease>(build: (db: Kysely<Tables>, input: Input) => RawBuilder<Changed>) {
  const alone = statement(build);
  const reporting = statement((db, input: Input & { readonly events: string }) =>
    withEvents(build(db, input), input.events),
  );
  return async (db: Db | Tx, input: Input, events: readonly NewEvent[] = []): Promise<void> => {
    const { rows } = await (events.length === 0
      ? alone(db, input)
      : reporting(db, { ...input, events: eventsText([{ id: input.id, events }]) }));
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
  sealedResponse: Buffer | undefined,
  events: readonly NewEvent[] = [],
): Promise<void> {
  if (sealedResponse === undefined) return removeOperation(db, operation, events);
  const { id, token } = operation;
  const response = { id, token, sealedResponse, events };
  const isStored = db.isTransaction ? (await storeAll(db, [response]))[0] : await storeInGroup(db, response);
  if (!isStored) throw new LeaseLost();
}

interface EndingResponse extends Lease {
  readonly sealedResponse: Buffer;
  readonly events: readonly NewEvent[];
}

const storeInGroup = grouped({ run: storeAll, keyOf: ({ id }: EndingResponse) => id });

/** Returns for each response whether its operation was still leased. */
async function storeAll(db: Db | Tx, responses: readonly EndingResponse[]): Promise<boolean[]> {
  const input = { responses: JSON.stringify(responses.map(asJson)) };
  const { rows } = await (responses.every(({ events }) => events.length === 0)
    ? updateResponses(db, input)
    : updateResponsesWithEvents(db, { ...input, events: eventsText(responses) }));
  const stored = new Set(rows.map(({ id }) => id));
  return responses.map(({ id }) => stored.has(id));
}

function asJson({ id, token, sealedResponse }: EndingResponse) {
  return { id, token, sealed_response: sealedResponse.toString('base64') };
}

interface ResponsesInput {
  /** JSON text of a list. */
  readonly responses: string;
}

const updateResponses = statement(updateFrom);
const updateResponsesWithEvents = statement((db, input: ResponsesInput & { readonly events: string }) =>
  withEvents(updateFrom(db, input), input.events),
);

function updateFrom(db: Kysely<Tables>, { responses }: ResponsesInput): RawBuilder<Changed> {
  const source = sql<ResponseRow>`json_to_recordset(${responses}::json)`.as<'response'>(
    sql`response (id uuid, token uuid, sealed_response text)`,
  );
  const update = db
    .updateTable('operations')
    .from(source)
    .set({
      ...over,
      sealed_plan: null,
      sealed_response: sql<Buffer>`decode(response.sealed_response, 'base64')`,
      next_attempt_at: null,
    })
    .whereRef('operations.id', '=', 'response.id')
    .whereRef('operations.lease_token', '=', 'response.token')
    .returning(['operations.id', 'operations.created_at as began_at']);
  return sql`${update}`;
}

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

/** Like `removeOperation`, but the commit does not wait for the disk. @throws LeaseLost */
export const removeWithoutSync = ending(
  (_db, { id, token }: Lease) => sql`
    WITH relaxed AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
    DELETE FROM operations USING relaxed WHERE id = ${id} AND lease_token = ${token}
    RETURNING id, created_at AS began_at`,
);

/** Ends an attempt without effect under a lease that starts over. Monitored until then. @throws LeaseLost */
export function markNotDone(db: Db | Tx, operation: Leased): Promise<void> {
  const values = { ...ended, next_attempt_at: sql<Date>`lease_expires_at` };
  return requireLease(updateLeased(db, operation).set(values).executeTakeFirst());
}

/** Ends an operation without effect and monitors it, since the EHR may be late. @throws LeaseLost */
export function monitor(db: Db | Tx, operation: Leased, seconds: number, sealedResponse?: Buffer): Promise<void> {
  const values = {
    ...over,
    next_attempt_at: leaseEnd(seconds),
    ...(sealedResponse === undefined ? {} : { sealed_response: sealedResponse }),
  };
  return requireLease(updateLeased(db, operation).set(values).executeTakeFirst());
}

/** Ends an operation with effect, and monitors it: the EHR may make its changes a second time. @throws LeaseLost */
export async function monitorRepeats(
  db: Db | Tx,
  operation: Leased,
  seconds: number,
  sealedResponse: Buffer | undefined,
  events: readonly NewEvent[] = [],
): Promise<void> {
  const values = {
    ...over,
    had_effect: true,
    next_attempt_at: leaseEnd(seconds),
    ...(sealedResponse === undefined ? {} : { sealed_response: sealedResponse }),
  };
  const ending = updateLeased(db, operation).set(values).returning(['id', 'created_at as began_at']);
  const monitored = sql<Changed>`${ending}`;
  const changed = [{ id: operation.id, events }];
  const { rows } = await (events.length === 0 ? monitored : withEvents(monitored, eventsText(changed))).execute(db);
  if (rows.length === 0) throw new LeaseLost();
}

/** Ends monitoring. The stored response stays. @throws LeaseLost */
export function stopMonitoring(db: Db | Tx, operation: Leased): Promise<void> {
  const values = { ...over, sealed_plan: null, next_attempt_at: null };
  return requireLease(updateLeased(db, operation).set(values).executeTakeFirst());
}
