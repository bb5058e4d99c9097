import { sql } from 'kysely';
import type { ClientBudgets } from '../config/schema/client-budgets.ts';
import type { Db, Tx } from '../db/kysely.ts';
import type { Channel } from '../db/tables/messages.ts';
import { Problem } from '../problems/problem.ts';

/** Rows over which the messages of a day are spread. */
const slots = 8;
/** Nearer to a budget than this, requests of the client follow each other: as many can be under way at once. */
const margin = 100;
/** Seconds. */
const longestWait = 600;

/** What a write is about to do. */
interface Demand {
  readonly clientId: string;
  /** The write itself does not count. Absent: a dry run. */
  readonly writeId?: string | undefined;
  /** Times that will be held until a code is entered. */
  readonly held: number;
  /** The channel of each code. */
  readonly channels: readonly Channel[];
}

interface Counts {
  readonly held: number;
  readonly sms: number;
  readonly email: number;
  /** Seconds until the first hold expires, and until the day ends. */
  readonly hold_ends: number | null;
  readonly day_ends: number;
}

/**
 * Enforces the budgets of a client. Codes that other open writes are about to send count for both channels, because their
 * plans are encrypted. A lock serialises requests of the client, until the end of the transaction, if a budget is nearly used up.
 *
 * @throws Problem `client_limit_reached`
 */
export async function assertWithinBudgets(tx: Tx, demand: Demand, budgets: ClientBudgets): Promise<void> {
  const sms = demand.channels.filter((channel) => channel === 'sms').length;
  const email = demand.channels.length - sms;
  const wanted = [
    { what: 'held', count: demand.held, budget: budgets.held_times, text: 'holds its maximum number of times' },
    { what: 'sms', count: sms, budget: budgets.sms_per_day, text: 'has sent its maximum number of SMS today (UTC)' },
    {
      what: 'email',
      count: email,
      budget: budgets.emails_per_day,
      text: 'has sent its maximum number of e-mails today (UTC)',
    },
  ] as const;
  const exceeded = (counts: Counts, spare: number) =>
    wanted.find(({ what, count, budget }) => count > 0 && counts[what] + count + spare > budget);
  if (!exceeded(await countAll(tx, demand, budgets), margin)) return;
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`client ${demand.clientId}`}, 0))`.execute(tx);
  const counts = await countAll(tx, demand, budgets);
  const found = exceeded(counts, 0);
  if (!found) return;
  const seconds = found.what === 'held' ? Math.min(counts.hold_ends ?? 60, longestWait) : counts.day_ends;
  throw new Problem('client_limit_reached', {
    detail: `The client ${found.text}: ${found.budget}.`,
    headers: { 'retry-after': String(Math.max(1, Math.ceil(seconds))) },
  });
}

async function countAll(tx: Tx, { clientId, writeId }: Demand, budgets: ClientBudgets): Promise<Counts> {
  const { rows } = await sql<Counts>`
    WITH making AS (
      SELECT coalesce(sum(cardinality(patient_hashes)), 0)::int AS codes FROM operations
      WHERE client_id = ${clientId} AND state = 'pending' AND patient_hashes <> '{}' AND suspended_at IS NULL
        AND expires_at > now() AND id IS DISTINCT FROM ${writeId ?? null}::uuid),
    held AS (
      SELECT confirmation.expires_at FROM confirmations AS confirmation
      JOIN confirmation_items AS item ON item.confirmation_id = confirmation.id
      WHERE confirmation.client_id = ${clientId} AND confirmation.purged_at IS NULL
        AND confirmation.expires_at > clock_timestamp()
        AND item.kind = 'booking' AND item.state IN ('pending', 'confirming')
      ORDER BY confirmation.expires_at LIMIT ${budgets.held_times}),
    sent AS (
      SELECT channel, sum(sent)::int AS sent FROM client_messages
      WHERE client_id = ${clientId} AND day = (clock_timestamp() AT TIME ZONE 'UTC')::date GROUP BY channel)
    SELECT
      making.codes + (SELECT count(*) FROM held)::int AS held,
      making.codes + coalesce((SELECT sent FROM sent WHERE channel = 'sms'), 0) AS sms,
      making.codes + coalesce((SELECT sent FROM sent WHERE channel = 'email'), 0) AS email,
      (SELECT extract(epoch FROM min(expires_at) - clock_timestamp())::float8 FROM held) AS hold_ends,
      (86400 - mod(extract(epoch FROM clock_timestamp()), 86400))::float8 AS day_ends
    FROM making`.execute(tx);
  const [counts] = rows;
  if (!counts) throw new Error('No counts');
  return counts;
}

/** Counts a code that is queued, in the transaction that queues it. */
export async function countMessage(tx: Tx, clientId: string, channel: Channel): Promise<void> {
  await sql`
    INSERT INTO client_messages AS counted (client_id, channel, day, slot, sent)
    VALUES (${clientId}, ${channel}, (clock_timestamp() AT TIME ZONE 'UTC')::date, floor(random() * ${slots})::smallint, 1)
    ON CONFLICT (client_id, channel, day, slot) DO UPDATE SET sent = counted.sent + 1`.execute(tx);
}

/** Deletes the counts of earlier days, at most `limit`. */
export async function deleteOldCounts(db: Db, limit: number): Promise<void> {
  await sql`
    DELETE FROM client_messages WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM client_messages WHERE day < (now() AT TIME ZONE 'UTC')::date - 1 LIMIT ${limit}))`.execute(db);
}
