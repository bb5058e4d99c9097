import { codeExpiry, replaceCode } from '../../confirmations/issue.ts';
import { awaitedOf, findItems } from '../../confirmations/items.ts';
import { assertMayResend, whyNotResendable } from '../../confirmations/resend.ts';
import type { Tx } from '../../db/kysely.ts';
import type { Channel } from '../../db/tables/messages.ts';
import { Problem } from '../../problems/problem.ts';
import type { Work, WriteKind } from '../../writes/write-kind.ts';
import { writtenResponse } from '../representation.ts';
import { stepsOf } from '../steps-in-words.ts';
import { changesOf, type Results } from '../write/changes.ts';
import { codesToSend } from '../write/decision.ts';
import { appointmentKind } from '../write/kind.ts';
import { performPlan } from '../write/perform-plan.ts';
import type { AppointmentPlan, Made } from '../write/plan.ts';

/** A new code for everything that awaits the previous one. */
interface Resend {
  readonly confirmationId: string;
  /** The id that the request names. */
  readonly askedFor: string;
  readonly patientId: string;
  readonly channel: Channel;
  readonly to: string;
  /** In the order of the first message. */
  readonly appointments: readonly { readonly id: string; readonly start: Date }[];
}

export interface ResendPlan extends AppointmentPlan {
  readonly resend: Resend;
}

const { preview: _, ...appointments } = appointmentKind;

/** Sends a new code, and extends the holds that await it. Has no dry run. */
export const resendKind: WriteKind<ResendPlan, Results> = {
  ...appointments,
  patientsOf: (plan) => [...appointments.patientsOf(plan), plan.resend.patientId],
  reservation: (proposal, { resend }) => codesToSend(proposal, [resend.patientId]),
  perform: extendHolds,
  stepsOf: (plan) => [...stepsOf(plan), `send a new code by ${plan.resend.channel}`],
  hasRecords: () => true,
  record: async (tx, work, plan, results) =>
    writtenResponse(work, plan, results, new Map(await replaceAndSend(tx, work, plan.resend))),
};

/**
 * Extends the holds that still await the code. Some may have been confirmed or released since the plan was made.
 */
async function extendHolds(work: Work, plan: ResendPlan): Promise<Results> {
  try {
    return await performPlan(work, plan);
  } catch (error) {
    if (!(error instanceof Problem) || error.reason !== 'confirmation_not_pending') throw error;
    const rest = await stillHeld(work, plan);
    if (changesOf(rest).length === 0) throw await whyNot(work, plan.resend, error);
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
  return item && !item.isPending ? new Problem(whyNotResendable(item)) : problem;
}

/**
 * Replaces the code and sends the new one. The lifetime restarts, the attempts do not. Returns the ids that await it.
 *
 * @throws Problem when the confirmation has ended or changed since the EHR was called
 */
async function replaceAndSend(tx: Tx, work: Work, resend: Resend): Promise<readonly (readonly [string, Made])[]> {
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
