import type { Database } from '../../server/src/db/database.ts';

/**
 * Fills the history of the three sandboxes from an instant until now: bookings by day, few at night; an outage of one EHR; a
 * night without any gateway.
 */
export async function insertHistory({ pool }: Pick<Database, 'pool'>, from: Date): Promise<void> {
  const quarters = `generate_series(date_bin('15 minutes', $1::timestamptz, '2000-01-01 00:00Z'),
    now() - interval '15 minutes', interval '15 minutes') AS it (quarter)`;
  // 0 at midnight, 1 at noon; less at weekends. Rounded by the number of the quarter, so that every run has the same.
  const busy = `((1 - cos(extract(epoch FROM quarter) / 86400 * 2 * pi())) / 2
    * CASE WHEN extract(isodow FROM quarter) > 5 THEN 0.2 ELSE 1 END)`;
  const isAway = `quarter BETWEEN now() - interval '14 hours' AND now() - interval '11 hours'`;
  const client = await pool.connect();
  try {
    await client.query(
      `
    INSERT INTO history_counts (quarter, kind, count)
    SELECT quarter, kind, count FROM (
      SELECT quarter, kind, round(${busy} * most + (extract(epoch FROM quarter)::bigint / 900 * 7 % 5) * most / 12.0)::integer AS count
      FROM ${quarters}, (VALUES ('booked', 14), ('moved', 3), ('cancelled', 2), ('code_sent', 9), ('code_confirmed', 8),
        ('message_failed', 0.3), ('delivered', 30), ('delivery_failed', 0.6)) AS kinds (kind, most)) AS counted
    WHERE count > 0 AND NOT ${isAway}`,
      [from],
    );
    await client.query('UPDATE history_progress SET counted_until = now()');
    await client.query(
      `
    INSERT INTO ehr_history (quarter, emr, process, running, known, unavailable, calls, failures, latencies)
    SELECT quarter, emr, process, 32767, CASE WHEN emr = 'sandbox-uk' AND quarter < now() - interval '20 hours' THEN 0 ELSE 32767 END,
      CASE WHEN is_out THEN 4095 ELSE 0 END, calls, CASE WHEN is_out THEN calls / 2 ELSE calls / 40 END,
      array_fill(0, ARRAY[size - 1]) || calls * 9 / 10 || array_fill(0, ARRAY[5]) || calls / 10 || array_fill(0, ARRAY[25 - size])
    FROM (
      SELECT quarter, emr, process, round(${busy} * 60)::integer AS calls,
        emr = 'sandbox-se' AND quarter BETWEEN now() - interval '5 hours' AND now() - interval '3 hours' AS is_out,
        5 + (extract(epoch FROM quarter)::bigint / 900 % 4)::integer + CASE emr WHEN 'sandbox-se' THEN 4 ELSE 0 END AS size
      FROM ${quarters}, (VALUES ('sandbox-no'), ('sandbox-se'), ('sandbox-uk')) AS emrs (emr),
        (VALUES (gen_random_uuid()), (gen_random_uuid())) AS processes (process)) AS seen
    WHERE NOT ${isAway}`,
      [from],
    );
  } finally {
    client.release();
  }
}
