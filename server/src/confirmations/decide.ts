import { sql } from 'kysely';
import type { Tx } from '../db/kysely.ts';
import { codeIncorrect, Problem } from '../problems/problem.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { isCode } from './codes.ts';

/** How long the right code, sent again, is answered as it was the first time. */
const repeatable = sql`interval '24 hours'`;

interface Decision {
  readonly emr: string;
  readonly confirmationId: string;
  readonly ids: readonly string[];
  readonly code: string;
}

/**
 * Whether the code is taken, under a lock on the confirmation: of several requests at once each counts as an attempt, and
 * none is decided on what another has changed meanwhile. On a right code the ids are marked: from then on expiry cannot
 * overtake them. A problem that comes back is told after the transaction, which keeps the attempt.
 */
export async function decideCode(
  tx: Tx,
  keys: KeyRing,
  { emr, confirmationId, ids, code }: Decision,
): Promise<Problem | undefined> {
  const confirmation = await tx
    .selectFrom('confirmations')
    .select(['code_hash', 'ehr_reference', 'attempts_used', 'attempts_allowed'])
    .select(sql<boolean>`expires_at <= clock_timestamp()`.as('is_over'))
    .select(sql<boolean>`coalesce(confirmed_at > clock_timestamp() - ${repeatable}, false)`.as('is_fresh'))
    .where('id', '=', confirmationId)
    .forUpdate()
    .executeTakeFirst();
  if (!confirmation) return new Problem('confirmation_not_pending');
  const items = await tx
    .selectFrom('confirmation_items')
    .select(['appointment_id', 'state'])
    .where('emr', '=', emr)
    .where('appointment_id', 'in', [...ids])
    .orderBy('appointment_id')
    .forUpdate()
    .execute();
  const states = new Set(items.map(({ state }) => state));
  const right = confirmation.code_hash !== null && isCode(keys, confirmationId, code, confirmation.code_hash);
  if (states.has('released')) return new Problem('confirmation_not_pending');
  if (states.has('expired')) return new Problem('confirmation_expired');
  if (!states.has('pending') && !states.has('confirming')) {
    return right && confirmation.is_fresh ? undefined : new Problem('confirmation_not_pending');
  }
  // The EHR checks its own codes, and says so itself when one has run out.
  if (confirmation.ehr_reference !== null) return markConfirming();
  if (confirmation.is_over && !states.has('confirming')) return new Problem('confirmation_expired');
  if (confirmation.attempts_used >= confirmation.attempts_allowed) return new Problem('confirmation_locked');
  if (!right) {
    await tx
      .updateTable('confirmations')
      .set({ attempts_used: confirmation.attempts_used + 1 })
      .where('id', '=', confirmationId)
      .execute();
    return codeIncorrect(confirmation.attempts_allowed - confirmation.attempts_used - 1);
  }
  return markConfirming();

  async function markConfirming(): Promise<undefined> {
    await tx
      .updateTable('confirmation_items')
      .set({ state: 'confirming' })
      .where('emr', '=', emr)
      .where('appointment_id', 'in', [...ids])
      .where('state', '=', 'pending')
      .execute();
  }
}
