import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppointmentChange } from '../connector.ts';
import { capability, claimed } from './check.ts';
import { expectRejection, expectSame, expectThat, facts, given, operation } from './expect.ts';
import {
  appointmentsAt,
  book,
  change,
  changes,
  consecutiveSlots,
  creation,
  freeSlot,
  moves,
  mustRead,
  needsBooking,
} from './steps.ts';
import type { Subject } from './subject.ts';

type Slot = Awaited<ReturnType<typeof freeSlot>>;

function findOperation({ connector, careUnit }: Subject, operationId: string) {
  return operation(connector, 'findOperation')(careUnit, operationId);
}

/** Delays in milliseconds between the start of a write and the crash of its connector. */
const moments = [0, 1, 2, 4, 8, 16, 32, 64];

export const operationIds = capability('operation-ids', (connector) => connector.findOperation !== undefined, {
  'an unused operation id returns null': async (subject) => {
    expectSame(await findOperation(subject, randomUUID()), null, 'Result for an unused operation id');
  },

  'an operation id finds the appointments of its write': async (subject) => {
    needsBooking(subject);
    const operationId = randomUUID();
    const slot = await freeSlot(subject);
    const made = await change(subject, await creation(subject, slot), { operationId, isFirst: true });
    const found = given(await findOperation(subject, operationId), 'the operation was not found');
    expectSame(found.map(facts), [facts(made)], 'Appointments of the operation');
  },

  'repeating a booking with the same operation id books once': async (subject) => {
    needsBooking(subject);
    const slot = await freeSlot(subject);
    const booking = await creation(subject, slot, { comment: 'first' });
    const operationId = randomUUID();
    const first = await change(subject, booking, { operationId, isFirst: true });
    for (const comment of ['first', 'another']) {
      const again = await change(subject, { ...booking, comment }, { operationId });
      expectSame(facts(again), facts(first), 'Result of a repeated write');
    }
    expectSame(
      (await appointmentsAt(subject, slot)).length,
      1,
      'Appointments created by three writes with one operation id',
    );
  },

  'ten concurrent writes with the same operation id book once': async (subject) => {
    needsBooking(subject);
    const slot = await freeSlot(subject);
    const booking = await creation(subject, slot);
    const operationId = randomUUID();
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, index) => {
        const through = index % 2 ? (subject.second ?? subject.connector) : subject.connector;
        return change(subject, booking, { operationId, through });
      }),
    );
    expectSame(
      new Set(results.map(({ id }) => id)).size,
      1,
      'Distinct appointments returned by ten writes with one operation id',
    );
    expectSame(
      (await appointmentsAt(subject, slot)).length,
      1,
      'Appointments created by ten writes with one operation id',
    );
  },

  'repeating a move or cancellation with the same operation id changes nothing': claimed(
    [moves, changes('cancel')],
    async (subject) => {
      needsBooking(subject);
      const [a, b, c] = (await consecutiveSlots(subject, 3)) as [Slot, Slot, Slot];
      const { id } = await book(subject, { slot: a });
      const move: AppointmentChange = { kind: 'update', appointmentId: id, time: { start: b.start, end: b.end } };
      const operationId = randomUUID();
      const moved = await change(subject, move, { operationId, isFirst: true });
      const next: AppointmentChange = { ...move, appointmentId: moved.id, time: { start: c.start, end: c.end } };
      const movedOn = await change(subject, next);
      await change(subject, move, { operationId });
      expectSame((await mustRead(subject, movedOn.id)).start, c.start, 'Start after an earlier move was repeated');
      const cancel: AppointmentChange = { kind: 'cancel', appointmentId: movedOn.id, comment: 'why' };
      const cancellation = randomUUID();
      await change(subject, cancel, { operationId: cancellation, isFirst: true });
      const again = await change(subject, { ...cancel, comment: 'again' }, { operationId: cancellation });
      expectSame([again.state, again.comment], ['cancelled', 'why'], 'State and comment after a repeated cancellation');
    },
  ),

  'the operation id of a rejected write can be reused': async (subject) => {
    needsBooking(subject);
    const [slot, other] = (await consecutiveSlots(subject, 2)) as [Slot, Slot];
    await book(subject, { slot });
    const operationId = randomUUID();
    const rejected = change(subject, await creation(subject, slot), { operationId, isFirst: true });
    await expectRejection(rejected, 'time_slot_unavailable', 'Booking a booked time');
    expectSame(await findOperation(subject, operationId), null, 'Result for the operation id of a rejected write');
    const made = await change(subject, await creation(subject, other), { operationId });
    expectSame(made.start, other.start, 'Start of a booking that reuses the operation id of a rejected write');
  },

  'a write interrupted by a crash can be looked up and retried once': async (subject) => {
    needsBooking(subject);
    const restart = given(subject.restart, 'the connector cannot be restarted in this run');
    for (const moment of moments) {
      const slot = await freeSlot(subject);
      const booking = await creation(subject, slot);
      const operationId = randomUUID();
      const first = change(subject, booking, { operationId, isFirst: true }).catch(() => undefined);
      await sleep(moment);
      await restart();
      await first;
      // The EHR may still be making the write. So what was there before the look-up must be found, and what was found must
      // be there after it.
      const takenBefore = await appointmentsAt(subject, slot);
      const found = (await findOperation(subject, operationId)) ?? [];
      const takenAfter = await appointmentsAt(subject, slot);
      expectThat(
        takenBefore.length <= found.length && found.length <= takenAfter.length,
        `After a crash at ${moment} ms, the operation id found ${found.length} appointments; the time had ${takenBefore.length} before and ${takenAfter.length} after it`,
      );
      const made = await change(subject, booking, { operationId });
      const after = await appointmentsAt(subject, slot);
      expectSame(
        after.map(({ id }) => id),
        [made.id],
        `Appointments after a retry, crash at ${moment} ms`,
      );
    }
  },
});
