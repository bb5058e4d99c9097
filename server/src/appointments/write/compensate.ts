import type { Appointment, AppointmentChange } from '@crossward/connector-kit';
import type { MessageLanguage } from '../../messages/outbox.ts';
import type { Fault } from '../../problems/problem.ts';
import { isFinal, PartiallyApplied } from '../../problems/write-errors.ts';
import type { Work } from '../../writes/write-kind.ts';
import { asChanged, type ChangeStep, changesOf, type Results, type StepRules, withoutCollisions } from './changes.ts';
import { partsDone } from './look-up.ts';
import type { AppointmentPlan } from './plan.ts';

/** Some steps could not be compensated. */
export class NotCompensated extends PartiallyApplied {
  readonly uncompensated: Results;

  constructor(faults: readonly Fault[], uncompensated: Results) {
    super(faults);
    this.uncompensated = uncompensated;
  }
}

/** Compensates the steps of a plan that the EHR has performed. */
export async function compensatePlan(work: Work, plan: AppointmentPlan, rules?: StepRules): Promise<void> {
  const found = await partsDone(work, plan);
  const earlier = await rules?.compensated(work, plan, found);
  const done = changesOf(plan).flatMap((step) => {
    const appointment = found.get(step.index);
    // The EHR may return the current state. The plan has the state that the step produced.
    return appointment ? [[step.index, asChanged(step, appointment)] as const] : [];
  });
  await compensateSteps(work, plan, new Map(done), rules, earlier);
}

/**
 * Compensates steps in reverse order. A step whose appointment has changed since is kept. Safe to call again: steps
 * that are already compensated are skipped.
 *
 * @param earlier what earlier attempts have left of other steps
 * @throws NotCompensated with a fault for every appointment of the response; any error that is not final (`isFinal`)
 */
export async function compensateSteps(
  work: Work,
  plan: AppointmentPlan,
  done: Results,
  rules?: StepRules,
  earlier: Results = new Map(),
): Promise<void> {
  const { call, careUnit, ehrId } = work;
  const changes = changesOf(plan);
  const uncompensated = new Map<number, Appointment>(earlier);
  for (const step of withoutCollisions(changes).toReversed()) {
    const { index } = step;
    const result = done.get(index);
    if (!result) continue;
    // Read each one right before the write: in a slow EHR, others have time to change it.
    const [now] = await call('findAppointments', careUnit, [result.id]);
    const reverse = reversal(work, step, result, now);
    const change = reverse === 'impossible' ? ((await rules?.compensation(work, plan, index)) ?? reverse) : reverse;
    if (change === 'nothing') continue;
    if (change === 'impossible' || !('kind' in change)) {
      uncompensated.set(index, change === 'impossible' ? (now ?? result) : change);
      continue;
    }
    try {
      const write = { operationId: ehrId(`compensate ${index}`), careUnit, changes: [change] };
      const [made] = await call('changeAppointments', write);
      if (made && made.id !== result.id) uncompensated.set(index, made);
    } catch (error) {
      if (!isFinal(error)) throw error;
      uncompensated.set(index, now ?? result);
    }
  }
  if (uncompensated.size > 0) throw new NotCompensated(outcomes(plan, done, uncompensated, rules), uncompensated);
}

/** For the clinic's staff, on a booking that is compensated. */
const comments: Record<MessageLanguage, string> = {
  nb: 'Avlyst automatisk: bestillingen ble ikke fullført.',
  sv: 'Avbokad automatiskt: bokningen slutfördes inte.',
  en: 'Cancelled automatically: the booking was not completed.',
};

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
    return { kind: 'cancel', appointmentId: now.id, comment: comments[work.careUnit.language] };
  }
  if (now && before && isSame(now, before)) return 'nothing';
  if (change.kind !== 'update' || !before || !now || !isSame(now, result)) return 'impossible';
  const { start, end } = before;
  return {
    kind: 'update',
    appointmentId: now.id,
    // Without an end or a resource, the update changed only the comment.
    ...(end && { time: { start, end } }),
    ...(before.resourceId !== null && { resourceId: before.resourceId }),
    comment: before.comment,
  };
}

/** Whether nobody has changed it. A different end of the hold does not count as a change. */
export function isSame(a: Appointment, b: Appointment): boolean {
  return (
    a.state === b.state &&
    a.start.getTime() === b.start.getTime() &&
    a.end?.getTime() === b.end?.getTime() &&
    a.resourceId === b.resourceId &&
    (a.comment ?? '') === (b.comment ?? '')
  );
}

/** One fault for each appointment of the response, with the caller's id. */
function outcomes(plan: AppointmentPlan, done: Results, uncompensated: Results, rules?: StepRules): Fault[] {
  return plan.steps.flatMap(({ response, change, before, place }, index): Fault[] => {
    if (!response) return [];
    const outcome = rules?.outcome(plan, index, uncompensated);
    if (outcome) return [{ ...outcome, ...(place ? { place } : {}), reason: 'partially_applied' }];
    const ehrId = done.get(index)?.id ?? (change && 'appointmentId' in change ? change.appointmentId : before?.id);
    const id = response.id ?? ehrId;
    const detail = uncompensated.has(index) ? 'Changed, and the change could not be reverted.' : 'Unchanged.';
    return [{ ...(id === undefined ? {} : { id }), ...(place ? { place } : {}), reason: 'partially_applied', detail }];
  });
}
