import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../../db/kysely.ts';
import type { EhrConnection } from '../../ehr/connection.ts';

/** The right to read the changes of an EHR, held by one process at a time. */
export interface FeedLease {
  readonly emr: string;
  readonly token: string;
  /** Name of the connector, which interprets the cursor. */
  readonly connector: string;
  /** `null`: nothing has been read yet, or another connector has read, whose cursor this one cannot interpret. */
  readonly cursor: string | null;
  /** Every change that was made before this time has been read. */
  readonly caughtUpAt: Date;
  /** When the lease began, by the database's clock. */
  readonly startedAt: Date;
}

/**
 * Takes the lease for a reading that is due. A process that is killed keeps it for `leaseSeconds`. `undefined`: no reading is
 * due, or another process has the lease.
 */
export async function leaseFeed(
  db: Db,
  { id: emr, connector }: Pick<EhrConnection, 'id' | 'connector'>,
  leaseSeconds: number,
): Promise<FeedLease | undefined> {
  const token = randomUUID();
  const take = sql<Pick<FeedLease, 'cursor' | 'caughtUpAt' | 'startedAt'>>`
    UPDATE ehr_change_feeds
    SET lease_token = ${token}, next_read_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
    WHERE emr = (
      SELECT emr FROM ehr_change_feeds WHERE emr = ${emr} AND next_read_at <= clock_timestamp() FOR UPDATE SKIP LOCKED)
    RETURNING CASE WHEN connector = ${connector} THEN cursor END AS cursor, caught_up_at AS "caughtUpAt", clock_timestamp() AS "startedAt"`;
  const taken = async () => (await take.execute(db)).rows[0];
  const row = (await taken()) ?? ((await isNew(db, emr)) ? await taken() : undefined);
  return row && { emr, connector, token, ...row };
}

/** Notes that the EHR is to be read. Returns `false` if that is known. */
async function isNew(db: Db, emr: string): Promise<boolean> {
  const { rows } = await sql`
    INSERT INTO ehr_change_feeds (emr) VALUES (${emr}) ON CONFLICT DO NOTHING RETURNING emr`.execute(db);
  return rows.length > 0;
}

interface Progress {
  readonly next: string;
  readonly hasMore: boolean;
  /** The EHR has an older change that it cannot return yet. */
  readonly heldBackSince?: Date | undefined;
  readonly pauseSeconds: number;
}

/** Stores how far the EHR has been read. Returns `false` if another process has the lease by now. */
export async function advanceFeed(
  db: Db | Tx,
  { emr, connector, token, startedAt }: FeedLease,
  { next, hasMore, heldBackSince = startedAt, pauseSeconds }: Progress,
): Promise<boolean> {
  const caughtUpAt: RawBuilder<Date> = hasMore
    ? sql`caught_up_at`
    : sql`least(${startedAt}::timestamptz, ${heldBackSince}::timestamptz)`;
  const { rows } = await sql`
    UPDATE ehr_change_feeds SET cursor = ${next}, connector = ${connector}, lease_token = NULL, caught_up_at = ${caughtUpAt},
      next_read_at = clock_timestamp() + make_interval(secs => ${hasMore ? 0 : pauseSeconds})
    WHERE emr = ${emr} AND lease_token = ${token} RETURNING emr`.execute(db);
  return rows.length > 0;
}

/** Ends the lease without progress. The next reading is after the pause. */
export async function releaseFeed(db: Db, { emr, token }: FeedLease, pauseSeconds: number): Promise<void> {
  await sql`
    UPDATE ehr_change_feeds
    SET lease_token = NULL, next_read_at = clock_timestamp() + make_interval(secs => ${pauseSeconds})
    WHERE emr = ${emr} AND lease_token = ${token}`.execute(db);
}
