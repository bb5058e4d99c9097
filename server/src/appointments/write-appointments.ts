import { setTimeout as sleep } from 'node:timers/promises';
import { ConfirmationInProgress, decideCode, decideRelease } from '../confirmations/decide.ts';
import { assertWithinLimits, patientHashes } from '../confirmations/limits.ts';
import type { Tx } from '../db/kysely.ts';
import { retryTransaction } from '../db/retry.ts';
import type { Decide } from '../operations/execute.ts';
import type { OperationResponse } from '../operations/operation-response.ts';
import type { Execute } from '../operations/run-once.ts';
import type { Problem } from '../problems/problem.ts';
import { areFree } from './free-time.ts';
import type { RequestContext } from './request-context.ts';
import { timeTaken } from './time-rules.ts';
import { appointmentKind } from './write/kind.ts';
import { type AppointmentPlan, changesOf } from './write/plan.ts';
import { assertMaySend } from './write/resend.ts';
import { previewResponse } from './write/response.ts';
import { withOperationIds } from './write/transaction.ts';

/** How to run a write: execute it, or show what it would do. */
export interface Writing {
  readonly execute: Execute;
  readonly dryRun: boolean | undefined;
}

/** Executes a plan, or shows it in a dry run. */
export async function carryOut(
  context: RequestContext,
  { execute, dryRun }: Writing,
  plan: AppointmentPlan,
): Promise<OperationResponse> {
  if (dryRun) return runDryRun(context, plan);
  await assertDraftsAreFree(context, plan);
  return execute(appointmentKind, withOperationIds(context.ehr, plan), decisionOn(context, plan));
}

/** Checks and reservations in the transaction that starts the operation. */
function decisionOn(context: RequestContext, plan: AppointmentPlan): Decide | undefined {
  const released = plan.steps.flatMap(({ releases }) => releases ?? []);
  const { resend } = plan;
  const patients = appointmentKind.codesFor(plan);
  if (released.length === 0 && patients.length === 0) return undefined;
  return async (tx) => {
    const problem = released.length > 0 ? await decideRelease(tx, context.ehr.id, released) : undefined;
    if (problem) return problem;
    if (resend) await assertMaySend(tx, { ...context, clientId: context.client.id }, resend);
    else await assertAllWithinLimits(tx, context, patients);
    return undefined;
  };
}

/** Takes the locks of several patients in a fixed order, to avoid deadlocks. */
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

/** How long a request waits for another one that confirms the same ids. */
const patienceMs = 3_000;
const pauseMs = 40;

/**
 * Executes the plan of a confirmation if the code is correct. Of several concurrent requests one confirms; the others wait
 * for it and return its outcome.
 */
export async function carryOutConfirmed(
  context: RequestContext,
  execute: Execute,
  code: string,
  makePlan: () => Promise<AppointmentPlan>,
): Promise<OperationResponse> {
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    try {
      return await confirm(context, execute, code, await makePlan());
    } catch (error) {
      if (!(error instanceof ConfirmationInProgress) || performance.now() > giveUpAt) throw error;
      await sleep(pauseMs);
    }
  }
}

function confirm(
  { services, ehr }: RequestContext,
  execute: Execute,
  code: string,
  plan: AppointmentPlan,
): Promise<OperationResponse> {
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
        isRunningHere: (id) => services.running.has(id),
      });
  const { confirmationId, steps } = plan;
  if (confirmationId === undefined) throw new Error('The plan has no confirmation to check the code against');
  // In the order of the request: the first id at fault decides the reason.
  const ids = steps.flatMap(({ confirms }) => confirms ?? []);
  const waitingIds = changesOf(plan).flatMap(({ confirms }) => confirms ?? []);
  return execute(appointmentKind, withOperationIds(ehr, plan), decide(confirmationId, ids, waitingIds));
}

/** Runs all checks without changing or sending anything. */
async function runDryRun(context: RequestContext, plan: AppointmentPlan): Promise<OperationResponse> {
  await assertDraftsAreFree(context, plan);
  await assertTimesAreFree(context, plan);
  const patients = appointmentKind.codesFor(plan);
  if (patients.length > 0) {
    await retryTransaction(() =>
      context.services.db.transaction().execute((tx) => assertAllWithinLimits(tx, context, patients)),
    );
  }
  return previewResponse(context, plan);
}

async function assertTimesAreFree({ ehr, careUnit }: RequestContext, plan: AppointmentPlan): Promise<void> {
  const changes = changesOf(plan);
  const freeing = changes.flatMap(({ change }) => (change.kind === 'create' ? [] : [change.appointmentId]));
  const times = changes.flatMap(({ response }) =>
    response && (response.word === 'created' || response.word === 'moved') ? [response.appointment] : [],
  );
  if (!(await areFree(ehr, careUnit, times, freeing))) throw timesTaken(plan);
}

/** A draft is not sent to the EHR yet, so the EHR cannot reject it. The gateway checks its time instead. */
async function assertDraftsAreFree({ ehr, careUnit }: RequestContext, plan: AppointmentPlan): Promise<void> {
  const drafts = plan.steps.flatMap(({ awaits }) => awaits?.draft ?? []);
  if (!(await areFree(ehr, careUnit, drafts))) throw timesTaken(plan);
}

function timesTaken({ steps }: AppointmentPlan): Problem {
  return timeTaken(steps.map(({ taken }) => taken));
}
