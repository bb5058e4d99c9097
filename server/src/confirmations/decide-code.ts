import { sql } from 'kysely';
import type { Tx } from '../db/kysely.ts';
import type { ItemState } from '../db/tables/confirmations.ts';
import { codeIncorrect, Problem } from '../problems/problem.ts';
import { type Reason, reasons } from '../problems/reasons.ts';
import { OutdatedPlan } from '../problems/write-errors.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { isCode } from './store.ts';

/** How long a repeated request with the correct code gets the same response. */
export const repeatLifetime = sql`interval '24 hours'`;

interface Decision {
  readonly emr: string;
  readonly confirmationId: string;
  readonly ids: readonly string[];
  readonly code: string;
  /** The request names several ids: a problem lists those at fault. */
  readonly many: boolean;
  /** The ids that the EHR still had to confirm when the write was planned. */
  readonly waitingIds: readonly string[];
  /** The write that will confirm them. */
  readonly writeId: string;
  /** Tokens of the leases under which this process is at work. */
  readonly liveTokens: ReadonlySet<string>;
}

/**
 * Another write is confirming some of the ids, or has done so since planning. Its outcome is known after a wait.
 *
 * @param leaseRest seconds until the other write can be taken over, if its process has stopped
 */
export function confirmationInProgress(leaseRest?: number): OutdatedPlan {
  return new OutdatedPlan(isBeingConfirmed, leaseRest);
}

const isBeingConfirmed = 'Another request is confirming some of these appointments.';

/**
 * Checks the code under a lock on the confirmation, so that each of several concurrent requests counts as an attempt and
 * sees the changes of the others. While any id awaits the code, every incorrect code counts, whichever id it was sent for.
 * A correct code marks the ids as `confirming`: from then on they cannot expire. Returns a problem, rather than throwing it,
 * so that the transaction commits the counted attempt.
 */
export async function decideCode(
  tx: Tx,
  keys: KeyRing,
  { emr, confirmationId, ids, code, many, waitingIds, writeId, liveTokens }: Decision,
): Promise<Problem | undefined> {
  const confirmation = await tx
    .selectFrom('confirmations')
    .select(['code_hash', 'failed_attempts', 'max_attempts'])
    .select(sql<boolean>`expires_at <= clock_timestamp()`.as('is_expired'))
    .select(sql<boolean>`coalesce(confirmed_at > clock_timestamp() - ${repeatLifetime}, false)`.as('is_fresh'))
    .where('id', '=', confirmationId)
    .forUpdate()
    .executeTakeFirst();
  if (!confirmation) return new Problem('confirmation_not_pending');
  const items = await tx
    .selectFrom('confirmation_items')
    .select(['appointment_id', 'state'])
    .where('confirmation_id', '=', confirmationId)
    .orderBy('appointment_id')
    .forUpdate()
    .execute();
  const stateOf = new Map(items.map(({ appointment_id, state }) => [appointment_id, state]));
  const states = new Set(ids.map((id) => stateOf.get(id)));
  const right = confirmation.code_hash !== null && isCode(keys, confirmationId, code, confirmation.code_hash);
  const isExpired = confirmation.is_expired && !states.has('confirming');
  const isLocked = confirmation.failed_attempts >= confirmation.max_attempts;
  // Looks at all ids of the confirmation, named or not: otherwise the response would reveal whether the code is
  // correct.
  const isAwaited = items.some(
    ({ state }) => state === 'confirming' || (state === 'pending' && !confirmation.is_expired),
  );
  if (isAwaited && !right && !isLocked) return countIncorrectCode(confirmation);
  const ended = faultsOf(ids, (id) => whyNotPending(stateOf.get(id), { isExpired, isLocked, isAwaited }));
  if (ended.length > 0) return problem(ended);
  // Only one write at a time confirms an id.
  if (waitingIds.some((id) => stateOf.get(id) === 'confirming'))
    return confirmationInProgress(await restOfLease(tx, confirmationId, liveTokens));
  const isOver = !states.has('pending') && !states.has('confirming');
  const isRepeated = isOver && right && confirmation.is_fresh;
  if (isOver && !isRepeated) return problem(faultsOf(ids, () => 'confirmation_not_pending'));
  // A plan from before another write confirmed the ids would confirm them twice.
  if (waitingIds.some((id) => stateOf.get(id) !== 'pending')) return confirmationInProgress();
  // What is repeated has been confirmed.
  if (isRepeated) return undefined;
  await tx
    .updateTable('confirmation_items')
    .set({ state: 'confirming', operation_id: writeId })
    .where('emr', '=', emr)
    .where('appointment_id', 'in', [...waitingIds])
    .execute();
  return undefined;

  function problem(faults: readonly IdAtFault[]): Problem {
    const reason = faults[0]?.reason ?? 'confirmation_not_pending';
    return new Problem(reason, { faults: many ? faults : [] });
  }

  async function countIncorrectCode(of: { readonly failed_attempts: number; readonly max_attempts: number }) {
    const used = of.failed_attempts + 1;
    await tx.updateTable('confirmations').set({ failed_attempts: used }).where('id', '=', confirmationId).execute();
    return codeIncorrect(of.max_attempts - used);
  }
}

