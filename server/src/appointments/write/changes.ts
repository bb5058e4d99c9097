import { type Appointment, type AppointmentChange, type AppointmentCreation, overlaps } from '@crossward/connector-kit';
import type { EhrConnection } from '../../ehr/connection.ts';
import type { Fault } from '../../problems/problem.ts';
import type { Work } from '../../writes/write-kind.ts';
import type { AppointmentPlan, PlannedChange, Step } from './plan.ts';

/** A step with a change in the EHR, and its index in the plan. */
export interface ChangeStep extends Step {
  readonly index: number;
  readonly change: PlannedChange;
}

export function changesOf({ steps }: AppointmentPlan): readonly ChangeStep[] {
  return steps.flatMap((step, index) => (step.change ? [{ ...step, index, change: step.change }] : []));
}

/** The change with the end of its hold. */
export function ehrChange(change: PlannedChange, expiresAt: Date | null): AppointmentChange {
  if (change.kind === 'create') {
    const { hold, ...creation } = change;
    return { ...creation, holdUntil: hold ? expiresAt : null };
  }
  if (change.kind !== 'extend') return change;
  if (!expiresAt) throw new Error('An extended hold has no end');
  return { ...change, holdUntil: expiresAt };
}

/** The EHR's results, by index of the step. */
export type Results = ReadonlyMap<number, Appointment>;

/** The appointment as the step left it, without later changes. */
export function asChanged({ change, before }: ChangeStep, found: Appointment): Appointment {
  if (change.kind === 'create') {
    const { start, end, resourceId, comment, hold } = change;
    return { ...found, start, end, resourceId, comment, state: hold ? 'held' : 'booked' };
  }
  if (change.kind !== 'update' || !before) return found;
  const { time, resourceId, comment } = change;
  return {
    ...before,
    // A move can give a new id.
    id: found.id,
    ...time,
    resourceId: resourceId ?? before.resourceId,
    comment: comment === undefined ? before.comment : comment,
  };
}

/** The appointment that the EHR returned for each step. */
export function resultsOf(steps: readonly ChangeStep[], returned: readonly Appointment[]) {
  return steps.map((step, position) => {
    const appointment = returned[position];
    if (!appointment) throw new Error('The EHR returned fewer appointments than it was sent changes');
    return { step, appointment };
  });
}

/** Whether the EHR makes these changes in one transaction. If not, they are made in sequence, with compensation on failure. */
export function isAtomic(ehr: EhrConnection, changes: readonly unknown[]): boolean {
  const { transactions, changesPerTransaction = Number.POSITIVE_INFINITY } = ehr.capabilities;
  return changes.length <= (transactions ? changesPerTransaction : 1);
}

/**
 * Whether all changes of a plan have one operation id in the EHR, or each has its own. Decided when the plan is stored: the
 * EHR's capabilities may change later.
 */
export function hasOneId(ehr: EhrConnection, plan: AppointmentPlan): boolean {
  return plan.hasOneId ?? isAtomic(ehr, changesOf(plan));
}

/** Whether the EHR still makes as many changes in one transaction as when the plan was stored. */
export function canPerform(ehr: EhrConnection, plan: AppointmentPlan): boolean {
  return !hasOneId(ehr, plan) || isAtomic(ehr, changesOf(plan));
}

/** Changes that one call makes in the EHR, all or none, under an operation id of their own. */
export interface Call {
  readonly operationId: string;
  readonly steps: readonly ChangeStep[];
}

/**
 * The calls that make the changes of a plan, in order: one for all, or one for each change if the EHR has no transactions or
 * allows fewer changes in one.
 */
export function callsOf({ ehr, ehrId }: Pick<Work, 'ehr' | 'ehrId'>, plan: AppointmentPlan): readonly Call[] {
  const changes = changesOf(plan);
  if (changes.length === 0) return [];
  if (hasOneId(ehr, plan)) return [{ operationId: ehrId(), steps: changes }];
  return withoutCollisions(changes).map((step) => ({ operationId: ehrId(step.index), steps: [step] }));
}

/** What a kind of write adds whose steps depend on each other. */
export interface StepRules {
  /** Called right before the steps are sent to the EHR. @throws Problem if they must not be made any longer */
  beforeCall(work: Work, plan: AppointmentPlan, call: Call): Promise<void>;
  /**
   * Compensates a step that cannot be reverted: by a booking, by an appointment that is there already, or not at all.
   * `undefined`: nothing can be done about this step.
   */
  compensation(
    work: Work,
    plan: AppointmentPlan,
    index: number,
  ): Promise<AppointmentCreation | Appointment | 'nothing' | undefined>;
  /** What earlier attempts have left of the steps that they have compensated, and that are not seen as done any more. */
  compensated(work: Work, plan: AppointmentPlan, done: Results): Promise<Results>;
  /** What became of a step of a plan that could not be compensated without a trace. `undefined`: what becomes of any step. */
  outcome(plan: AppointmentPlan, index: number, uncompensated: Results): Pick<Fault, 'id' | 'detail'> | undefined;
}

/** Whether a step cannot be compensated. */
function isPermanent({ change: { kind } }: ChangeStep): boolean {
  return kind === 'cancel' || kind === 'release' || kind === 'confirm';
}

/**
 * Orders steps so that an appointment moves to an occupied time only after the other appointment has left it. Steps that
 * cannot be compensated come last, unless another step needs their time.
 */
export function withoutCollisions(changes: readonly ChangeStep[]): readonly ChangeStep[] {
  const order: ChangeStep[] = [];
  const remaining = new Set([
    ...changes.filter((step) => !isPermanent(step)),
    ...changes.filter((step) => isPermanent(step)),
  ]);
  while (remaining.size > 0) {
    const waiting = [...remaining];
    const isNext = (step: ChangeStep) =>
      !waiting.some((other) => isInTheWay(step, other)) &&
      (!isPermanent(step) || waiting.every(isPermanent) || waiting.some((other) => isInTheWay(other, step)));
    const next = waiting.find(isNext) ?? (waiting[0] as ChangeStep);
    order.push(next);
    remaining.delete(next);
  }
  return order;
}

/** Whether the other step's appointment occupies the time that this step needs. */
function isInTheWay(step: ChangeStep, { index, before }: ChangeStep): boolean {
  const target = targetOf(step);
  if (!target || !before || index === step.index || before.state === 'cancelled') return false;
  return before.resourceId === target.resourceId && overlaps(before, target);
}

/** The time that a step will occupy. */
function targetOf({ change, before }: ChangeStep) {
  if (change.kind === 'create') return change;
  if (change.kind !== 'update' || !before) return undefined;
  return { ...(change.time ?? before), resourceId: change.resourceId ?? before.resourceId };
}
