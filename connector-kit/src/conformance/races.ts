import type { Connector } from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import type { Appointment } from '../records.ts';
import { capability } from './check.ts';
import { describe, expectSame, expectThat } from './expect.ts';
import { book, change, creation, freeRun, freeSlot, mustRead, needs, takers } from './scene.ts';
import type { Subject } from './subject.ts';

type Slot = Awaited<ReturnType<typeof freeSlot>>;

const racers = 20;
const rounds = 3;

/** Through both connectors where there are two, as through two gateways. */
function through({ connector, second }: Subject, index: number): Connector {
  return index % 2 ? (second ?? connector) : connector;
}

/** Those that were done; the others must have been refused for want of the time. */
function winners(outcomes: readonly PromiseSettledResult<Appointment>[]): Appointment[] {
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled') continue;
    const { reason } = outcome;
    expectThat(
      reason instanceof ConnectorError && reason.kind === 'time_slot_unavailable',
      `Those who lose a race are told time_slot_unavailable; one was told ${describe(reason)}`,
    );
  }
  return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
}

export const races = capability('races', ({ capabilities }) => capabilities.changes.includes('create'), {
  'of twenty for one slot have one winner': async (subject) => {
    for (let round = 1; round <= rounds; round++) {
      const slot = await freeSlot(subject);
      const booking = await creation(subject, slot);
      const outcomes = await Promise.allSettled(
        Array.from({ length: racers }, (_, index) => change(subject, booking, { through: through(subject, index) })),
      );
      const won = winners(outcomes).map(({ id }) => id);
      expectSame(won.length, 1, `Winners of ${racers} in round ${round}`);
      const there = (await takers(subject, slot)).map(({ id }) => id);
      expectSame(there, won, `Appointments at the time that ${racers} wanted`);
    }
  },

  'for times that overlap leave every slot to one': async (subject) => {
    const run = (await freeRun(subject, 3)) as [Slot, Slot, Slot];
    const spans = [
      [run[0], run[1]],
      [run[1], run[2]],
      [run[0], run[0]],
      [run[2], run[2]],
    ] as const;
    const bookings = await Promise.all(spans.map(([first, last]) => creation(subject, first, { last })));
    const outcomes = await Promise.allSettled(
      Array.from({ length: racers }, (_, index) => {
        const booking = bookings[index % bookings.length] ?? bookings[0];
        if (!booking) throw new Error('No booking');
        return change(subject, booking, { through: through(subject, index) });
      }),
    );
    const won = winners(outcomes);
    expectThat(won.length > 0, 'Nobody won');
    const there = await takers(subject, run[0], run[2]);
    expectSame(there.map(({ id }) => id).sort(), won.map(({ id }) => id).sort(), 'Appointments there, and winners');
    for (const slot of run) {
      const over = there.filter(({ start, end }) => start < slot.end && slot.start < end);
      expectThat(over.length <= 1, 'Two appointments overlap');
    }
  },

  'of moves and bookings for one slot have one winner': async (subject) => {
    needs(subject, 'update');
    const [a, b, target] = (await freeRun(subject, 3)) as [Slot, Slot, Slot];
    const movers = [await book(subject, { slot: a }), await book(subject, { slot: b })];
    const booking = await creation(subject, target);
    const outcomes = await Promise.allSettled([
      ...movers.map(({ id }, index) =>
        change(
          subject,
          { kind: 'update', appointmentId: id, time: { start: target.start, end: target.end } },
          { through: through(subject, index) },
        ),
      ),
      ...Array.from({ length: 6 }, (_, index) => change(subject, booking, { through: through(subject, index) })),
    ]);
    const won = winners(outcomes).map(({ id }) => id);
    expectSame(won.length, 1, 'Winners');
    const there = (await takers(subject, target)).map(({ id }) => id);
    expectSame(there, won, 'Appointments at the time that all wanted');
    for (const mover of movers) {
      if (won.includes(mover.id)) continue;
      const now = await mustRead(subject, mover.id);
      // Where a move makes a new appointment, the winner's former one is cancelled.
      if (now.state === 'cancelled') continue;
      expectSame([now.state, now.start], [mover.state, mover.start], 'An appointment that lost the race');
    }
  },

  'of a cancellation and changes end with it cancelled': async (subject) => {
    needs(subject, 'update', 'cancel');
    for (let round = 1; round <= rounds; round++) {
      const { id } = await book(subject);
      const [cancelled, ...updates] = await Promise.allSettled([
        change(subject, { kind: 'cancel', appointmentId: id }),
        ...Array.from({ length: 4 }, (_, index) =>
          change(
            subject,
            { kind: 'update', appointmentId: id, comment: `change ${index}` },
            { through: through(subject, index) },
          ),
        ),
      ]);
      expectThat(
        cancelled?.status === 'fulfilled',
        `A cancellation that races with changes: ${cancelled?.status === 'rejected' ? describe(cancelled.reason) : ''}`,
      );
      for (const update of updates) {
        if (update.status === 'fulfilled') continue;
        const isTold = update.reason instanceof ConnectorError && update.reason.kind === 'appointment_cancelled';
        expectThat(isTold, `A change that races with a cancellation was told ${describe(update.reason)}`);
      }
      expectSame((await mustRead(subject, id)).state, 'cancelled', `State after round ${round}`);
    }
  },
});
