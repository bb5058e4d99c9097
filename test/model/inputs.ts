import fc from 'fast-check';
import { ehrFaults } from './faults.ts';
import { dayEnd, type Patient, type Resource, type Service, slots, type Time } from './model.ts';
import type { Pick, SendOptions } from './step.ts';

const index = fc.oneof(fc.nat({ max: 2 }), fc.nat({ max: 20 }));

export function pick(...among: Pick['among'][]): fc.Arbitrary<Pick> {
  return fc.record({
    among: fc.oneof(
      { weight: 20, arbitrary: fc.constantFrom(...among) },
      { weight: 3, arbitrary: fc.constant('all' as const) },
      { weight: 1, arbitrary: fc.constant('nothing' as const) },
    ),
    index,
  });
}

export function picks(...among: Pick['among'][]): fc.Arbitrary<Pick[]> {
  return fc.array(pick(...among), { minLength: 1, maxLength: 4, size: 'max' });
}

export const patient: fc.Arbitrary<Patient> = fc.oneof(
  { weight: 4, arbitrary: fc.constant('p-3' as const) },
  { weight: 2, arbitrary: fc.constant('p-4' as const) },
  { weight: 1, arbitrary: fc.constant('p-19' as const) },
  { weight: 1, arbitrary: fc.constant('p-20' as const) },
);

export const service: fc.Arbitrary<Service> = fc.oneof(
  { weight: 3, arbitrary: fc.constant('vaccination' as const) },
  { weight: 1, arbitrary: fc.constant('consultation' as const) },
);

export const resource: fc.Arbitrary<Resource> = fc.oneof(
  { weight: 4, arbitrary: fc.constant('first' as const) },
  { weight: 3, arbitrary: fc.constant('second' as const) },
  { weight: 1, arbitrary: fc.constant('room' as const) },
);

/** Mostly one slot. */
export const short: fc.Arbitrary<number> = fc.oneof(
  { weight: 4, arbitrary: fc.constant(1) },
  { weight: 1, arbitrary: fc.constantFrom(2, 3) },
);
export const long: fc.Arbitrary<number> = fc.integer({ min: 1, max: 3 });

/** Mostly on slot boundaries, sometimes during lunch, sometimes fifteen minutes off. */
export function time(length: fc.Arbitrary<number>): fc.Arbitrary<Time> {
  const from = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...slots) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: dayEnd - 1 }) },
    { weight: 1, arbitrary: fc.constantFrom(...slots.map((slot) => slot + 0.5)) },
  );
  return fc.tuple(from, length).map(([start, halfHours]) => ({ from: start, to: Math.min(start + halfHours, dayEnd) }));
}

/** Absent: the comment is kept. Empty: the comment is removed. */
export const comment: fc.Arbitrary<string | undefined> = fc.option(fc.constantFrom('', 'one', 'two'), {
  nil: undefined,
});

export const options: fc.Arbitrary<SendOptions> = fc.oneof(
  { weight: 8, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.constant({ dryRun: true }) },
  { weight: 1, arbitrary: fc.constant({ twice: true }) },
  { weight: 1, arbitrary: fc.constantFrom(...ehrFaults).map((fault) => ({ fault })) },
);

export const which: fc.Arbitrary<'correct' | 'incorrect' | 'superseded'> = fc.oneof(
  { weight: 6, arbitrary: fc.constant('correct' as const) },
  { weight: 3, arbitrary: fc.constant('incorrect' as const) },
  { weight: 1, arbitrary: fc.constant('superseded' as const) },
);
