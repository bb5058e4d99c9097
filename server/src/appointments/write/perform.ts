import type { Appointment } from '@crossward/connector-kit';
import { isFinal, isSettled } from '../../operations/errors.ts';
import type { Work } from '../../operations/kind.ts';
import { Problem } from '../../problems/problem.ts';
import { isFree } from '../free-time.ts';
import { timeTaken } from '../time-rules.ts';
import { type AppointmentPlan, type ChangeStep, changesOf, ehrChange, type Results } from './plan.ts';
import { resultsOf } from './results.ts';
import { withoutCollisions } from './step-order.ts';
import { isWhole } from './transaction.ts';
import { asLeft, undoSteps } from './undo.ts';

/** A right code came too late for the time of some of its ids. */
export class TimeGone extends Problem {
  readonly ids: readonly string[];

  constructor(problem: Problem, ids: readonly string[]) {
    super('time_slot_unavailable', { detail: problem.detail, faults: problem.faults, cause: problem.cause });
    this.ids = ids;
  }
}

/** Has the EHR make the changes of a plan, all or none. */
export async function performPlan(work: Work, plan: AppointmentPlan): Promise<Results> {
  const changes = changesOf(plan);
  if (changes.length === 0) return new Map();
  try {
    return isWhole(work.ehr, changes)
      ? await allInOneTransaction(work, changes)
      : await allWithCompensation(work, plan, changes);
  } catch (error) {
    if (!(error instanceof Problem) || error.reason !== 'time_slot_unavailable') throw error;
    throw await sayWhichTime(work, plan, error);
  }
}

async function allInOneTransaction(
  { call, careUnit, ehrId, expiresAt, onNoResponse }: Work,
  changes: readonly ChangeStep[],
): Promise<Results> {
  const answered = await call('changeAppointments', {
    operationId: ehrId(),
    careUnit,
    onNoResponse,
    changes: changes.map(({ change }) => ehrChange(change, expiresAt)),
  });
  return resultsOf(changes, answered);
}

/**
 * For an EHR without transactions, or more changes than it does in one: one change after the other, and what was done is
 * undone when a later one fails. Cancellations come last, since they cannot be undone.
 *
 * @throws PartiallyApplied when not all of it can be undone; `outcome_unknown` when that could not be found out
 */
async function allWithCompensation(
  work: Work,
  plan: AppointmentPlan,
  changes: readonly ChangeStep[],
): Promise<Results> {
  const { call, careUnit, ehrId, expiresAt, onNoResponse } = work;
  const done = new Map<number, Appointment>();
  for (const step of withoutCollisions(changes)) {
    const { index, change } = step;
    try {
      const part = { operationId: ehrId(index), careUnit, onNoResponse, changes: [ehrChange(change, expiresAt)] };
      const [result] = await call('changeAppointments', part);
      if (!result) throw new Error('The EHR answered no appointment');
      // Done before, the EHR answers it as it is by now.
      done.set(index, work.isFirst ? result : asLeft(step, result));
    } catch (error) {
      // Whether this one was done is not known: to undo the others might leave it alone.
      if (!isFinal(error) && !(isSettled(error) && work.isFirst)) throw error;
      if (done.size > 0) await undoOrLeave(work, plan, done);
      throw error;
    }
  }
  return done;
}

async function undoOrLeave(work: Work, plan: AppointmentPlan, done: Results): Promise<void> {
  try {
    await work.compensating();
    await undoSteps(work, plan, done);
  } catch (error) {
    if (error instanceof Problem && error.reason === 'partially_applied') throw error;
    throw new Problem('outcome_unknown', { cause: error });
  }
}

/** The EHR says that a time is taken, not whose. */
async function sayWhichTime(work: Work, plan: AppointmentPlan, problem: Problem): Promise<Problem> {
  if (plan.confirmationId !== undefined) return new TimeGone(problem, await idsWhoseTimeIsGone(work, plan));
  if (problem.faults.length > 0) return problem;
  return timeTaken(
    plan.steps.map(({ taken }) => taken),
    problem.cause,
  );
}

/** Where that cannot be found out, the code waits again. */
async function idsWhoseTimeIsGone(work: Work, plan: AppointmentPlan): Promise<string[]> {
  const gone: string[] = [];
  for (const { change, confirms } of changesOf(plan)) {
    if (confirms !== undefined && (await isGone(work, change).catch(() => false))) gone.push(confirms);
  }
  return gone;
}

async function isGone({ call, careUnit }: Work, change: ChangeStep['change']): Promise<boolean> {
  if (change.kind === 'create') return !(await isFree({ call }, careUnit, change));
  if (change.kind !== 'confirm') return false;
  const [appointment] = await call('findAppointments', careUnit, [change.appointmentId]);
  return appointment === undefined || appointment.state === 'cancelled';
}
