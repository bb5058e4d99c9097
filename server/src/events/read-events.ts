import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import { lastPosition } from './positions.ts';
import { type StoredEvent, storedEventColumns } from './stored-event.ts';

/** Positions that one request reads. Limits the work for a client that may see few of the events. */
const longestReach = 10_000;

/** A client, with the care units whose events it may see, by EHR. */
interface Reader {
  readonly id: string;
  readonly grants: Grants;
}

type Grants = ReadonlyMap<string, ReadonlySet<string>>;

export interface EventPage {
  readonly events: readonly StoredEvent[];
  /** Everything up to this position has been read. */
  readonly reached: number;
  readonly hasMore: boolean;
  /** Events after the given position have been deleted. */
  readonly isTooOld: boolean;
  /** The given position was never assigned: the database was restored to an earlier time. Events would be missed. */
  readonly isTooNew: boolean;
}

/**
 * Reads published events after a position that the reader may see, in order.
 *
 * @param after `undefined`: from the oldest stored event
 */
export async function readEvents(
  db: Db,
  { id: clientId, grants }: Reader,
  after: number | undefined,
  limit: number,
): Promise<EventPage> {
  const { rows } = await sql<{ deleted: number; newest: number; events: readonly JsonEvent[] }>`
    WITH known AS (
      SELECT ${lastPosition('deleted')} AS deleted, ${lastPosition('published')} AS newest),
    reach AS (SELECT coalesce(${after ?? null}::bigint, deleted) AS start FROM known)
    SELECT deleted, newest, coalesce((
      SELECT json_agg(found ORDER BY position) FROM (
        SELECT ${storedEventColumns} FROM events, reach
        WHERE position > start AND position <= start + ${longestReach} AND endpoint_id IS NULL
          AND (client_id IS NULL OR client_id = ${clientId}) AND ${isGranted(grants)}
        ORDER BY position LIMIT ${limit + 1}) AS found), '[]'::json) AS events
    FROM known`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('The database returned no row');
  const { deleted, newest } = row;
  const start = after ?? deleted;
  const events = row.events.slice(0, limit).map((event) => ({ ...event, occurred_at: new Date(event.occurred_at) }));
  const last = row.events.length > limit ? events.at(-1) : undefined;
  const reached = last?.position ?? Math.max(start, Math.min(start + longestReach, newest));
  return { events, reached, hasMore: reached < newest, isTooOld: start < deleted, isTooNew: start > newest };
}

type JsonEvent = Omit<StoredEvent, 'occurred_at'> & { readonly occurred_at: string };

/** A condition on `events`: the event concerns a granted care unit, or an EHR with a granted care unit. */
function isGranted(grants: Grants) {
  const pairs = [...grants].flatMap(([emr, careUnits]) => [...careUnits].map((careUnit) => [emr, careUnit] as const));
  const emrs = pairs.map(([emr]) => emr);
  const careUnits = pairs.map(([, careUnit]) => careUnit);
  return sql<boolean>`(CASE WHEN events.care_unit_id IS NULL THEN events.emr = ANY(${emrs}::text[]) ELSE
    (events.emr, events.care_unit_id) IN (SELECT * FROM unnest(${emrs}::text[], ${careUnits}::text[])) END)`;
}
