import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Static } from 'typebox';
import type { Db, Tx } from '../../db/kysely.ts';
import type { NewEvent } from '../../events/new-event.ts';
import { eventsText, withEvents } from '../../events/write-events.ts';
import { isUuid } from '../../identifiers/uuid.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import type { watchedSearch } from './contract.ts';
import type { Seen } from './seen.ts';

/** Watches that a client can have. */
export const mostWatches = 100;
/** Between two looks of a watch, and so between two of its events. */
const pause = sql`interval '1 minute'`;

export type WatchedSearch = Static<typeof watchedSearch>;

/** What is sealed: a resource can be named by a number of its own, and what a reference means is up to the client. */
interface Sealed {
  readonly search: WatchedSearch;
  readonly reference: string | null;
}

export interface Watch {
  /** `null`: it was sealed under a key that is lost, so that nobody looks. */
  readonly search: WatchedSearch | null;
  readonly reference: string | null;
  readonly id: string;
  readonly clientId: string;
  readonly endsAt: Date;
  readonly createdAt: Date;
  readonly lookedAt: Date | null;
  readonly foundAt: Date | null;
}

interface Row extends Omit<Watch, keyof Sealed> {
  readonly sealed: Buffer;
}

const columns = sql`id, client_id AS "clientId", sealed_search AS sealed, ends_at AS "endsAt", created_at AS "createdAt",
  looked_at AS "lookedAt", found_at AS "foundAt"`;

const contextOf = ({ id, clientId }: Pick<Watch, 'id' | 'clientId'>) => `timeslot watch ${id} of ${clientId}`;

function seal(keys: KeyRing, watch: Pick<Watch, 'id' | 'clientId'> & Sealed): Buffer {
  const { search, reference } = watch;
  return keys.seal('watch', JSON.stringify({ search, reference } satisfies Sealed), contextOf(watch));
}

function open<Its extends Row>(keys: KeyRing, { sealed, ...row }: Its): Omit<Its, 'sealed'> & Nullable<Sealed> {
  const text = keys.open('watch', sealed, contextOf(row));
  const opened: Nullable<Sealed> =
    text === undefined ? { search: null, reference: null } : (JSON.parse(text) as Sealed);
  return { ...row, ...opened };
}

type Nullable<Its> = { readonly [Name in keyof Its]: Its[Name] | null };

/** Watches that nobody can look for do not count. */
async function hasRoom(tx: Tx, keys: KeyRing, clientId: string): Promise<boolean> {
  const { rows } = await sql<Row>`
    SELECT ${columns} FROM timeslot_watches WHERE client_id = ${clientId} AND ends_at > now()`.execute(tx);
  return rows.filter((row) => open(keys, row).search !== null).length < mostWatches;
}

