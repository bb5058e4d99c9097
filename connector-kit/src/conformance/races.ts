import type { AppointmentChange, Connector } from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import type { Appointment } from '../records.ts';
import { overlaps } from '../time-slots.ts';
import { capability, claimed } from './check.ts';
import { describe, expectSame, expectThat } from './expect.ts';
import {
  appointmentsAt,
  book,
  change,
  changes,
  consecutiveSlots,
  creation,
  freeSlot,
  moves,
  mustBeCancelled,
  mustRead,
} from './steps.ts';
import type { Subject } from './subject.ts';

type Slot = Awaited<ReturnType<typeof freeSlot>>;

const racers = 20;
const movingRacers = 4;

/** A race that a connector loses now and then is lost in one of ten. */
const roundsOf = ({ raceRounds = 10 }: Subject) => raceRounds;

/** Alternates between both connectors if there are two, like two gateways. */
function through({ connector, second }: Subject, index: number): Connector {
  return index % 2 ? (second ?? connector) : connector;
}

/** The appointments of successful calls. All others must fail with `time_slot_unavailable`. */
function winners(outcomes: readonly PromiseSettledResult<Appointment>[]): Appointment[] {
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled') continue;
    const { reason } = outcome;
    expectThat(
      reason instanceof ConnectorError && reason.kind === 'time_slot_unavailable',
      `Expected time_slot_unavailable for a lost race, got ${describe(reason)}`,
    );
  }
  return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
}

export const races = capability('races', ({ capabilities }) => capabilities.changes.includes('create'), {
  'twenty concurrent bookings of one slot: exactly one succeeds': async (subject) => {
    for (let round = 1; round <= roundsOf(subject); round++) {
      const slot = await freeSlot(subject);
      const booking = await creation(subject, slot);
      const outcomes = await Promise.allSettled(
        Array.from({ length: racers }, (_, index) => change(subject, booking, { through: through(subject, index) })),
      );
      const won = winners(outcomes).map(({ id }) => id);
      expectSame(won.length, 1, `Successful bookings of ${racers} in round ${round}`);
      const there = (await appointmentsAt(subject, slot)).map(({ id }) => id);
      expectSame(there, won, `Appointments at the time after ${racers} concurrent bookings`);
    }
  },

  'concurrent bookings of overlapping times never share a slot': async (subject) => {
    const run = (await consecutiveSlots(subject, 3)) as [Slot, Slot, Slot];
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
    expectThat(won.length > 0, 'No booking succeeded');
    const there = await appointmentsAt(subject, run[0], run[2]);
    expectSame(
      there.map(({ id }) => id).sort(),
      won.map(({ id }) => id).sort(),
      'Appointments in the EHR compared with successful bookings',
    );
    for (const slot of run) {
      const over = there.filter((it) => overlaps(it, slot));
      expectThat(over.length <= 1, 'Two appointments overlap');
    }
  },

  'concurrent moves and bookings of one slot: exactly one succeeds': claimed([moves], async (subject) => {
    for (let round = 1; round <= roundsOf(subject); round++) {
      const slots = await consecutiveSlots(subject, movingRacers + 1);
      const target = slots.pop() as Slot;
      const movers: Appointment[] = [];
      for (const slot of slots) movers.push(await book(subject, { slot }));
      const booking = await creation(subject, target);
      const time = { start: target.start, end: target.end };
      const wanted: AppointmentChange[] = Array.from({ length: racers }, (_, index) => {
        const mover = movers[index];
        return mover ? { kind: 'update', appointmentId: mover.id, time } : booking;
      });
      const outcomes = await Promise.allSettled(
        wanted.map((it, index) => change(subject, it, { through: through(subject, index) })),
      );
      const won = winners(outcomes).map(({ id }) => id);
      expectSame(won.length, 1, `Successful moves and bookings of ${racers} in round ${round}`);
      const there = (await appointmentsAt(subject, target)).map(({ id }) => id);
      expectSame(there, won, 'Appointments at the requested time');
      for (const mover of movers) {
        if (won.includes(mover.id)) continue;
        const now = await mustRead(subject, mover.id);
        // If a move creates a new appointment, the original of the winner is cancelled.
        if (now.state === 'cancelled') continue;
        expectSame([now.state, now.start], [mover.state, mover.start], 'An appointment whose move failed');
      }
      for (const { id } of await appointmentsAt(subject, slots[0] ?? target, target)) {
        if (changes('cancel')(subject)) await change(subject, { kind: 'cancel', appointmentId: id });
      }
    }
  }),

  'a cancellation concurrent with updates leaves the appointment cancelled': claimed(
    [changes('update', 'cancel')],
    async (subject) => {
      for (let round = 1; round <= roundsOf(subject); round++) {
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
          `A cancellation concurrent with updates failed: ${cancelled?.status === 'rejected' ? describe(cancelled.reason) : ''}`,
        );
        for (const update of updates) {
          if (update.status === 'fulfilled') continue;
          const isExpected = update.reason instanceof ConnectorError && update.reason.kind === 'appointment_cancelled';
          expectThat(
            isExpected,
            `Expected appointment_cancelled for an update concurrent with a cancellation, got ${describe(update.reason)}`,
          );
        }
        await mustBeCancelled(subject, id, `State after round ${round}`);
      }
    },
  ),
});
