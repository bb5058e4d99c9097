import { expect } from 'vitest';
import { riverside, type Slot, sodermalm } from '../requests/bookings.ts';
import { type Confirmation, eventually } from '../requests/codes.ts';
import type { Operation } from './operation.ts';
import { book, change, create } from './requests.ts';

/** Writes that send a code or use one. */
export const writesWithCodes: readonly Operation[] = [
  {
    name: 'a booking by code',
    completesAfter: 'end',
    every: 1,
    async prepare(world) {
      const [slot] = (await world.take(sodermalm, 'r-1', 1)) as [Slot];
      const before = (await world.messages()).length;
      return {
        request: create(sodermalm, slot),
        status: 201,
        async expectDone({ body }, isAlone) {
          expect(body.status).toBe('awaiting_confirmation');
          const code = await world.codeFor(body.id);
          if (isAlone) expect(await world.messages()).toHaveLength(before + 1);
          expect(await world.at(sodermalm, slot)).toMatchObject([{ id: body.id }]);
          const confirmed = await world.done(change(sodermalm, body.id, { confirmation: { code } }));
          expect(confirmed.body.status).toBe('booked');
        },
        async expectDoneWithoutRetry() {
          const [held, ...more] = await world.at(sodermalm, slot);
          expect([held?.status, more]).toEqual(['awaiting_confirmation', []]);
          await world.codeFor(held?.id ?? '');
        },
        expectNothingDone: async () => expect(await world.at(sodermalm, slot)).toEqual([]),
      };
    },
  },
  {
    name: 'a confirmation',
    completesAfter: 'intent',
    every: 1,
    async prepare(world) {
      const [slot] = (await world.take(sodermalm, 'r-1', 1)) as [Slot];
      const { id } = (await world.done(create(sodermalm, slot))).body;
      const request = change(sodermalm, id, { confirmation: { code: await world.codeFor(id) } });
      const expectBooked = async () => {
        expect(await world.at(sodermalm, slot)).toMatchObject([{ id, status: 'booked', confirmation: null }]);
        await world.codeFor(id);
      };
      return {
        request,
        status: 200,
        expectDone: expectBooked,
        expectDoneWithoutRetry: expectBooked,
        async expectNothingDone() {
          const appointment = await world.get(sodermalm, id);
          expect(appointment.status).toBe('awaiting_confirmation');
          expect((appointment.confirmation as Confirmation).attempts_remaining).toBe(5);
        },
      };
    },
  },
  {
    name: 'an incorrect code',
    completesAfter: 'end',
    every: 1,
    async prepare(world) {
      const [slot] = (await world.take(sodermalm, 'r-1', 1)) as [Slot];
      const { id } = (await world.done(create(sodermalm, slot))).body;
      const code = (await world.codeFor(id)) === '000000' ? '000001' : '000000';
      const expectAttemptsLeft = async (attempts: number) => {
        const { confirmation } = await world.get(sodermalm, id);
        expect((confirmation as Confirmation).attempts_remaining).toBe(attempts);
      };
      return {
        request: change(sodermalm, id, { confirmation: { code } }),
        status: 400,
        expectDone: () => expectAttemptsLeft(4),
        expectDoneWithoutRetry: () => expectAttemptsLeft(4),
        expectNothingDone: () => expectAttemptsLeft(5),
      };
    },
  },
  {
    name: 'a resend',
    completesAfter: 'end',
    every: 1,
    async prepare(world) {
      const [slot] = (await world.take(sodermalm, 'r-1', 1)) as [Slot];
      const { id, confirmation } = (await world.done(create(sodermalm, slot))).body;
      await world.codesFor(id, 1);
      await world.allowResend((confirmation as Confirmation).id);
      return {
        request: { method: 'POST', path: `${sodermalm}/appointments/${id}/confirmation` },
        status: 202,
        async expectDone({ body }) {
          expect(body).toMatchObject({ id, status: 'awaiting_confirmation' });
          const [code] = await world.codesFor(id, 2);
          const confirmed = await world.done(change(sodermalm, id, { confirmation: { code } }));
          expect(confirmed.body.status).toBe('booked');
        },
        expectDoneWithoutRetry: async () => void (await world.codesFor(id, 2)),
        async expectNothingDone() {
          await world.codesFor(id, 1);
          expect(await world.at(sodermalm, slot)).toMatchObject([{ id, status: 'awaiting_confirmation' }]);
        },
      };
    },
  },
  {
    name: 'the first step of a two-step cancellation',
    completesAfter: 'end',
    every: 2,
    async prepare(world) {
      const [slot] = (await world.take(riverside, 'r-1', 1)) as [Slot];
      const id = await book(world, riverside, slot);
      const before = (await world.messages()).length;
      const expectBooked = async () =>
        expect(await world.get(riverside, id)).toMatchObject({ status: 'booked', confirmation: null });
      const request = change(riverside, id, { status: 'cancelled' });
      return {
        request,
        status: 200,
        async expectDone({ body }, isAlone) {
          expect(body).toMatchObject({ status: 'awaiting_confirmation', replaces_id: id });
          await world.codeFor(body.id);
          if (isAlone) expect(await world.messages()).toHaveLength(before + 1);
          await expectBooked();
          expect((await world.done(request)).body.id).toBe(body.id);
        },
        async expectDoneWithoutRetry() {
          await expectBooked();
          await eventually(async () => expect((await world.messages()).length).toBeGreaterThan(before));
        },
        expectNothingDone: expectBooked,
      };
    },
  },
];