/** Returns `undefined` if the client has as many as it can have. */
export async function insertWatch(
  tx: Tx,
  keys: KeyRing,
  { endsAt, ...watch }: Pick<Watch, 'clientId' | 'endsAt'> & Sealed,
): Promise<Watch | undefined> {
  const { clientId } = watch;
  const id = randomUUID();
  // Two requests at once could otherwise exceed the limit.
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`timeslot watches ${clientId}`}, 0))`.execute(tx);
  if (!(await hasRoom(tx, keys, clientId))) return undefined;
  const { rows } = await sql<Row>`
    INSERT INTO timeslot_watches (id, client_id, sealed_search, ends_at)
    VALUES (${id}::uuid, ${clientId}, ${seal(keys, { ...watch, id })}, ${endsAt})
    RETURNING ${columns}`.execute(tx);
  return rows[0] && open(keys, rows[0]);
}

/** Watches of a client that have not ended, sorted by id. */
export async function listWatches(
  db: Db,
  keys: KeyRing,
  clientId: string,
  after: string | undefined,
  limit: number,
): Promise<readonly Watch[]> {
  const { rows } = await sql<Row>`
    SELECT ${columns} FROM timeslot_watches
    WHERE client_id = ${clientId} AND ends_at > now() AND id > ${after ?? '00000000-0000-0000-0000-000000000000'}::uuid
    ORDER BY id LIMIT ${limit}`.execute(db);
  return rows.map((row) => open(keys, row));
}

/** `undefined`: the client has none with this id that has not ended. */
export async function findWatch(db: Db | Tx, keys: KeyRing, clientId: string, id: string): Promise<Watch | undefined> {
  if (!isUuid(id)) return undefined;
  const { rows } = await sql<Row>`
    SELECT ${columns} FROM timeslot_watches WHERE id = ${id} AND client_id = ${clientId} AND ends_at > now()`.execute(
    db,
  );
  return rows[0] && open(keys, rows[0]);
}

/** Returns whether the client had it. */
export async function deleteWatch(tx: Tx, clientId: string, id: string): Promise<boolean> {
  if (!isUuid(id)) return false;
  const { numAffectedRows } = await sql`
    DELETE FROM timeslot_watches WHERE id = ${id} AND client_id = ${clientId} AND ends_at > now()`.execute(tx);
  return numAffectedRows === 1n;
}

/** A condition on `timeslot_watches`. */
export const isDueToLook = sql<boolean>`next_look_at <= now() AND ends_at > now()`;

/** A watch for which this process looks. */
export interface Look extends Watch {
  readonly search: WatchedSearch;
  readonly number: number;
  readonly seen: Seen;
  readonly isUnderNewest: boolean;
}

/**
 * Takes a watch that is due, if there is one. Another process takes it when a minute has passed.
 *
 * @param turns ids of clients in the order of their last turns in this process, which it changes: clients take turns, so that the
 * many watches of one hold up no other
 */
export async function claimLook(db: Db, keys: KeyRing, turns: Set<string>): Promise<'none' | 'unreadable' | Look> {
  const { rows } = await sql<Row & Pick<Look, 'number' | 'seen'>>`
    UPDATE timeslot_watches SET looks = looks + 1, next_look_at = now() + ${pause}
    WHERE id = (
      SELECT id FROM timeslot_watches WHERE ${isDueToLook}
      ORDER BY array_position(${[...turns]}::text[], client_id) NULLS FIRST, next_look_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING ${columns}, looks AS number, seen`.execute(db);
  const [row] = rows;
  if (!row) return 'none';
  turns.delete(row.clientId);
  turns.add(row.clientId);
  const { search, ...watch } = open(keys, row);
  if (search) return { ...watch, search, isUnderNewest: keys.isUnderNewest(row.sealed) };
  await sql`
    UPDATE timeslot_watches SET next_look_at = now() + interval '1 hour'
    WHERE id = ${row.id} AND looks = ${row.number}`.execute(db);
  return 'unreadable';
}

/** Stores what a look has seen with the event of what it has found, unless it was overtaken or the watch has ended. */
export async function endLook(
  db: Db,
  keys: KeyRing,
  look: Look,
  seen: Seen,
  event: NewEvent | undefined,
): Promise<void> {
  const sealed = look.isUnderNewest ? sql`sealed_search` : sql`${seal(keys, look)}`;
  const update = sql<{ id: string; began_at: Date }>`
    UPDATE timeslot_watches SET seen = ${JSON.stringify(seen)}::json, sealed_search = ${sealed}, looked_at = now(),
      next_look_at = now() + ${pause}, found_at = CASE WHEN ${event !== undefined} THEN now() ELSE found_at END
    WHERE id = ${look.id} AND looks = ${look.number}
    RETURNING id, clock_timestamp() AS began_at`;
  await withEvents(update, eventsText([{ id: look.id, events: event ? [event] : [] }])).execute(db);
}

/** Deletes watches that have ended, at most `limit`. Returns whether there may be more. */
export async function deleteEndedWatches(db: Db, limit: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    DELETE FROM timeslot_watches WHERE id IN (
      SELECT id FROM timeslot_watches WHERE ends_at <= now() ORDER BY ends_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)`.execute(
    db,
  );
  return Number(numAffectedRows) === limit;
}
