import type { AppointmentChange } from '../connector.ts';
import { capability, claimed } from './check.ts';
import { expectRejection, expectSame, facts } from './expect.ts';
import {
  appointmentsAt,
  book,
  change,
  changes,
  consecutiveSlots,
  creation,
  type freeSlot,
  moves,
  mustRead,
  needsBooking,
  write,
} from './steps.ts';

type Slot = Awaited<ReturnType<typeof freeSlot>>;

export const transactions = capability('transactions', ({ capabilities }) => capabilities.transactions, {
  'makes several changes and returns the appointments in their order': claimed([changes('cancel')], async (subject) => {
    needsBooking(subject);
    const [a, b, c] = (await consecutiveSlots(subject, 3)) as [Slot, Slot, Slot];
    const former = await book(subject, { slot: a });
    const result = await write(subject, [
      await creation(subject, c),
      { kind: 'cancel', appointmentId: former.id },
      await creation(subject, b),
    ]);
    expectSame(
      result.map(({ state, start }) => [state, start]),
      [
        ['booked', c.start],
        ['cancelled', a.start],
        ['booked', b.start],
      ],
      'State and start of the returned appointments',
    );
    for (const appointment of result) {
      expectSame(facts(await mustRead(subject, appointment.id)), facts(appointment), 'An appointment, read again');
    }
  }),

  'one failed change undoes all changes': claimed([changes('cancel')], async (subject) => {
    needsBooking(subject);
    const [a, b, taken] = (await consecutiveSlots(subject, 3)) as [Slot, Slot, Slot];
    const mine = await book(subject, { slot: a, comment: 'as it was' });
    await book(subject, { slot: taken });
    const good: AppointmentChange[] = [
      { kind: 'cancel', appointmentId: mine.id, comment: 'changed' },
      await creation(subject, b),
    ];
    for (const [place, changes] of [
      ['first', [await creation(subject, taken), ...good]],
      ['second', [good[0], await creation(subject, taken), good[1]]],
      ['third', [...good, await creation(subject, taken)]],
    ] as [string, AppointmentChange[]][]) {
      await expectRejection(
        write(subject, changes),
        'time_slot_unavailable',
        `A write whose ${place} change is invalid`,
      );
      expectSame(
        facts(await mustRead(subject, mine.id)),
        facts(mine),
        `An appointment after the ${place} change failed`,
      );
      expectSame(
        (await appointmentsAt(subject, b)).length,
        0,
        `Appointments created although the ${place} change failed`,
      );
    }
  }),

  'rejects two bookings of the same time in one write': async (subject) => {
    needsBooking(subject);
    const [slot] = (await consecutiveSlots(subject, 1)) as [Slot];
    const twice = [await creation(subject, slot), await creation(subject, slot)];
    await expectRejection(write(subject, twice), 'time_slot_unavailable', 'Booking one time twice in one write');
    expectSame((await appointmentsAt(subject, slot)).length, 0, 'Appointments created by a rejected write');
  },

  'a cancellation frees its time for other changes in the same write': claimed([changes('cancel')], async (subject) => {
    needsBooking(subject);
    const [slot] = (await consecutiveSlots(subject, 1)) as [Slot];
    for (const cancelFirst of [true, false]) {
      const former = await book(subject, { slot });
      const cancel: AppointmentChange = { kind: 'cancel', appointmentId: former.id };
      const create = await creation(subject, slot);
      const result = await write(subject, cancelFirst ? [cancel, create] : [create, cancel]);
      const next = result[cancelFirst ? 1 : 0];
      expectSame(
        (await appointmentsAt(subject, slot)).map(({ id }) => id),
        [next?.id],
        'Appointments at a time that was cancelled and booked in one write',
      );
      await change(subject, { kind: 'cancel', appointmentId: next?.id ?? '' });
    }
  }),

  'two appointments can swap times': claimed([moves], async (subject) => {
    needsBooking(subject);
    const [a, b] = (await consecutiveSlots(subject, 2)) as [Slot, Slot];
    const [first, second] = [await book(subject, { slot: a }), await book(subject, { slot: b })];
    const [movedFirst, movedSecond] = await write(subject, [
      { kind: 'update', appointmentId: first.id, time: { start: b.start, end: b.end } },
      { kind: 'update', appointmentId: second.id, time: { start: a.start, end: a.end } },
    ]);
    expectSame(
      [movedFirst?.start, movedSecond?.start],
      [b.start, a.start],
      'Starts of two appointments that swapped times',
    );
    expectSame(
      (await mustRead(subject, movedFirst?.id ?? '')).start,
      b.start,
      'Start of the first appointment, read again',
    );
  }),
});
