import { sql } from 'kysely';
import type { ClientBudgets } from '../config/schema/client-budgets.ts';
import type { Db } from '../db/kysely.ts';
import { withinTime } from '../db/time-limit.ts';
import type { ClientRegistry } from './client-registry.ts';

/** The part of the limit that a process takes at least. Up to this part can stay unused in each process. */
const smallestPart = 0.005;
/** The part of what is left that a process takes at most, so that batches get small near the limit. */
const largestPart = 0.1;
/** Milliseconds of requests in a batch, and the shortest time by which their rate is measured. */
const ahead = 1_000;
const shortest = 100;
const minute = 60_000;
/** Milliseconds to wait for the database, and before it is asked again. */
const timeoutMs = 2_000;
const untilNextTry = 5_000;

/** Whether a request may pass, with the values of the fields `RateLimit-*`. */
export interface Counted {
  readonly isAllowed: boolean;
  readonly limit: number;
  /** Requests that the client may still send, as far as this process knows. */
  readonly remaining: number;
  /** Seconds until the minute ends. */
  readonly reset: number;
}

/** Counts a request of a client: at once while the process has requests of its batch left. */
export type CountRequest = (clientId: string) => Counted | Promise<Counted>;

/** What a process may use of the requests of a client. Times are those of `performance.now()`. */
interface Share {
  /** When the minute ends. */
  until: number;
  /** Requests of the batch that are left. */
  left: number;
  /** Requests that no process had taken when this one took its batch. */
  untaken: number;
  /** Requests of this process in the minute. */
  inMinute: number;
  /** Requests since the batch was taken, and when that was. */
  used: number;
  takenAt: number;
  batch: number;
  /** Requests that wait for a batch. */
  waiting: number;
  taking: Promise<void> | undefined;
  /** The database does not respond: this process counts alone. `requests`: those that the others do not know of. */
  alone: { readonly nextTry: number; requests: number } | undefined;
}

interface Batch {
  readonly batch: number;
  readonly taken: number;
  readonly seconds: number;
}

/**
 * Limits the requests of each client in each minute by the clock of the database, for all processes together. A process takes
 * requests in batches of some second, which get smaller near the limit, so the sum never exceeds the limit. While the database
 * does not respond, each process has the whole limit for itself.
 */
export function createRequestBudget(db: Db, limit: number): CountRequest {
  const shares = new Map<string, Share>();
  const least = Math.max(1, Math.floor(limit * smallestPart));

  function shareOf(clientId: string, now: number): Share {
    const known = shares.get(clientId);
    if (known && (now < known.until || known.taking)) return known;
    const fresh: Share = {
      until: now + minute,
      left: 0,
      untaken: limit,
      inMinute: 0,
      used: known?.used ?? 0,
      takenAt: known?.takenAt ?? now,
      batch: 0,
      waiting: 0,
      taking: undefined,
      alone: known?.alone && { nextTry: known.alone.nextTry, requests: 0 },
    };
    if (fresh.alone) fresh.left = limit;
    shares.set(clientId, fresh);
    return fresh;
  }

  function take(clientId: string, share: Share): Promise<void> {
    const now = performance.now();
    const perMillisecond = share.used / Math.max(now - share.takenAt, shortest);
    const wanted = Math.max(least, Math.ceil(perMillisecond * ahead), share.waiting);
    const reported = share.alone?.requests ?? 0;
    share.taking = withinTime(takeBatch(db, { clientId, limit, wanted, used: reported }), timeoutMs)
      .then(
        ({ batch, taken, seconds }) => {
          const at = performance.now();
          const isSameMinute = Math.abs(at + seconds * 1000 - share.until) < minute / 2;
          share.left = batch + (isSameMinute && !share.alone ? share.left : 0);
          share.untaken = limit - taken;
          Object.assign(share, { until: at + seconds * 1000, used: 0, takenAt: at, batch, alone: undefined });
        },
        () => {
          const requests = share.alone?.requests ?? 0;
          if (!share.alone) share.left = Math.max(0, limit - share.inMinute);
          share.alone = { nextTry: performance.now() + untilNextTry, requests };
        },
      )
      .finally(() => {
        share.taking = undefined;
      });
    return share.taking;
  }

  function use(share: Share, now: number): Counted {
    share.left--;
    share.used++;
    share.inMinute++;
    if (share.alone) share.alone.requests++;
    return counted(share, now, true);
  }

  function counted(share: Share, now: number, isAllowed: boolean): Counted {
    const remaining = isAllowed ? share.left + (share.alone ? 0 : share.untaken) : 0;
    return { isAllowed, limit, remaining, reset: Math.max(1, Math.ceil((share.until - now) / 1000)) };
  }

  async function wait(clientId: string, share: Share): Promise<Counted> {
    share.waiting++;
    try {
      await (share.taking ?? take(clientId, share));
    } finally {
      share.waiting--;
    }
    return count(clientId);
  }

  function count(clientId: string): Counted | Promise<Counted> {
    const now = performance.now();
    const share = shareOf(clientId, now);
    const { alone, taking, untaken } = share;
    if (share.left > 0) {
      const isLow = alone ? now > alone.nextTry : share.left * 2 <= share.batch && untaken > 0;
      if (isLow && !taking) void take(clientId, share);
      return use(share, now);
    }
    if (now < share.until && (alone || untaken <= 0)) return counted(share, now, false);
    return wait(clientId, share);
  }

  return count;
}

/** Takes a batch of requests, and reports those that were made without one. */
async function takeBatch(
  db: Db,
  {
    clientId,
    limit,
    wanted,
    used,
  }: { readonly clientId: string; readonly limit: number; readonly wanted: number; readonly used: number },
): Promise<Batch> {
  const before = sql`(CASE WHEN known.minute < excluded.minute THEN 0 ELSE known.taken END + ${used}::integer)`;
  const batchAfter = (taken: typeof before) => sql`
    greatest(0, least(${wanted}::integer, ${limit}::integer - ${taken},
      greatest(1, ceil((${limit}::integer - ${taken}) * ${largestPart}::float8)::integer)))`;
  const first = batchAfter(sql`${used}::integer`);
  const { rows } = await sql<Batch>`
    INSERT INTO client_requests AS known (client_id, minute, taken, batch)
    VALUES (${clientId}, floor(extract(epoch FROM clock_timestamp()) / 60), ${used}::integer + ${first}, ${first})
    ON CONFLICT (client_id) DO UPDATE SET
      minute = greatest(known.minute, excluded.minute),
      taken = ${before} + ${batchAfter(before)},
      batch = ${batchAfter(before)}
    RETURNING batch, least(taken, ${limit}::integer) AS taken,
      ((minute + 1) * 60 - extract(epoch FROM clock_timestamp()))::float8 AS seconds`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('No batch');
  return row;
}

/** The budgets of a client, also of one that is gone. */
export function budgetsOf(
  general: ClientBudgets,
  clients: Pick<ClientRegistry, 'find'>,
): (clientId: string) => ClientBudgets {
  return (clientId) => ({ ...general, ...clients.find(clientId)?.budgets });
}
