import type { Appointment } from '@crossward/connector-kit';
import { Problem } from '../../problems/problem.ts';
import { isFinal, isSettled } from '../../problems/write-errors.ts';
import type { Work } from '../../writes/write-kind.ts';
import { cancelledAnyway } from '../cancelled-if-gone.ts';
import { isFree } from '../free-time.ts';
import {
  asChanged,
  type ChangeStep,
  callsOf,
  changesOf,
  ehrChange,
  type Results,
  resultsOf,
  type StepRules,
} from './changes.ts';
import { compensateSteps } from './compensate.ts';
import { partsDone } from './look-up.ts';
import type { AppointmentPlan } from './plan.ts';
import { timesTaken } from './plan.ts';

/** The code is correct, but the times of some ids are taken. */
export class TimesTaken extends Problem {
  readonly ids: readonly string[];

  constructor(problem: Problem, ids: readonly string[]) {
    super('time_slot_unavailable', { detail: problem.detail, faults: problem.faults, cause: problem.cause });
    this.ids = ids;
  }
}

/** Makes the changes of a plan in the EHR, all or none. @throws PartiallyApplied when compensation is incomplete */
export async function performPlan(work: Work, plan: AppointmentPlan, rules?: StepRules): Promise<Results> {
  try {
    return await makeCalls(work, plan, rules);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // The plan was made with it, so the EHR has it no more.
    if (error.reason === 'appointment_not_found') throw new Problem('appointment_cancelled', { cause: error });
    if (error.reason !== 'time_slot_unavailable') throw error;
    throw await sayWhichTime(work, plan, error);
  }
}

/** If a call fails, the earlier ones are compensated. Cancellations come last, since they cannot be compensated. */
async function makeCalls(work: Work, plan: AppointmentPlan, rules: StepRules | undefined): Promise<Results> {
  const { call, careUnit, expiresAt, isFirst, onNoResponse } = work;
  const earlier = isFirst || work.ehr.offers('findOperation') ? new Map() : await partsDone(work, plan);
  const calls = callsOf(work, plan).filter(({ steps }) => steps.some(({ index }) => !earlier.has(index)));
  const done = new Map<number, Appointment>(earlier);
  for (const { operationId, steps } of calls) {
    const changes = steps.map(({ change }) => ehrChange(change, expiresAt));
    try {
      await rules?.beforeCall(work, plan, { operationId, steps });
      const write = { operationId, careUnit, isFirst, onNoResponse, changes };
      const returned = await call('changeAppointments', write).catch((error) => {
        // With rules, other steps depend on who has cancelled it.
        if (rules) throw error;
        return [cancelledAnyway(error, steps)];
      });
      for (const { step, appointment } of resultsOf(steps, returned)) {
        // If an earlier call made the change, the EHR returns the appointment's current state.
        done.set(step.index, isFirst || calls.length === 1 ? appointment : asChanged(step, appointment));
      }
    } catch (error) {
      // It is unknown whether this call was made. Compensating only the others could leave this one behind.
      if (!isFinal(error) && !(isSettled(error) && isFirst)) throw error;
      if (done.size > 0) await undoOrLeave(work, plan, done, rules);
      throw error;
    }
  }
  return done;
}

async function undoOrLeave(
  work: Work,
  plan: AppointmentPlan,
  done: Results,
  rules: StepRules | undefined,
): Promise<void> {
  try {
    await work.compensating();
    await compensateSteps(work, plan, done, rules);
  } catch (error) {
    if (error instanceof Problem && error.reason === 'partially_applied') throw error;
    throw new Problem('outcome_unknown', { cause: error });
  }
}

/** Adds which time is taken, because the EHR does not report it. */
async function sayWhichTime(work: Work, plan: AppointmentPlan, problem: Problem): Promise<Problem> {
  if (plan.confirmationId !== undefined) return new TimesTaken(problem, await idsWithTakenTime(work, plan));
  if (problem.faults.length > 0) return problem;
  return timesTaken(plan.steps, problem.cause);
}

/** An id whose time cannot be checked becomes pending again. */
async function idsWithTakenTime(work: Work, plan: AppointmentPlan): Promise<string[]> {
  const lost: string[] = [];
  for (const { change, confirms } of changesOf(plan)) {
    if (confirms !== undefined && (await isGone(work, change).catch(() => false))) lost.push(confirms);
  }
  return lost;
}

async function isGone({ call, ehr, careUnit }: Work, change: ChangeStep['change']): Promise<boolean> {
  if (change.kind === 'create') return !(await isFree({ call, capabilities: ehr.capabilities }, careUnit, change));
  if (change.kind !== 'confirm') return false;
  const [appointment] = await call('findAppointments', careUnit, [change.appointmentId]);
  return appointment === undefined || appointment.state === 'cancelled';
}
