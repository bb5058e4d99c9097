import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { holdsInRange, planReschedule, type ReschedulePlan } from './reschedule-plan.ts';

interface Range {
  start: Date;
  end: Date;
}
type Request = Parameters<typeof planReschedule>[0];

const at = (minute: number) => new Date(Date.UTC(2030, 0, 7, 9, minute));
const range = (start: number, end: number): Range => ({ start: at(start), end: at(end) });
const standing = (id: string, start: number, end: number) => ({ id, ...range(start, end) });
const grid = (start: number, end: number, length: number) =>
  Array.from({ length: Math.floor((end - start) / length) }, (_, index) =>
    range(start + index * length, start + (index + 1) * length),
  );

function planned(request: Request): ReschedulePlan {
  const plan = planReschedule(request);
  if ('unavailable' in plan) throw new Error(`is unavailable: ${JSON.stringify(plan.unavailable)}`);
  return plan;
}
const slotsOf = ({ kept, moved, created }: ReschedulePlan) =>
  [...kept.map(({ slot }) => slot), ...moved.map(({ slot }) => slot), ...created].toSorted(
    (a, b) => a.start.getTime() - b.start.getTime(),
  );

describe('the plan for the appointments', () => {
  const slots = grid(0, 240, 30);

  test('moves all, ordered by their current start, to a range of the same length', () => {
    const appointments = [standing('a', 30, 60), standing('b', 0, 30)];
    expect(planned({ appointments, slots, range: range(120, 180) })).toEqual({
      kept: [],
      moved: [
        { id: 'b', slot: range(120, 150) },
        { id: 'a', slot: range(150, 180) },
      ],
      created: [],
      cancelled: [],
    });
  });

  test('keeps an appointment on a slot of the range, and fills the other slots around it', () => {
    const appointments = [standing('a', 0, 30), standing('b', 30, 60), standing('c', 60, 90)];
    expect(planned({ appointments, slots, range: range(60, 150) })).toEqual({
      kept: [{ id: 'c', slot: range(60, 90) }],
      moved: [
        { id: 'a', slot: range(90, 120) },
        { id: 'b', slot: range(120, 150) },
      ],
      created: [],
      cancelled: [],
    });
  });

  test('creates appointments in a longer range', () => {
    const appointments = [standing('a', 30, 60)];
    expect(planned({ appointments, slots, range: range(0, 90) })).toEqual({
      kept: [{ id: 'a', slot: range(30, 60) }],
      moved: [],
      created: [range(0, 30), range(60, 90)],
      cancelled: [],
    });
  });

  test('cancels the last appointments that cannot be kept if the range is shorter', () => {
    const appointments = [
      standing('d', 180, 210),
      standing('c', 90, 120),
      standing('b', 90, 120),
      standing('a', 30, 60),
    ];
    expect(planned({ appointments, slots, range: range(150, 210) })).toEqual({
      kept: [{ id: 'd', slot: range(180, 210) }],
      moved: [{ id: 'a', slot: range(150, 180) }],
      created: [],
      cancelled: ['b', 'c'],
    });
  });

  test('keeps only appointments with the same start and end; an appointment takes one slot of any length', () => {
    const appointments = [standing('a', 0, 60)];
    expect(planned({ appointments, slots, range: range(0, 60) })).toMatchObject({
      moved: [{ id: 'a', slot: range(0, 30) }],
      created: [range(30, 60)],
    });
  });

  test('assigns nobody to a slot without length', () => {
    const appointments = [standing('a', 60, 90), standing('b', 90, 120)];
    const plan = planned({ appointments, slots: [range(0, 0), ...slots], range: range(0, 30) });
    expect(plan).toMatchObject({ moved: [{ id: 'a', slot: range(0, 30) }], cancelled: ['b'] });
  });

  test('orders equal starts by id, in code unit order', () => {
    const appointments = ['å', 'b', '10', '9', 'B'].map((id) => standing(id, 0, 30));
    const plan = planned({ appointments, slots, range: range(30, 180) });
    expect(plan.moved.map(({ id }) => id)).toEqual(['10', '9', 'B', 'b', 'å']);
  });

  test('keeps the first of two appointments on the same slot, by id', () => {
    const appointments = [standing('b', 0, 30), standing('a', 0, 30)];
    expect(planned({ appointments, slots, range: range(0, 60) })).toMatchObject({
      kept: [{ id: 'a', slot: range(0, 30) }],
      moved: [{ id: 'b', slot: range(30, 60) }],
    });
  });
});

