import { setTimeout as sleep } from 'node:timers/promises';
import { BeingConfirmed, decideCode, decideRelease } from '../confirmations/decide.ts';
import { assertWithinLimits, patientHashes } from '../confirmations/limits.ts';
import type { Tx } from '../db/kysely.ts';
import { retrySerialization } from '../db/retry.ts';
import type { Answer } from '../operations/answer.ts';
import type { Decide } from '../operations/execute.ts';
import type { Execute } from '../operations/once.ts';
import type { Problem } from '../problems/problem.ts';
import { decideResend } from './ehr-codes/decide-resend.ts';
import { ehrCodeKind } from './ehr-codes/kind.ts';
import type { EhrCodePlan } from './ehr-codes/plan.ts';
import { areFree, isFree } from './free-time.ts';
import { previewBody } from './representation.ts';
import type { RequestContext } from './request-context.ts';
import { timeTaken } from './time-rules.ts';
import { preview, previewAnswer } from './write/answer.ts';
import { assertMaySend } from './write/fresh-code.ts';
import { appointmentKind } from './write/kind.ts';
import { type AppointmentPlan, changesOf } from './write/plan.ts';

export type Plan = AppointmentPlan | EhrCodePlan;

/** How a request is carried out: for real, or only looked at. */
export interface Writing {
  readonly execute: Execute;
  readonly dryRun: boolean | undefined;
}

/** Carries out a plan, or shows it. */
export async function carryOut(context: RequestContext, { execute, dryRun }: Writing, plan: Plan): Promise<Answer> {
  if (dryRun) return look(context, plan);
  if ('ehrCode' in plan) return execute(ehrCodeKind, plan, (tx) => decideEhrCode(tx, context, plan));
  await assertDraftsAreFree(context, plan);
  return execute(appointmentKind, plan, decisionOn(context, plan));
}

/** What is checked and reserved in the transaction that begins the operation. */
function decisionOn(context: RequestContext, plan: AppointmentPlan): Decide | undefined {
  const released = plan.steps.flatMap(({ releases }) => releases ?? []);
  const { freshCode } = plan;
  const patients = appointmentKind.codesFor(plan);
  if (released.length === 0 && patients.length === 0) return undefined;
  return async (tx) => {
    const problem = released.length > 0 ? await decideRelease(tx, context.ehr.id, released) : undefined;
    if (problem) return problem;
    if (freshCode) await assertMaySend(tx, { ...context, clientId: context.client.id }, freshCode);
    else await assertAllWithinLimits(tx, context, patients);
    return undefined;
  };
}

async function decideEhrCode(tx: Tx, context: RequestContext, { ehrCode, patientId }: EhrCodePlan): Promise<undefined> {
  if (ehrCode.kind === 'resend') await decideResend(tx, context, { confirmationId: ehrCode.confirmationId, patientId });
  else if (ehrCode.kind !== 'confirm') await assertAllWithinLimits(tx, context, [patientId]);
}

/** Always in the same order: whoever counts for a patient keeps others waiting. */
async function assertAllWithinLimits(
  tx: Tx,
  { services, client, ehr, careUnit }: RequestContext,
  patientIds: readonly string[],
): Promise<void> {
  const patients = patientIds.map((id) => patientHashes(services.keys, ehr.id, id));
  for (const hashes of patients.toSorted(([a], [b]) => Buffer.compare(a, b))) {
    await assertWithinLimits(tx, { clientId: client.id, hashes }, careUnit.limitsPerPatient);
  }
}

/** How long a request waits for another one that confirms the same. */
const patienceMs = 3_000;
const pauseMs = 40;

/**
 * Carries out what a right code stands for. Of several requests at once one confirms, and the others wait for it and are
 * told what it came to.
 */
export async function carryOutConfirmed(
  context: RequestContext,
  execute: Execute,
  code: string,
  makePlan: () => Promise<Plan>,
): Promise<Answer> {
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    try {
      return await confirm(context, execute, code, await makePlan());
    } catch (error) {
      if (!(error instanceof BeingConfirmed) || performance.now() > giveUpAt) throw error;
      await sleep(pauseMs);
    }
  }
}

function confirm({ services, ehr }: RequestContext, execute: Execute, code: string, plan: Plan): Promise<Answer> {
  const decide =
    (confirmationId: string, ids: readonly string[], waitingIds: readonly string[]): Decide =>
    (tx, operationId) =>
      decideCode(tx, services.keys, {
        emr: ehr.id,
        confirmationId,
        ids,
        waitingIds,
        code,
        many: plan.many,
        operationId,
      });
  if ('ehrCode' in plan) {
    if (plan.ehrCode.kind !== 'confirm') throw new Error('A plan that confirms nothing was sent a code');
    const { confirmationId, itemId } = plan.ehrCode;
    return execute(ehrCodeKind, plan, decide(confirmationId, [itemId], [itemId]));
  }
  const { confirmationId, steps } = plan;
  if (confirmationId === undefined) throw new Error('A plan that confirms nothing was sent a code');
  // In the order of the request: the first faulty one decides.
  const ids = steps.flatMap(({ confirms }) => confirms ?? []);
  const waitingIds = changesOf(plan).flatMap(({ confirms }) => confirms ?? []);
  return execute(appointmentKind, plan, decide(confirmationId, ids, waitingIds));
}

/** Checks everything, changes nothing, sends nothing. */
async function look(context: RequestContext, plan: Plan): Promise<Answer> {
  const { services, ehr, careUnit } = context;
  if ('ehrCode' in plan) {
    const { ehrCode, answer, taken, many } = plan;
    if (ehrCode.kind === 'request booking' && !(await isFree(ehr, careUnit, ehrCode.creation)))
      throw timeTaken([taken]);
    // The EHR would send the code; how, nobody knows before it does.
    const body = previewBody(answer, { ehr, careUnit, code: undefined });
    const isNew = ehrCode.kind === 'request cancellation';
    return preview([isNew ? { ...body, id: null, status: 'awaiting_confirmation' as const } : body], many);
  }
  await assertDraftsAreFree(context, plan);
  await assertTimesAreFree(context, plan);
  const patients = appointmentKind.codesFor(plan);
  if (patients.length > 0) {
    await retrySerialization(() =>
      services.db.transaction().execute((tx) => assertAllWithinLimits(tx, context, patients)),
    );
  }
  return previewAnswer(context, plan);
}

async function assertTimesAreFree({ ehr, careUnit }: RequestContext, plan: AppointmentPlan): Promise<void> {
  const changes = changesOf(plan);
  const freeing = changes.flatMap(({ change }) => (change.kind === 'create' ? [] : [change.appointmentId]));
  const times = changes.flatMap(({ answer }) =>
    answer && (answer.word === 'created' || answer.word === 'moved') ? [answer.appointment] : [],
  );
  if (!(await areFree(ehr, careUnit, times, freeing))) throw timesTaken(plan);
}

/** What the EHR is not told of yet, it cannot refuse yet either. */
async function assertDraftsAreFree({ ehr, careUnit }: RequestContext, plan: AppointmentPlan): Promise<void> {
  const drafts = plan.steps.flatMap(({ awaits }) => awaits?.draft ?? []);
  if (!(await areFree(ehr, careUnit, drafts))) throw timesTaken(plan);
}

function timesTaken({ steps }: AppointmentPlan): Problem {
  return timeTaken(steps.map(({ taken }) => taken));
}
