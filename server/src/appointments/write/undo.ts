import type { Appointment, AppointmentChange } from '@crossward/connector-kit';
import { isFinal, PartiallyApplied } from '../../operations/errors.ts';
import type { Work } from '../../operations/kind.ts';
import type { Fault } from '../../problems/problem.ts';
import { partsDone } from './look-up.ts';
import { type AppointmentPlan, type ChangeStep, changesOf, type Results } from './plan.ts';
import { withoutCollisions } from './step-order.ts';
import { undoneComment } from './undone-comment.ts';

/** Some steps stay done. */
export class NotCompensated extends PartiallyApplied {
  readonly uncompensated: Results;

  constructor(faults: readonly Fault[], uncompensated: Results) {
    super(faults);
    this.uncompensated = uncompensated;
  }
}

/** Takes back what the EHR shows as done of a plan. */
export async function undoPlan(work: Work, plan: AppointmentPlan): Promise<void> {
  const found = await partsDone(work, plan);
  const done = changesOf(plan).flatMap((step) => {
    const appointment = found.get(step.index);
    // The EHR may show it as it is by now: what the step was to make of it is in the plan.
    return appointment ? [[step.index, asLeft(step, appointment)] as const] : [];
  });
  await undoSteps(work, plan, new Map(done));
}

/** The appointment as the step left it, whatever has become of it since. */
export function asLeft({ change, before }: ChangeStep, found: Appointment): Appointment {
  if (change.kind === 'create') {
    const { start, end, resourceId, comment, hold } = change;
    return { ...found, start, end, resourceId, comment, state: hold ? 'held' : 'booked' };
  }
  if (change.kind !== 'update' || !before) return found;
  const { time, resourceId, comment } = change;
  return {
    ...before,
    ...time,
    resourceId: resourceId ?? before.resourceId,
    comment: comment === undefined ? before.comment : comment,
  };
}

/**
 * Takes steps back, the last first, each only where the appointment is still as the step left it: what somebody has
 * changed since stays. Safe to call again: what is as it was before stays so.
 *
 * @throws NotCompensated with the outcome of every appointment of the answer; any error that is not the EHR's last word
 */
export async function undoSteps(work: Work, plan: AppointmentPlan, done: Results): Promise<void> {
  const { call, careUnit, ehrId } = work;
  const changes = changesOf(plan);
  const uncompensated = new Map<number, Appointment>();
  for (const step of withoutCollisions(changes).toReversed()) {
    const { index } = step;
    const result = done.get(index);
    if (!result) continue;
    // Each right before it is written: an EHR that is slow gives others time to change the next one.
    const [now] = await call('findAppointments', careUnit, [result.id]);
    const reverse = reversal(work, step, result, now);
    if (reverse === 'nothing') continue;
    if (reverse === 'impossible') {
      uncompensated.set(index, now ?? result);
      continue;
    }
    try {
      await call('changeAppointments', { operationId: ehrId(`undo ${index}`), careUnit, changes: [reverse] });
    } catch (error) {
      if (!isFinal(error)) throw error;
      uncompensated.set(index, now ?? result);
    }
  }
  if (uncompensated.size > 0) throw new NotCompensated(outcomes(plan, done, uncompensated), uncompensated);
}

type Reversal = AppointmentChange | 'nothing' | 'impossible';

function reversal(
  work: Work,
  { change, before }: ChangeStep,
  result: Appointment,
  now: Appointment | undefined,
): Reversal {
  if (change.kind === 'extend') return 'nothing';
  if (change.kind === 'create') {
    if (!now || now.state === 'cancelled') return 'nothing';
    if (!isSame(now, result)) return 'impossible';
    if (now.state === 'held') return { kind: 'release', appointmentId: now.id };
    return { kind: 'cancel', appointmentId: now.id, comment: undoneComment(work.careUnit.language) };
  }
  if (now && before && isSame(now, before)) return 'nothing';
  if (change.kind !== 'update' || !before || !now || !isSame(now, result)) return 'impossible';
  return {
    kind: 'update',
    appointmentId: before.id,
    time: { start: before.start, end: before.end },
    resourceId: before.resourceId,
    comment: before.comment,
  };
}

/** Whether nobody has changed it. How long a hold lasts is no change. */
function isSame(a: Appointment, b: Appointment): boolean {
  return (
    a.state === b.state &&
    a.start.getTime() === b.start.getTime() &&
    a.end.getTime() === b.end.getTime() &&
    a.resourceId === b.resourceId &&
    (a.comment ?? '') === (b.comment ?? '')
  );
}

/** By the ids that the caller knows. */
function outcomes({ steps }: AppointmentPlan, done: Results, uncompensated: Results): Fault[] {
  return steps.flatMap(({ answer, change, before, place }, index): Fault[] => {
    if (!answer) return [];
    const ehrId = done.get(index)?.id ?? (change && 'appointmentId' in change ? change.appointmentId : before?.id);
    const id = answer.id ?? ehrId;
    const detail = uncompensated.has(index) ? 'Changed, and could not be changed back.' : 'As it was.';
    return [{ ...(id === undefined ? {} : { id }), ...(place ? { place } : {}), reason: 'partially_applied', detail }];
  });
}
