import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../../db/kysely.ts';
import type { RateExchange, RateReport } from './rate-exchange.ts';
import { rateGrowth } from './rate-growth.ts';

const { calmSeconds, forgottenSeconds, least, most, stepSeconds } = rateGrowth;
const forgotten = sql`make_interval(secs => ${forgottenSeconds})`;
const step = sql`make_interval(secs => ${stepSeconds})`;
const calm = sql`make_interval(secs => ${calmSeconds})`;
/** A process that has not reported for this long sends nothing. */
const silence = sql`interval '3 seconds'`;
/** Requests per second. A process that wants little still gets a part. */
const leastDemand = 1;

/**
 * The rate of an EHR is a row that all processes share. Each divides it by what they all want to send, so that there is no
 * statement for a request.
 *
 * @returns an exchange for one process and one EHR. It rejects with the errors of the database
 */
export function sharedRate(db: Db, emr: string): RateExchange {
  const process = randomUUID();
  return async ({ demand, isWaiting, slowdown }) => {
    if (slowdown) await slowDown(db, emr, slowdown);
    const own = Math.max(leastDemand, demand);
    const { rows } = await sql<{ rate: number | null; pause: number | null; others: number }>`
      WITH own AS (
        INSERT INTO ehr_rate_demands (emr, process, requests_per_second) VALUES (${emr}, ${process}, ${own})
        ON CONFLICT (emr, process) DO UPDATE
          SET requests_per_second = excluded.requests_per_second, reported_at = excluded.reported_at),
      gone AS (DELETE FROM ehr_rate_demands WHERE emr = ${emr} AND reported_at < now() - interval '1 hour'),
      raised AS (
        UPDATE ehr_rates SET raised_at = now(), requests_per_second = requests_per_second * (1 + growth),
          growth = least(${most}, growth * 2)
        WHERE emr = ${emr} AND ${isWaiting} AND raised_at < now() - ${step} AND slowed_at > now() - ${forgotten}
          AND paused_until + greatest(${calm}, paused_until - slowed_at) < now()
        RETURNING requests_per_second)
      SELECT
        coalesce((SELECT requests_per_second FROM raised), current.requests_per_second) AS rate,
        extract(epoch FROM current.paused_until - now())::float8 AS pause,
        (SELECT coalesce(sum(requests_per_second), 0)::float8 FROM ehr_rate_demands
          WHERE emr = ${emr} AND process <> ${process} AND reported_at > now() - ${silence}) AS others
      FROM (SELECT) AS one
      LEFT JOIN ehr_rates AS current ON current.emr = ${emr} AND current.slowed_at > now() - ${forgotten}`.execute(db);
    const [{ rate = null, pause = null, others = 0 } = {}] = rows;
    return { rate: rate ?? undefined, share: own / (own + others), pauseSeconds: Math.max(0, pause ?? 0) };
  };
}

/**
 * Several processes notice a limit at once. Those that started from the shared rate have each reduced it, so the lowest one
 * counts. Those that knew of no limit each know only what they have sent themselves: together they have sent the sum.
 */
async function slowDown(
  db: Db,
  emr: string,
  { rate, isShared, pauseSeconds }: NonNullable<RateReport['slowdown']>,
): Promise<void> {
  await sql`
    INSERT INTO ehr_rates AS current (emr, requests_per_second, growth, paused_until)
    VALUES (${emr}, ${rate}, ${least}, now() + make_interval(secs => ${pauseSeconds}))
    ON CONFLICT (emr) DO UPDATE SET
      requests_per_second = CASE
        WHEN current.slowed_at < now() - ${forgotten} THEN excluded.requests_per_second
        WHEN ${isShared} THEN least(current.requests_per_second, excluded.requests_per_second)
        WHEN current.slowed_at > now() - ${step} THEN current.requests_per_second + excluded.requests_per_second
        ELSE current.requests_per_second END,
      growth = ${least},
      slowed_at = now(),
      paused_until = greatest(current.paused_until, excluded.paused_until)`.execute(db);
}
