import { coversWithoutGap, overlaps } from '@crossward/connector-kit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planSameTimes } from './bulk-slot-plan.ts';

type Request = Parameters<typeof planSameTimes>[0];

const at = (minute: number) => new Date(Date.UTC(2030, 0, 7, 9, minute));
const slot = (start: number, end: number, healthcareServiceId = 'consultation') => ({
  healthcareServiceId,
  start: at(start),
  end: at(end),
});
const desired = (
  id: string,
  start: number,
  end: number,
  more: { service?: string; standsOnTarget?: boolean } = {},
) => ({
  id,
  ...slot(start, end, more.service),
  standsOnTarget: more.standsOnTarget ?? false,
});

describe('examples', () => {
  const halves = [slot(0, 30), slot(30, 60), slot(60, 90), slot(120, 150)];

  test.each([
    ['nothing to move', [], []],
    ['one free slot each', [desired('a', 30, 60), desired('b', 0, 30)], []],
    ['consecutive slots', [desired('a', 0, 90)], []],
    ['a gap', [desired('a', 60, 150)], ['a']],
    ['a time that starts inside a slot', [desired('a', 15, 60)], ['a']],
    ['a time that ends inside a slot', [desired('a', 0, 45)], ['a']],
    ['a slot of another service', [desired('a', 0, 30, { service: 'follow-up' })], ['a']],
    ['the same time', [desired('b', 0, 30), desired('a', 0, 30)], ['a']],
    ['overlapping times', [desired('a', 0, 60), desired('b', 30, 90), desired('c', 60, 90)], ['b']],
    ['neighbours', [desired('a', 0, 30), desired('b', 30, 60)], []],
    ['an id at fault does not take a slot', [desired('a', 60, 150), desired('b', 60, 90)], ['a']],
    ['all at fault, in order', [desired('c', 90, 120), desired('a', 0, 30), desired('b', 0, 30)], ['c', 'b']],
    ['already there without a slot', [desired('a', 90, 120, { standsOnTarget: true })], []],
    [
      'already there, but an earlier id takes the slot',
      [desired('a', 0, 30), desired('b', 0, 30, { standsOnTarget: true })],
      ['b'],
    ],
    [
      'already there, before an id for the same slot',
      [desired('b', 0, 30, { standsOnTarget: true }), desired('a', 0, 30)],
      ['a'],
    ],
  ])('%s', (_, appointments, faults) => {
    expect(planSameTimes({ appointments, slots: halves })).toEqual({ faults });
  });

  test('two services of one resource share its time', () => {
    const appointments = [desired('a', 0, 30), desired('b', 0, 30, { service: 'follow-up' })];
    const slots = [slot(0, 30), slot(0, 30, 'follow-up')];
    expect(planSameTimes({ appointments, slots })).toEqual({ faults: ['b'] });
    expect(planSameTimes({ appointments: appointments.toReversed(), slots })).toEqual({ faults: ['a'] });
  });
});

describe('properties', () => {
  const sure = { seed: 20300107, numRuns: 3000 };
  const services = ['consultation', 'follow-up'];

  /** Slots of one service that never overlap, with gaps. */
  const schedule = (service: string) =>
    fc.array(fc.tuple(fc.constantFrom(0, 0, 0, 1), fc.integer({ min: 1, max: 3 })), { maxLength: 8 }).map((pieces) => {
      let reached = 0;
      return pieces.map(([hole, length]) => {
        const start = reached + hole;
        reached = start + length;
        return slot(start, reached, service);
      });
    });
  const wishes = fc
    .uniqueArray(
      fc.record({
        id: fc.string({ minLength: 1, maxLength: 3 }),
        start: fc.nat(12),
        length: fc.integer({ min: 1, max: 5 }),
        service: fc.constantFrom(...services),
        standsOnTarget: fc.boolean(),
      }),
      { selector: ({ id }) => id, maxLength: 10 },
    )
    .map((all) =>
      all.map(({ id, start, length, service, standsOnTarget }) =>
        desired(id, start, start + length, { service, standsOnTarget }),
      ),
    );
  const requests: fc.Arbitrary<Request> = fc.record({
    appointments: wishes,
    slots: fc.tuple(...services.map(schedule)).map((schedules) => schedules.flat()),
  });
  const check = (verify: (request: Request, faults: readonly string[]) => void) =>
    fc.assert(
      fc.property(requests, (request) => verify(request, planSameTimes(request).faults)),
      sure,
    );

  test('an id is at fault exactly when its time is not free or overlaps an earlier id without fault', () => {
    check(({ appointments, slots }, faults) => {
      const expected = appointments.filter((wanted, index) => {
        const own = slots.filter(({ healthcareServiceId }) => healthcareServiceId === wanted.healthcareServiceId);
        const isFree = wanted.standsOnTarget || coversWithoutGap(own, wanted);
        const earlier = appointments.slice(0, index).filter(({ id }) => !faults.includes(id));
        return !isFree || earlier.some((other) => overlaps(other, wanted));
      });
      expect(faults).toEqual(expected.map(({ id }) => id));
    });
  });

  test('ids without fault never overlap', () => {
    check(({ appointments }, faults) => {
      const placed = appointments
        .filter(({ id }) => !faults.includes(id))
        .toSorted((a, b) => a.start.getTime() - b.start.getTime());
      for (const [index, next] of placed.slice(1).entries()) {
        expect(placed[index]?.end.getTime()).toBeLessThanOrEqual(next.start.getTime());
      }
    });
  });

  test('later ids and ids at fault do not affect the others', () => {
    check(({ appointments, slots }, faults) => {
      const half = appointments.slice(0, Math.ceil(appointments.length / 2));
      const halfIds = new Set(half.map(({ id }) => id));
      expect(planSameTimes({ appointments: half, slots }).faults).toEqual(faults.filter((id) => halfIds.has(id)));
      const faultless = appointments.filter(({ id }) => !faults.includes(id));
      expect(planSameTimes({ appointments: faultless, slots }).faults).toEqual([]);
    });
  });

  test('the order of the slots does not matter, and the input is not changed', () => {
    check((request, faults) => {
      const copy = structuredClone(request);
      expect(planSameTimes({ ...request, slots: request.slots.toReversed() }).faults).toEqual(faults);
      expect(request).toEqual(copy);
    });
  });
});
