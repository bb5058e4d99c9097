import { expect } from 'vitest';
import { careUnitPath } from '../ehrs/other-ehrs.ts';
import { rebookingEmr } from '../processes/rebooking-emr.ts';
import { oslo, type Slot } from '../requests/bookings.ts';
import type { Operation } from './operation.ts';
import { book, change, changeMany, create } from './requests.ts';

const rebooking = careUnitPath(rebookingEmr, 'oslo-sentrum');

/** Writes to appointments without a code. */
export const appointments: readonly Operation[] = [
  {
    name: 'a booking',
    completesAfter: 'intent',
    every: 2,
    async prepare(world) {
      const [slot] = (await world.take(oslo, 'r-1', 1)) as [Slot];
      return {
        request: create(oslo, slot),
        status: 201,
        async expectDone({ body, headers }) {
          expect(headers.get('location')).toBe(`${oslo}/appointments/${body.id}`);
          expect(await world.at(oslo, slot)).toEqual([body]);
        },
        expectDoneWithoutRetry: async () => expect(await world.at(oslo, slot)).toMatchObject([{ status: 'booked' }]),
        expectNothingDone: async () => expect(await world.at(oslo, slot)).toEqual([]),
      };
    },
  },
  {
    name: 'a cancellation',
    completesAfter: 'intent',
    every: 2,
    async prepare(world) {
      const [slot] = (await world.take(oslo, 'r-1', 1)) as [Slot];
      const id = await book(world, oslo, slot);
      const expectCancelled = async () => {
        expect((await world.get(oslo, id)).status).toBe('cancelled');
        expect(await world.at(oslo, slot)).toEqual([]);
      };
      return {
        request: change(oslo, id, { status: 'cancelled' }),
        status: 200,
        expectDone: expectCancelled,
        expectDoneWithoutRetry: expectCancelled,
        expectNothingDone: async () => expect(await world.at(oslo, slot)).toMatchObject([{ id, status: 'booked' }]),
      };
    },
  },
  {
    name: 'a bulk move',
    completesAfter: 'intent',
    every: 2,
    async prepare(world) {
      const [first, second] = (await world.take(oslo, 'r-3', 2)) as [Slot, Slot];
      const ids = [await book(world, oslo, first), await book(world, oslo, second)];
      const toFourth = (slot: Slot) => ({ ...slot, resource_id: 'emr_id:r-4' });
      const expectAt = (move: (slot: Slot) => Slot) => async () =>
        expect((await world.at(oslo, move(first), move(second))).map(({ id }) => id)).toEqual(ids);
      return {
        request: changeMany(oslo, ids, { resource_id: 'r-4' }),
        status: 200,
        expectDone: expectAt(toFourth),
        expectDoneWithoutRetry: expectAt(toFourth),
        expectNothingDone: expectAt((slot) => slot),
      };
    },
  },
  {
    name: 'a move that books anew',
    completesAfter: 'intent',
    every: 2,
    async prepare(world) {
      const [from, to] = (await world.take(rebooking, 'r-1', 2)) as [Slot, Slot];
      const id = await book(world, rebooking, from);
      const expectAlone = async (expected: object) =>
        expect(await world.at(rebooking, from, to)).toMatchObject([{ status: 'booked', ...expected }]);
      const expectMoved = () => expectAlone({ start: to.start, supersedes_id: id });
      return {
        request: change(rebooking, id, { start: to.start, end: to.end }),
        status: 200,
        expectDone: expectMoved,
        expectDoneWithoutRetry: expectMoved,
        expectNothingDone: () => expectAlone({ id, start: from.start }),
      };
    },
  },
  {
    name: 'a reschedule to consecutive slots',
    completesAfter: 'intent',
    every: 2,
    async prepare(world) {
      const run = await world.take(oslo, 'r-2', 4);
      const [first, second, , last] = run as [Slot, Slot, Slot, Slot];
      const ids = [await book(world, oslo, first), await book(world, oslo, second)];
      const expectStarts = async (slots: readonly Slot[]) => {
        const found = await world.at(oslo, first, last);
        expect(found.map(({ start }) => start)).toEqual(slots.map(({ start }) => start));
        expect(found.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
      };
      return {
        request: changeMany(oslo, ids, { start: second.start, end: last.end }),
        status: 200,
        async expectDone({ body }) {
          expect(body.appointments).toEqual(await world.at(oslo, first, last));
          await expectStarts(run.slice(1));
        },
        expectDoneWithoutRetry: () => expectStarts(run.slice(1)),
        expectNothingDone: () => expectStarts(run.slice(0, 2)),
      };
    },
  },
];
