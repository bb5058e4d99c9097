import { sql } from 'kysely';
import type { PatientLimits } from '../config/policies.ts';
import type { Tx } from '../db/kysely.ts';
import { Problem } from '../problems/problem.ts';
import type { KeyRing } from '../secrets/key-ring.ts';

/** What a patient is known by in the gateway's own tables: a keyed hash, the newest secret key's first. */
export function patientHashes(keys: KeyRing, emr: string, patientId: string): [Buffer, ...Buffer[]] {
  return keys.hashes('patient', `${emr} ${patientId}`);
}

interface Asking {
  readonly clientId: string;
  /** What the patient is known by. */
  readonly hashes: readonly [Buffer, ...Buffer[]];
}

/** How many clients' shares a patient is asked for and sent by all clients together. */
const sharesInAll = 3;

/**
 * Refuses one code too many. Each client has a share of its own for a patient, so that none uses up what another needs;
 * all together have three. Requests for one patient follow one another from here to the end of the transaction, so that
 * none of them counts without the others; a code that another request is about to send counts already.
 *
 * @throws Problem `patient_limit_reached`
 */
export async function assertWithinLimits(
  tx: Tx,
  { clientId, hashes }: Asking,
  limits: PatientLimits,
  counting: 'new confirmation' | 'fresh code' = 'new confirmation',
): Promise<void> {
  const [newest] = hashes;
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`patient ${newest.toString('hex')}`}, 0))`.execute(tx);
  const known = sql.join(hashes.map((hash) => sql`${hash}`));
  const { rows } = await sql<Count>`
    SELECT client_id = ${clientId} AS is_own, count(*) FILTER (WHERE waits) AS pending, count(*) FILTER (WHERE is_sent) AS codes
    FROM (
      SELECT client_id, true AS waits, true AS is_sent FROM operations
        WHERE state = 'pending' AND patient_hashes <> '{}' AND patient_hashes && ARRAY[${known}]::bytea[]
          AND suspended_at IS NULL AND expires_at > now()
      UNION ALL
      SELECT client_id, true, false FROM confirmations AS confirmation
        WHERE confirmation.patient_hash IN (${known}) AND confirmation.expires_at > clock_timestamp()
          AND EXISTS (SELECT 1 FROM confirmation_items AS item
            WHERE item.confirmation_id = confirmation.id AND item.state IN ('pending', 'confirming'))
      UNION ALL
      SELECT client_id, false, true
        FROM messages JOIN confirmations AS confirmation ON confirmation.id = messages.confirmation_id
        WHERE confirmation.patient_hash IN (${known}) AND messages.created_at > clock_timestamp() - interval '1 hour'
      UNION ALL
      -- Where the EHR sends the codes, there are no messages of ours.
      SELECT client_id, false, true FROM confirmations AS confirmation, generate_series(1, codes_sent)
        WHERE confirmation.patient_hash IN (${known}) AND confirmation.ehr_reference IS NOT NULL
          AND confirmation.last_code_sent_at > clock_timestamp() - interval '1 hour'
    ) AS counted
    GROUP BY is_own`.execute(tx);
  const isFull = (of: readonly Count[], shares: number) =>
    sum(of, 'codes') >= limits.codesPerHour * shares ||
    (counting === 'new confirmation' && sum(of, 'pending') >= limits.pending * shares);
  const own = rows.filter(({ is_own }) => is_own);
  if (isFull(own, 1) || isFull(rows, sharesInAll)) {
    throw new Problem('patient_limit_reached', { headers: { 'retry-after': '60' } });
  }
}

interface Count {
  readonly is_own: boolean;
  readonly pending: number;
  readonly codes: number;
}

function sum(counts: readonly Count[], what: 'pending' | 'codes'): number {
  return counts.reduce((total, count) => total + count[what], 0);
}
