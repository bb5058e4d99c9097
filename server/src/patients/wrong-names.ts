import type { Patient } from '@crossward/connector-kit';
import { sql } from 'kysely';
import type { WrongNameMetrics } from '../clients/wrong-name-metrics.ts';
import type { Tx } from '../db/kysely.ts';
import { Problem } from '../problems/problem.ts';
import type { WorkServices } from '../writes/write-kind.ts';
import type { NamedPatient } from './plan.ts';
import { isSamePerson } from './same-person.ts';

/** Wrong names for a patient without a pause. People mistype. */
const free = 5;
/** Seconds. */
const firstPause = 60;
const longestPause = 3600;

interface Check {
  readonly clientId: string;
  readonly emr: string;
  readonly found: Patient;
  readonly named: NamedPatient;
}

/**
 * Compares whom a client names with the patient who has the number, in the transaction that stores the write. Who only has a
 * number could guess the name otherwise. So wrong names are counted by client, EHR and patient: the fifth starts a pause of a
 * minute, and each further one doubles it, up to an hour. In a pause nothing is compared, so that the right name is not told
 * apart from a wrong one. The right name does not reset the count: others may be guessing through the same client. The count is
 * forgotten a day after the last wrong name, with the rows of failed sign-ins.
 *
 * @returns `patient_mismatch` if a wrong name was counted: commit it; or `rate_limited` in a pause
 */
export async function checkName(
  tx: Tx,
  { keys }: Pick<WorkServices, 'keys'>,
  metrics: WrongNameMetrics,
  { clientId, emr, found, named }: Check,
): Promise<Problem | undefined> {
  const [key] = keys.hashes('wrong-name', JSON.stringify([clientId, emr, found.id]));
  // One at a time: otherwise none of many that arrive together would see a pause.
  const name = `wrong names ${key.toString('hex')}`;
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx);
  const wait = await secondsToWait(tx, key);
  if (wait > 0) {
    metrics.refused(emr);
    return new Problem('rate_limited', {
      detail: 'Too many wrong names or birth dates were sent for this patient. Nothing was compared.',
      headers: { 'retry-after': String(wait) },
    });
  }
  if (isSamePerson(found, named)) return undefined;
  await count(tx, key);
  metrics.counted(emr);
  return new Problem('patient_mismatch');
}

async function secondsToWait(tx: Tx, key: Buffer): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    SELECT ceil(extract(epoch FROM paused_until - clock_timestamp()))::int AS seconds
    FROM failed_sign_ins WHERE key_hash = ${key} AND paused_until > clock_timestamp()`.execute(tx);
  return rows[0]?.seconds ?? 0;
}

async function count(tx: Tx, key: Buffer): Promise<void> {
  const isOver = sql`wrong.last_failed_at < clock_timestamp() - interval '1 day'`;
  const failures = sql`CASE WHEN ${isOver} THEN 1 ELSE wrong.failures + 1 END`;
  const pause = sql`make_interval(secs => CASE WHEN ${isOver} OR wrong.failures + 1 < ${free}::integer THEN 0
    ELSE least(${firstPause}::integer * power(2, least(wrong.failures + 1 - ${free}::integer, 20)),
      ${longestPause}::integer) END)`;
  await sql`
    INSERT INTO failed_sign_ins AS wrong (key_hash, failures, paused_until) VALUES (${key}, 1, clock_timestamp())
    ON CONFLICT (key_hash) DO UPDATE SET failures = ${failures}, last_failed_at = clock_timestamp(),
      paused_until = clock_timestamp() + ${pause}`.execute(tx);
}