describe('a range that cannot be divided into slots', () => {
  const appointments = [standing('a', 0, 30)];
  test.each([
    ['no slots', [], range(0, 60), range(0, 60)],
    ['a gap', [range(0, 30), range(45, 60)], range(0, 60), range(30, 45)],
    ['two gaps: the first is reported', [range(10, 20), range(30, 60)], range(0, 60), range(0, 10)],
    ['a start inside a slot', grid(0, 60, 30), range(15, 60), range(15, 30)],
    ['an end inside a slot', grid(0, 60, 30), range(0, 45), range(30, 45)],
    ['a slot that is longer than the range', [range(0, 90)], range(0, 60), range(0, 60)],
    [
      'slots of another schedule that do not reach the end',
      [range(0, 20), range(0, 30), range(20, 40)],
      range(0, 60),
      range(40, 60),
    ],
    ['slots without length', [range(0, 0), range(0, 30), range(30, 30)], range(0, 60), range(30, 60)],
  ])('%s', (_, slots, wanted, hole) => {
    expect(planReschedule({ appointments, slots, range: wanted })).toEqual({
      unavailable: { reason: 'hole', ...hole },
    });
  });

  test.each([range(0, 0), range(30, 0)])('a range without length', (wanted) => {
    expect(planReschedule({ appointments, slots: grid(0, 60, 30), range: wanted })).toHaveProperty('unavailable');
  });

  test('more than 100 slots', () => {
    expect(planned({ appointments: [], slots: grid(0, 1000, 10), range: range(0, 1000) }).created).toHaveLength(100);
    expect(planReschedule({ appointments, slots: grid(0, 1010, 10), range: range(0, 1010) })).toEqual({
      unavailable: { reason: 'too_many_slots', most: 100 },
    });
  });

  test('a gap is reported before too many slots', () => {
    expect(planReschedule({ appointments, slots: grid(0, 2000, 10), range: range(0, 2010) })).toEqual({
      unavailable: { reason: 'hole', ...range(2000, 2010) },
    });
  });
});

describe('overlapping slots', () => {
  const hourOrHalves = [range(0, 60), range(0, 30), range(30, 60)];

  test('avoids the shortest slot if no slot follows it', () => {
    const slots = [range(0, 10), range(10, 20), range(0, 30), range(30, 60)];
    expect(slotsOf(planned({ appointments: [], slots, range: range(0, 60) }))).toEqual([range(0, 30), range(30, 60)]);
  });

  test('prefers reusing appointments to keeping them in place', () => {
    const appointments = [standing('a', 0, 60), standing('b', 120, 180)];
    expect(planned({ appointments, slots: hourOrHalves, range: range(0, 60) })).toMatchObject({
      moved: [{ id: 'a' }, { id: 'b' }],
      cancelled: [],
    });
  });

  test('prefers keeping appointments in place to using fewer slots', () => {
    expect(planned({ appointments: [standing('a', 30, 60)], slots: hourOrHalves, range: range(0, 60) })).toMatchObject({
      kept: [{ id: 'a' }],
      created: [range(0, 30)],
    });
  });

  test('creates no more appointments than needed', () => {
    expect(planned({ appointments: [standing('a', 90, 120)], slots: hourOrHalves, range: range(0, 60) })).toMatchObject(
      { moved: [{ id: 'a', slot: range(0, 60) }], created: [] },
    );
  });

  test('prefers the shortest slots among plans of the same size', () => {
    const slots = [range(0, 40), range(40, 60), range(0, 20), range(20, 60)];
    const plan = planned({ appointments: [], slots, range: range(0, 60) });
    expect(plan.created).toEqual([range(0, 20), range(20, 60)]);
  });

  test('uses longer slots if the short ones are more than 100', () => {
    const appointments = grid(0, 1000, 10).map((slot, index) => ({ id: `${index}`, ...slot }));
    const slots = [...grid(0, 1500, 10), ...grid(0, 1500, 20)];
    expect(slotsOf(planned({ appointments, slots, range: range(0, 1500) }))).toHaveLength(100);
  });

  test('is fast despite millions of dead ends', () => {
    const slots = [10, 20, 30, 40, 50].flatMap((length) => grid(0, 600, length));
    expect(planReschedule({ appointments: [], slots, range: range(0, 605) })).toEqual({
      unavailable: { reason: 'hole', ...range(600, 605) },
    });
    expect(planned({ appointments: [], slots, range: range(0, 600) }).created).toHaveLength(12);
  });
});

