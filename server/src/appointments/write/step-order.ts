import { overlaps } from '@crossward/connector-kit';
import type { ChangeStep } from './plan.ts';

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
