import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import { statement } from '../db/statement.ts';
import type { Tables } from '../db/tables/index.ts';
import type { NewEvent } from '../events/new-event.ts';
import { eventsText, withEvents } from '../events/write-events.ts';
import { LeaseLost } from './errors.ts';
import { leaseEnd, released, requireLease, updateLeased } from './lease.ts';
import type { Leased } from './stored-operation.ts';

/** Column values of an ended operation. */
const ended = { state: 'done' as const, patient_hashes: [], consecutive_failures: 0, suspended_at: null };
const over = { ...released, ...ended };

/**
 * Declares a statement that ends an operation under its lease and returns its `id`. Its events are written by the same
 * statement. The function throws LeaseLost.
 */
function ending<Input extends object>(build: (db: Kysely<Tables>, input: Input) => RawBuilder<{ id: string }>) {
  const alone = statement(build);
  const reporting = statement((db, input: Input & { readonly events: string }) =>
    withEvents(build(db, input), input.events),
  );
  return async (db: Db | Tx, input: Input, events: readonly NewEvent[] = []): Promise<void> => {
    const { rows } = await (events.length === 0
      ? alone(db, input)
      : reporting(db, { ...input, events: eventsText(events) }));
    if (rows.length === 0) throw new LeaseLost();
  };
}

type Lease = Pick<Leased, 'id' | 'token'>;

/**
 * Ends an operation. With a key its response is stored; without one its row is deleted.
 *
 * @throws LeaseLost
 */
export async function storeResponse(
  db: Db | Tx,
  operation: Leased,
  sealedResponse: Buffer | undefined,
  events?: readonly NewEvent[],
): Promise<void> {
  if (sealedResponse === undefined) return removeOperation(db, operation, events);
  await updateResponse(db, { ...operation, sealedResponse }, events);
}

const updateResponse = ending((db, input: Lease & { readonly sealedResponse: Buffer }) => {
  const values = { ...over, sealed_plan: null, sealed_response: input.sealedResponse, next_attempt_at: null };
  return sql`${updateLeased(db, input).set(values).returning('id')}`;
});

/** @throws LeaseLost */
export const removeOperation = ending(
  (_db, { id, token }: Lease) => sql`DELETE FROM operations WHERE id = ${id} AND lease_token = ${token} RETURNING id`,
);

/** Like `removeOperation`, but the commit does not wait for the disk. @throws LeaseLost */
export const removeWithoutSync = ending(
  (_db, { id, token }: Lease) => sql`
    WITH relaxed AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
    DELETE FROM operations USING relaxed WHERE id = ${id} AND lease_token = ${token} RETURNING id`,
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
  const monitored = sql<{ id: string }>`${updateLeased(db, operation).set(values).returning('id')}`;
  const { rows } = await (events.length === 0 ? monitored : withEvents(monitored, eventsText(events))).execute(db);
  if (rows.length === 0) throw new LeaseLost();
}

/** Ends monitoring. The stored response stays. */
export async function stopMonitoring(db: Db | Tx, operation: Leased): Promise<void> {
  await updateLeased(db, operation)
    .set({ ...over, sealed_plan: null, next_attempt_at: null })
    .execute();
}