test('finds the appointments that occupy the range, in the order of the ids', () => {
  const appointments = [standing('a', 0, 30), standing('b', 30, 60), standing('c', 60, 90), standing('d', 50, 55)];
  expect(holdsInRange(appointments, ['d', 'c', 'b', 'a', 'unknown'], range(30, 60))).toEqual(['d', 'b']);
  expect(holdsInRange(appointments, ['a', 'c'], range(30, 60))).toEqual([]);
  expect(holdsInRange(appointments, [], range(30, 60))).toEqual([]);
});

describe('properties', () => {
  const sure = { seed: 20300107, numRuns: 3000 };
  const key = ({ start, end }: Range) => `${start.getTime()}/${end.getTime()}`;
  const last = 9;

  /** A slot or an appointment on a timeline so short that they often overlap. */
  const anyRange = fc
    .tuple(fc.nat(last), fc.integer({ min: 1, max: 4 }))
    .map(([start, length]) => range(start, start + length));
  /** A schedule without gaps over the whole timeline. */
  const schedule = fc.uniqueArray(fc.integer({ min: 1, max: last - 1 }), { maxLength: last - 1 }).map((inner) => {
    const bounds = [0, ...inner.toSorted((a, b) => a - b), last];
    return bounds.slice(1).map((end, index) => range(bounds[index] ?? 0, end));
  });
  const anySlots = fc.oneof(
    fc.array(anyRange, { maxLength: 24 }),
    fc
      .tuple(fc.array(schedule, { minLength: 1, maxLength: 3 }), fc.array(anyRange, { maxLength: 4 }))
      .map(([schedules, others]) => [...schedules.flat(), ...others]),
  );
  const requests: fc.Arbitrary<Request> = anySlots.chain((slots) =>
    fc.record({
      appointments: fc
        .uniqueArray(fc.string({ minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 8 })
        .chain((ids) =>
          fc
            .array(fc.oneof(anyRange, fc.constantFrom(...slots, range(0, 1))), {
              minLength: ids.length,
              maxLength: ids.length,
            })
            .map((times) => ids.map((id, index) => ({ id, ...(times[index] ?? range(0, 1)) }))),
        ),
      slots: fc.constant(slots),
      range: fc.oneof(
        fc.constant(range(0, last)),
        anyRange,
        fc.tuple(fc.nat(4), fc.integer({ min: 5, max: last })).map(([start, end]) => range(start, end)),
      ),
    }),
  );

  /** All ways to divide the range into slots. */
  function allCuts(slots: readonly Range[], { start, end }: Range): Range[][] {
    if (start.getTime() === end.getTime()) return [[]];
    const distinct = [...new Map(slots.map((slot) => [key(slot), slot])).values()];
    return distinct
      .filter((slot) => slot.start.getTime() === start.getTime() && slot.end <= end)
      .flatMap((slot) => allCuts(slots, { start: slot.end, end }).map((rest) => [slot, ...rest]));
  }

  const check = (verify: (request: Request, plan: ReschedulePlan) => void) => {
    let plans = 0;
    fc.assert(
      fc.property(requests, (request) => {
        const plan = planReschedule(request);
        if ('unavailable' in plan) return;
        plans += 1;
        verify(request, plan);
      }),
      sure,
    );
    expect(plans).toBeGreaterThan(1000);
  };

  test('a plan exists exactly when the range can be divided; otherwise the error names a gap', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const plan = planReschedule(request);
        expect('unavailable' in plan).toBe(allCuts(request.slots, request.range).length === 0);
        if (!('unavailable' in plan)) return;
        if (plan.unavailable.reason !== 'hole') throw new Error('there cannot be too many');
        const { start, end } = plan.unavailable;
        expect(start >= request.range.start && start < end && end <= request.range.end).toBe(true);
        expect(allCuts(request.slots, { start: request.range.start, end: start })).not.toEqual([]);
        const inside = request.slots.filter((slot) => slot.end <= request.range.end);
        expect(inside.some((slot) => slot.start >= start && slot.start < end)).toBe(false);
      }),
      sure,
    );
  });

  test('the slots cover the range exactly, never overlap, and come from the input', () => {
    check((request, plan) => {
      const given = new Set(request.slots.map(key));
      let reached = request.range.start.getTime();
      for (const slot of slotsOf(plan)) {
        expect(slot.start.getTime()).toBe(reached);
        expect(given).toContain(key(slot));
        reached = slot.end.getTime();
      }
      expect(reached).toBe(request.range.end.getTime());
    });
  });

  test('every id occurs exactly once, and no other id occurs', () => {
    check(({ appointments }, { kept, moved, cancelled }) => {
      const ids = [...kept.map(({ id }) => id), ...moved.map(({ id }) => id), ...cancelled];
      expect(ids.toSorted()).toEqual(appointments.map(({ id }) => id).toSorted());
    });
  });

  test('as many appointments as possible are reused, then kept, with the fewest slots', () => {
    check((request, plan) => {
      const times = new Set(request.appointments.map(key));
      const score = (cut: readonly Range[]) => {
        const reused = Math.min(cut.length, request.appointments.length);
        return reused * 10_000 + cut.filter((slot) => times.has(key(slot))).length * 100 - cut.length;
      };
      const best = Math.max(...allCuts(request.slots, request.range).map(score));
      expect(score(slotsOf(plan))).toBe(best);
      expect(plan.kept.length + plan.moved.length).toBe(Math.min(slotsOf(plan).length, request.appointments.length));
    });
  });

  test('kept appointments are already on their slots, moved ones are not, and each list is ordered', () => {
    check(({ appointments }, { kept, moved, created, cancelled }) => {
      const before = new Map(appointments.map((appointment) => [appointment.id, appointment]));
      const occupied = new Set(kept.map(({ slot }) => key(slot)));
      for (const { id, slot } of kept) expect(before.get(id)).toMatchObject(slot);
      for (const { id, slot } of moved) expect(before.get(id)).not.toMatchObject(slot);
      for (const slots of [kept.map(({ slot }) => slot), moved.map(({ slot }) => slot), created]) {
        const starts = slots.map(({ start }) => start.getTime());
        expect(starts).toEqual(starts.toSorted((a, b) => a - b));
      }
      const followers = appointments
        .filter(({ id }) => !kept.some((placed) => placed.id === id))
        .toSorted((a, b) => a.start.getTime() - b.start.getTime() || (a.id < b.id ? -1 : 1));
      expect([...moved.map(({ id }) => id), ...cancelled]).toEqual(followers.map(({ id }) => id));
      const cut = new Set([...occupied, ...moved.map(({ slot }) => key(slot)), ...created.map(key)]);
      for (const follower of followers) if (cut.has(key(follower))) expect(occupied).toContain(key(follower));
    });
  });

  test('the order of the input does not matter, and the input is not changed', () => {
    const shuffled = requests.chain((request) =>
      fc.tuple(
        fc.constant(request),
        fc.record({
          appointments: fc.shuffledSubarray([...request.appointments], { minLength: request.appointments.length }),
          slots: fc.shuffledSubarray([...request.slots], { minLength: request.slots.length }),
          range: fc.constant(request.range),
        }),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([request, other]) => {
        const copy = structuredClone(request);
        const plan = planReschedule(request);
        expect(planReschedule(request)).toEqual(plan);
        expect(planReschedule(other)).toEqual(plan);
        expect(request).toEqual(copy);
      }),
      sure,
    );
  });

  test('a second plan keeps every appointment, whether or not the unused slots are still free', () => {
    check((request, plan) => {
      const appointments = [
        ...[...plan.kept, ...plan.moved].map(({ id, slot }) => ({ id, ...slot })),
        ...plan.created.map((slot, index) => ({ id: `created ${index}`, ...slot })),
      ];
      for (const slots of [request.slots, slotsOf(plan)]) {
        const again = planned({ appointments, slots, range: request.range });
        expect(again).toMatchObject({ moved: [], created: [], cancelled: [] });
        expect(again.kept.map(({ id }) => id).toSorted()).toEqual(appointments.map(({ id }) => id).toSorted());
      }
    });
  });
});
