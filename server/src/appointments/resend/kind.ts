import { codeExpiry, replaceCode } from '../../confirmations/issue.ts';
import { awaitedOf, findItems, type Item } from '../../confirmations/items.ts';
import { assertMayResend } from '../../confirmations/resend.ts';
import type { Tx } from '../../db/kysely.ts';
import type { Work } from '../../operations/kind.ts';
import { Problem } from '../../problems/problem.ts';
import type { Reason } from '../../problems/reasons.ts';
import { changesOf, type Results } from './changes.ts';
import { performPlan } from './perform.ts';
import type { AppointmentPlan, Made, Resend } from './plan.ts';

/**
 * Extends the holds that still await the code. Some may have been confirmed or released since the plan was made.
 */
export async function performResend(work: Work, plan: AppointmentPlan, resend: Resend): Promise<Results> {
  try {
    return await performPlan(work, plan);
  } catch (error) {
    if (!(error instanceof Problem) || error.reason !== 'confirmation_not_pending') throw error;
    const rest = await stillHeld(work, plan);
    if (changesOf(rest).length === 0) throw await whyNot(work, resend, error);
    return performPlan({ ...work, ehrId: (part) => work.ehrId(`remaining ${part ?? ''}`) }, rest);
  }
}

async function stillHeld({ call, careUnit }: Work, plan: AppointmentPlan): Promise<AppointmentPlan> {
  const ids = changesOf(plan).flatMap(({ before }) => before?.id ?? []);
  const found = await call('findAppointments', careUnit, ids);
  const held = new Set(found.filter(({ state }) => state === 'held').map(({ id }) => id));
  const steps = plan.steps.map(({ change, ...step }) =>
    change && held.has(step.before?.id ?? '') ? { ...step, change } : step,
  );
  return { ...plan, steps };
}

async function whyNot({ services, ehr, careUnit }: Work, { askedFor }: Resend, problem: Problem): Promise<Problem> {
  const item = (await findItems(services.db, ehr.id, careUnit.id, [askedFor])).get(askedFor);
  return item && !item.isPending ? new Problem(whyNotPending(item)) : problem;
}

/** Why an id no longer awaits a code. */
export function whyNotPending({ state, attemptsRemaining }: Pick<Item, 'state' | 'attemptsRemaining'>): Reason {
  if (state !== 'pending' && state !== 'expired') return 'confirmation_not_pending';
  return attemptsRemaining === 0 ? 'confirmation_locked' : 'confirmation_expired';
}

/**
 * Replaces the code and sends the new one. The lifetime restarts, the attempts do not. Returns the ids that await it.
 *
 * @throws Problem when the confirmation has ended or changed since the EHR was called
 */
export async function recordResend(tx: Tx, work: Work, resend: Resend): Promise<readonly (readonly [string, Made])[]> {
  const { ehr, careUnit } = work;
  const { confirmationId, askedFor, channel, to } = resend;
  await assertMayResend(tx, confirmationId);
  const readItems = (of: Resend['appointments']) =>
    findItems(
      tx,
      ehr.id,
      careUnit.id,
      of.map(({ id }) => id),
    );
  const before = await readItems(resend.appointments);
  const isWaiting = (id: string) =>
    before.get(id)?.state === 'pending' && before.get(id)?.confirmationId === confirmationId;
  if (!isWaiting(askedFor)) throw new Problem('confirmation_not_pending');
  const appointments = resend.appointments.filter(({ id }) => isWaiting(id));
  const expiresAt = work.expiresAt ?? (await codeExpiry(tx, careUnit.code.lifetimeSeconds));
  await replaceCode(tx, work, { confirmationId, channel, to, expiresAt, appointments });
  return [...(await readItems(appointments))].map(([id, item]) => [id, { id, awaited: awaitedOf(item) }] as const);
}
