import { sql } from 'kysely';
import type { Tx } from '../db/kysely.ts';
import { Problem } from '../problems/problem.ts';
import type { Reason } from '../problems/reasons.ts';
import type { Item } from './items.ts';

export const mostCodes = 3;
const secondsBetween = 30;

/**
 * Checks, under a lock on the confirmation, whether a new code may be sent.
 *
 * @throws Problem `confirmation_expired`, `confirmation_locked`, `confirmation_not_pending`, `resend_limit_reached`,
 *   `rate_limited`
 */
export async function assertMayResend(tx: Tx, confirmationId: string): Promise<void> {
  const row = await tx
    .selectFrom('confirmations as confirmation')
    .select(['failed_attempts', 'max_attempts', 'codes_sent'])
    .select(sql<boolean>`expires_at <= clock_timestamp()`.as('is_expired'))
    .select(
      sql<number>`ceil(${secondsBetween}::float8 - extract(epoch FROM clock_timestamp() - last_code_sent_at)::float8)`.as(
        'seconds_to_wait',
      ),
    )
    .select(
      sql<boolean>`EXISTS (SELECT 1 FROM confirmation_items WHERE confirmation_id = confirmation.id AND state = 'pending')`.as(
        'is_pending',
      ),
    )
    .where('id', '=', confirmationId)
    .forUpdate()
    .executeTakeFirst();
  if (!row?.is_pending) throw new Problem('confirmation_not_pending');
  if (row.failed_attempts >= row.max_attempts) throw new Problem('confirmation_locked');
  if (row.is_expired) throw new Problem('confirmation_expired');
  if (row.codes_sent >= mostCodes) throw new Problem('resend_limit_reached');
  if (row.seconds_to_wait > 0) {
    throw new Problem('rate_limited', {
      detail: `A code can be resent ${secondsBetween} seconds after the previous one.`,
      headers: { 'retry-after': String(row.seconds_to_wait) },
    });
  }
}

/** Why no new code is sent for an id: it no longer awaits one. */
export function whyNotResendable({ state, attemptsRemaining }: Pick<Item, 'state' | 'attemptsRemaining'>): Reason {
  if (state !== 'pending' && state !== 'expired') return 'confirmation_not_pending';
  return attemptsRemaining === 0 ? 'confirmation_locked' : 'confirmation_expired';
}
