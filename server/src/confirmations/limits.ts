import { sql } from 'kysely';
import type { Tx } from '../db/kysely.ts';
import { Problem } from '../problems/problem.ts';
import type { KeyRing } from '../secrets/key-ring.ts';

export interface PatientLimits {
  readonly pending: number;
  readonly codesPerHour: number;
}

/** What a patient is known by in the gateway's own tables: a keyed hash, the newest secret key's first. */
export function patientHashes(keys: KeyRing, emr: string, patientId: string): [Buffer, ...Buffer[]] {
  return keys.hashes('patient', `${emr} ${patientId}`);
}

/**
 * Refuses one code too many. Requests for one patient follow one another from here to the end of the transaction, so
 * that none of them counts without the others; a code that another request is about to send counts already.
 *
 * @throws Problem `patient_limit_reached`
 */
export async function assertWithinLimits(
  tx: Tx,
  hashes: readonly [Buffer, ...Buffer[]],
  limits: PatientLimits,
  counting: 'new confirmation' | 'fresh code' = 'new confirmation',
): Promise<void> {
  const [newest] = hashes;
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`patient ${newest.toString('hex')}`}, 0))`.execute(tx);
  const known = sql.join(hashes.map((hash) => sql`${hash}`));
  const { rows } = await sql<{ pending: number; codes: number }>`
    WITH intended AS (SELECT count(*) AS n FROM writes WHERE patient_hashes && ARRAY[${known}]::bytea[])
    SELECT
      (SELECT count(*) FROM confirmations AS confirmation
        WHERE confirmation.patient_hash IN (${known}) AND confirmation.expires_at > clock_timestamp()
          AND EXISTS (SELECT 1 FROM confirmation_items AS item
            WHERE item.confirmation_id = confirmation.id AND item.state IN ('pending', 'confirming')))
        + (SELECT n FROM intended) AS pending,
      (SELECT count(*) FROM messages JOIN confirmations AS confirmation ON confirmation.id = messages.confirmation_id
        WHERE confirmation.patient_hash IN (${known}) AND messages.created_at > clock_timestamp() - interval '1 hour')
        + (SELECT n FROM intended) AS codes`.execute(tx);
  const count = rows[0] ?? { pending: 0, codes: 0 };
  const isTooMany =
    count.codes >= limits.codesPerHour || (counting === 'new confirmation' && count.pending >= limits.pending);
  if (isTooMany) throw new Problem('patient_limit_reached', { headers: { 'retry-after': '60' } });
}
