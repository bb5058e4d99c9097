import { sql } from 'kysely';
import type { PatientLimits } from '../config/schema/policies.ts';
import type { Db, Tx } from '../db/kysely.ts';
import { Problem } from '../problems/problem.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { patientBehind } from '../secrets/patient-tokens.ts';

/** Keyed hashes that stand for a patient in the gateway's tables, one for each secret key, the newest first. */
export function patientHashes(keys: KeyRing, emr: string, patientId: string): [Buffer, ...Buffer[]] {
  return keys.hashes('patient', `${emr} ${patientBehind(keys, emr, patientId)}`);
}

/** Whether a confirmation item is of this patient. Not known any more once the item is purged. */
export async function isOfPatient(
  { db, keys }: { readonly db: Db; readonly keys: KeyRing },
  emr: string,
  appointmentId: string,
  patientId: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('confirmation_items')
    .select('appointment_id')
    .where('emr', '=', emr)
    .where('appointment_id', '=', appointmentId)
    .where('patient_hash', 'in', patientHashes(keys, emr, patientId))
    .executeTakeFirst();
  return row !== undefined;
}

interface Asking {
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
  { clientId, writeId, isResend, hashes }: Asking,
  limits: PatientLimits,
): Promise<void> {
  const [newest] = hashes;
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`patient ${newest.toString('hex')}`}, 0))`.execute(tx);
  const known = sql.join(hashes.map((hash) => sql`${hash}`));
  const { rows } = await sql<Count>`
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
  const isFull = (of: readonly Count[], shares: number) =>
    sum(of, 'codes') >= limits.codesPerHour * shares || (!isResend && sum(of, 'pending') >= limits.pending * shares);
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