/** Seconds until the leases of other processes on writes that confirm ids of a confirmation end. */
async function restOfLease(tx: Tx, confirmationId: string, liveTokens: ReadonlySet<string>): Promise<number> {
  const { rows } = await sql<{ token: string | null; seconds: number | null }>`
    SELECT lease_token AS token, ceil(extract(epoch FROM lease_expires_at - clock_timestamp()))::int AS seconds FROM operations
    WHERE id IN (SELECT operation_id FROM confirmation_items
      WHERE confirmation_id = ${confirmationId} AND state = 'confirming')`.execute(tx);
  return Math.max(
    1,
    ...rows.map(({ token, seconds }) => (token !== null && liveTokens.has(token) ? 1 : (seconds ?? 1))),
  );
}

/**
 * Checks under a lock whether ids can be released. The EHR decides about its own holds. A draft that is being booked in the
 * EHR, or already is, cannot be released here: who asked did not know that it would be booked.
 */
export async function decideRelease(tx: Tx, emr: string, ids: readonly string[]): Promise<Problem | undefined> {
  const drafts = await tx
    .selectFrom('confirmation_items')
    .select('state')
    .where('emr', '=', emr)
    .where('appointment_id', 'in', [...ids])
    .where(sql<boolean>`ehr_appointment_id IS DISTINCT FROM appointment_id`)
    .orderBy('appointment_id')
    .forUpdate()
    .execute();
  return drafts.some(({ state }) => state === 'confirming' || state === 'confirmed')
    ? new Problem('idempotency_in_progress', { detail: isBeingConfirmed, headers: { 'retry-after': '1' } })
    : undefined;
}

type IdAtFault = ReturnType<typeof faultsOf>[number];

/** A fault for each id that cannot be confirmed, in the order of the request. */
function faultsOf(ids: readonly string[], why: (id: string) => Reason | undefined) {
  return ids.flatMap((id, index) => {
    const reason = why(id);
    if (!reason) return [];
    const place = { in: 'body', pointer: `/ids/${index}` } as const;
    return [{ place, id, reason, detail: reasons[reason].happened }];
  });
}

interface Standing {
  readonly isExpired: boolean;
  readonly isLocked: boolean;
  /** Whether any id of the confirmation awaits the code. */
  readonly isAwaited: boolean;
}

/** Why an id cannot be confirmed. A locked confirmation stays locked, even after it has expired. */
function whyNotPending(state: ItemState | undefined, { isExpired, isLocked, isAwaited }: Standing): Reason | undefined {
  // If a locked confirmation still accepted the correct code, an attacker could guess the code for the other ids.
  if (state === 'confirmed') return isLocked && isAwaited ? 'confirmation_locked' : undefined;
  if (state === undefined || state === 'released') return 'confirmation_not_pending';
  if (isLocked) return 'confirmation_locked';
  if (state === 'expiring' || state === 'expired') return 'confirmation_expired';
  return state === 'pending' && isExpired ? 'confirmation_expired' : undefined;
}
