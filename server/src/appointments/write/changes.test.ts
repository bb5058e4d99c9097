import type { Appointment } from '@crossward/connector-kit';
import { overlaps } from '@crossward/connector-kit';
import { type Arbitrary, array, assert, constantFrom, integer, property, record } from 'fast-check';
import { expect, test } from 'vitest';
import type { ChangeStep } from './changes.ts';
import { withoutCollisions } from './changes.ts';
import type { PlannedChange } from './plan.ts';

/** A whole number of hours within one day, short enough that steps overlap. */
interface Spot {
  readonly resourceId: string;
  readonly hour: number;
  readonly hours: number;
}
const spot: Arbitrary<Spot> = record({
  resourceId: constantFrom('r-1', 'r-2'),
  hour: integer({ min: 0, max: 6 }),
  hours: integer({ min: 1, max: 2 }),
});

function timeOf({ hour, hours }: Spot) {
  return { start: new Date(Date.UTC(2026, 0, 5, hour)), end: new Date(Date.UTC(2026, 0, 5, hour + hours)) };
}

const drawn = record({
  kind: constantFrom('create', 'update', 'cancel', 'confirm', 'release', 'extend'),
  state: constantFrom('booked', 'held', 'cancelled'),
  from: spot,
  to: spot,
});

const steps: Arbitrary<readonly ChangeStep[]> = array(drawn, { maxLength: 8 }).map((all) =>
  all.map(({ kind, state, from, to }, index): ChangeStep => {
    const place = { resourceId: to.resourceId, ...timeOf(to) };
    if (kind === 'create') {
      const change = { kind, patientId: 'p', healthcareServiceId: 's', comment: null, hold: false, ...place } as const;
      return { index, change };
    }
    const id = `a-${index}`;
    const before = { id, state, resourceId: from.resourceId, ...timeOf(from) } as Appointment;
    const change = (
      kind === 'update'
        ? { kind, appointmentId: id, resourceId: to.resourceId, time: timeOf(to) }
        : { kind, appointmentId: id }
    ) as PlannedChange;
    return { index, change, before };
  }),
);

/** Whether `other` occupies the time that `step` needs. */
function isInTheWay(step: ChangeStep, other: ChangeStep): boolean {
  const { change } = step;
  const { before } = other;
  if (step === other || !before || before.state === 'cancelled') return false;
  if (change.kind !== 'create' && change.kind !== 'update') return false;
  const time = change.kind === 'create' ? change : change.time;
  if (!time || change.resourceId !== before.resourceId) return false;
  return overlaps(time, before);
}

/** Whether the chain of blocking steps leads back to a step that it has visited. */
function isInCycle(step: ChangeStep, all: readonly ChangeStep[], seen: readonly ChangeStep[] = []): boolean {
  if (seen.includes(step)) return true;
  return all.some((other) => isInTheWay(step, other) && isInCycle(other, all, [...seen, step]));
}

test('every step occurs exactly once', () => {
  assert(
    property(steps, (all) => {
      expect(
        withoutCollisions(all)
          .map(({ index }) => index)
          .toSorted(),
      ).toEqual(all.map(({ index }) => index));
    }),
  );
});

test('a step comes after the steps that occupy its time, unless they wait for each other', () => {
  assert(
    property(steps, (all) => {
      const order = withoutCollisions(all);
      const misplaced = order.filter((step, position) => order.slice(position).some((it) => isInTheWay(step, it)));
      for (const step of misplaced) expect(isInCycle(step, all)).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test('steps that cannot be compensated come last, unless another step needs their time', () => {
  const isPermanent = ({ change: { kind } }: ChangeStep) => ['cancel', 'release', 'confirm'].includes(kind);
  assert(
    property(steps, (all) => {
      const order = withoutCollisions(all);
      order.forEach((step, position) => {
        const isEarly = isPermanent(step) && order.slice(position).some((it) => !isPermanent(it));
        if (isEarly) expect(order.slice(position).some((it) => isInTheWay(it, step))).toBe(true);
      });
    }),
    { numRuns: 1000 },
  );
});
