import { sql } from 'kysely';
import type { Tx } from '../db/kysely.ts';
import type { ItemState } from '../db/tables/confirmations.ts';
import { codeIncorrect, Problem } from '../problems/problem.ts';
import { type Reason, reasons } from '../problems/reasons.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { isCode } from './codes.ts';

/** How long the right code, sent again, is answered as it was the first time. */
export const repeatableFor = sql`interval '24 hours'`;

interface Decision {
  readonly emr: string;
  readonly confirmationId: string;
  readonly ids: readonly string[];
  readonly code: string;
  /** Several ids were named: a refusal says which of them are at fault. */
  readonly many: boolean;
  /** Those of the ids that the EHR has still to confirm, when the operation was planned. */
  readonly waitingIds: readonly string[];
  /** The operation that is about to confirm them. */
  readonly operationId: string;
}

/** Another operation is confirming some of it, or has since it was planned: whoever waits learns of its outcome. */
export class BeingConfirmed extends Problem {
  constructor() {
    super('idempotency_in_progress', {
      detail: 'Another request is about to confirm some of this.',
      headers: { 'retry-after': '1' },
    });
  }
}

/**
 * Whether the code is taken, under a lock on the confirmation: of several requests at once each counts as an attempt, and
 * none is decided on what another has changed meanwhile. While any id awaits the code, every wrong one counts, whichever
 * id it was sent to. On a right code the ids are marked: from then on expiry cannot overtake them. A problem that comes
 * back is told after the transaction, which keeps the attempt.
 */
export async function decideCode(
  tx: Tx,
  keys: KeyRing,
  { emr, confirmationId, ids, code, many, waitingIds, operationId }: Decision,
): Promise<Problem | undefined> {
  const confirmation = await tx
    .selectFrom('confirmations')
    .select(['code_hash', 'ehr_reference', 'failed_attempts', 'max_attempts'])
    .select(sql<boolean>`expires_at <= clock_timestamp()`.as('is_over'))
    .select(sql<boolean>`coalesce(confirmed_at > clock_timestamp() - ${repeatableFor}, false)`.as('is_fresh'))
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
  // The EHR checks its own codes, and says so itself when one has run out.
  const checksItself = confirmation.ehr_reference !== null;
  const isOver = confirmation.is_over && !checksItself && !states.has('confirming');
  const isLocked = confirmation.failed_attempts >= confirmation.max_attempts && !checksItself;
  // By any of its ids, also one that is not named: what is told of a code here would be known of it there.
  const isAwaited = items.some(({ state }) => state === 'confirming' || (state === 'pending' && !confirmation.is_over));
  if (isAwaited && !right && !isLocked && !checksItself) return countWrongCode(confirmation);
  const over = faultsOf(ids, (id) => whyOver(stateOf.get(id), { isOver, isLocked, isAwaited }));
  if (over.length > 0) return refusal(over);
  // One operation at a time confirms an id.
  if (waitingIds.some((id) => stateOf.get(id) === 'confirming')) return new BeingConfirmed();
  if (!states.has('pending') && !states.has('confirming')) {
    const isRepeated = right && confirmation.is_fresh;
    return isRepeated ? stale() : refusal(faultsOf(ids, () => 'confirmation_not_pending'));
  }
  const isChanged = stale();
  if (isChanged) return isChanged;
  await tx
    .updateTable('confirmation_items')
    .set({ state: 'confirming', operation_id: operationId })
    .where('emr', '=', emr)
    .where('appointment_id', 'in', [...waitingIds])
    .execute();
  return undefined;

  function refusal(faults: readonly IdAtFault[]): Problem {
    const reason = faults[0]?.reason ?? 'confirmation_not_pending';
    return new Problem(reason, { faults: many ? faults : [] });
  }

  /** What was planned before another operation confirmed it would be done twice. */
  function stale(): Problem | undefined {
    return waitingIds.every((id) => stateOf.get(id) === 'pending') ? undefined : new BeingConfirmed();
  }

  async function countWrongCode(of: { readonly failed_attempts: number; readonly max_attempts: number }) {
    const used = of.failed_attempts + 1;
    await tx.updateTable('confirmations').set({ failed_attempts: used }).where('id', '=', confirmationId).execute();
    return codeIncorrect(of.max_attempts - used);
  }
}

/**
 * Whether codes can be given up without asking the EHR, under a lock on their ids. What the EHR holds it decides on itself;
 * a draft that it may be booking at this moment, or has booked, cannot be cancelled behind its back.
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
  return drafts.some(({ state }) => state === 'confirming' || state === 'confirmed') ? new BeingConfirmed() : undefined;
}

type IdAtFault = ReturnType<typeof faultsOf>[number];

/** Of the ids, in their order, those that a code cannot confirm. */
function faultsOf(ids: readonly string[], why: (id: string) => Reason | undefined) {
  return ids.flatMap((id, index) => {
    const reason = why(id);
    if (!reason) return [];
    const place = { in: 'body', pointer: `/ids/${index}` } as const;
    return [{ place, id, reason, detail: reasons[reason].happened }];
  });
}

interface Standing {
  readonly isOver: boolean;
  readonly isLocked: boolean;
  /** By any id of the confirmation. */
  readonly isAwaited: boolean;
}

/** Locked is locked for good: that the time has run out as well is no news. */
function whyOver(state: ItemState | undefined, { isOver, isLocked, isAwaited }: Standing): Reason | undefined {
  // To recognise the right code again would tell whoever guesses what confirms the other ids.
  if (state === 'confirmed') return isLocked && isAwaited ? 'confirmation_locked' : undefined;
  if (state === undefined || state === 'released') return 'confirmation_not_pending';
  if (isLocked) return 'confirmation_locked';
  if (state === 'expiring' || state === 'expired') return 'confirmation_expired';
  return state === 'pending' && isOver ? 'confirmation_expired' : undefined;
}
