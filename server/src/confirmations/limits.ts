import { sql } from 'kysely';
import type { ClientBudgets } from '../config/schema/client-budgets.ts';
import type { PatientLimits } from '../config/schema/policies.ts';
import type { Db, Tx } from '../db/kysely.ts';
import type { Channel } from '../db/tables/messages.ts';
import { Problem } from '../problems/problem.ts';

interface PatientDemand {
  readonly clientId: string;
  /** The write that will send the code. It does not count. Absent: a dry run. */
  readonly writeId?: string | undefined;
  /** A new code for a confirmation that counts already. */
  readonly isResend: boolean;
  /** Hashes of the patient. */
  readonly hashes: readonly [Buffer, ...Buffer[]];
}

/** The limit for all clients together, as a multiple of one client's limit. */
const sharesInAll = 3;

/**
 * Enforces the limits on codes for a patient. Each client has its own limit, so that it cannot use up another client's. All
 * clients together have three times that limit. A lock serialises requests for one patient until the end of the
 * transaction. Codes that another open write is about to send count too.
 *
 * @throws Problem `patient_limit_reached`
 */
export async function assertWithinLimits(
  tx: Tx,
  { clientId, writeId, isResend, hashes }: PatientDemand,
  limits: PatientLimits,
): Promise<void> {
  const [newest] = hashes;
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`patient ${newest.toString('hex')}`}, 0))`.execute(tx);
  const known = sql.join(hashes.map((hash) => sql`${hash}`));
  const { rows } = await sql<PatientCount>`
    SELECT client_id = ${clientId} AS is_own, count(*) FILTER (WHERE waits) AS pending, count(*) FILTER (WHERE is_sent) AS codes
    FROM (
      SELECT client_id, true AS waits, true AS is_sent FROM operations
        WHERE state = 'pending' AND patient_hashes <> '{}' AND patient_hashes && ARRAY[${known}]::bytea[]
          AND suspended_at IS NULL AND expires_at > now() AND id IS DISTINCT FROM ${writeId ?? null}::uuid
      UNION ALL
      SELECT client_id, true, false FROM confirmations AS confirmation
        WHERE confirmation.patient_hash IN (${known}) AND confirmation.expires_at > clock_timestamp()
          AND EXISTS (SELECT 1 FROM confirmation_items AS item
            WHERE item.confirmation_id = confirmation.id AND item.state IN ('pending', 'confirming'))
      UNION ALL
      SELECT client_id, false, true
        FROM messages JOIN confirmations AS confirmation ON confirmation.id = messages.confirmation_id
        WHERE confirmation.patient_hash IN (${known}) AND messages.created_at > clock_timestamp() - interval '1 hour'
    ) AS counted
    GROUP BY is_own`.execute(tx);
  const isFull = (of: readonly PatientCount[], shares: number) =>
    sum(of, 'codes') >= limits.codesPerHour * shares || (!isResend && sum(of, 'pending') >= limits.pending * shares);
  const own = rows.filter(({ is_own }) => is_own);
  if (isFull(own, 1) || isFull(rows, sharesInAll)) {
    throw new Problem('patient_limit_reached', { headers: { 'retry-after': '60' } });
  }
}

interface PatientCount {
  readonly is_own: boolean;
  readonly pending: number;
  readonly codes: number;
}

function sum(counts: readonly PatientCount[], what: 'pending' | 'codes'): number {
  return counts.reduce((total, count) => total + count[what], 0);
}

/** Rows over which the messages of a day are spread. */
const slots = 8;
/** Nearer to a budget than this, requests of the client follow each other: as many can be under way at once. */
const margin = 100;
/** Seconds. */
const longestWait = 600;

/** What a write is about to do. */
interface ClientDemand {
  readonly clientId: string;
  /** The write itself does not count. Absent: a dry run. */
  readonly writeId?: string | undefined;
  /** Times that will be held until a code is entered. */
  readonly held: number;
  /** The channel of each code. */
  readonly channels: readonly Channel[];
}

interface ClientCounts {
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
export async function assertWithinBudgets(tx: Tx, demand: ClientDemand, budgets: ClientBudgets): Promise<void> {
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
  const exceeded = (counts: ClientCounts, spare: number) =>
    wanted.find(({ what, count, budget }) => count > 0 && counts[what] + count + spare > budget);
  if (!exceeded(await countOfClient(tx, demand, budgets), margin)) return;
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`client ${demand.clientId}`}, 0))`.execute(tx);
  const counts = await countOfClient(tx, demand, budgets);
  const found = exceeded(counts, 0);
  if (!found) return;
  const seconds = found.what === 'held' ? Math.min(counts.hold_ends ?? 60, longestWait) : counts.day_ends;
  throw new Problem('client_limit_reached', {
    detail: `The client ${found.text}: ${found.budget}.`,
    headers: { 'retry-after': String(Math.max(1, Math.ceil(seconds))) },
  });
}

async function countOfClient(
  tx: Tx,
  { clientId, writeId }: ClientDemand,
  budgets: ClientBudgets,
): Promise<ClientCounts> {
  const { rows } = await sql<ClientCounts>`
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

/** ClientCounts a code that is queued, in the transaction that queues it. */
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
