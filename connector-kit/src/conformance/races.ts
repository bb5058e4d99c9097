import type { AppointmentChange, Connector } from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import type { Appointment } from '../records.ts';
import { isWrite } from '../sent-writes.ts';
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
import { withLostTurns } from './turns-over-processes.ts';
import { watchingCall } from './watched-calls.ts';

type Slot = Awaited<ReturnType<typeof freeSlot>>;

const racers = 20;
const fewRacers = 4;
/** Not each of them meets in the EHR. */
const roundsWithoutTurns = 5;
/** Longer than a connector needs until it books. */
const gatherMilliseconds = 2000;

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

type Racer = (booking: AppointmentChange, index: number) => Promise<Appointment>;

/** Books one slot for each racer at once. Afterwards the EHR has the bookings that were told as made, and no others. */
async function raceForSlot(subject: Subject, count: number, racer: Racer): Promise<number> {
  const slot = await freeSlot(subject);
  const booking = await creation(subject, slot);
  const outcomes = await Promise.allSettled(Array.from({ length: count }, (_, index) => racer(booking, index)));
  const won = winners(outcomes).map(({ id }) => id);
  const there = (await appointmentsAt(subject, slot)).map(({ id }) => id);
  expectSame(there.sort(), won.sort(), `Appointments at the time after ${count} concurrent bookings`);
  return won.length;
}

/**
 * Staff take no turns, and a turn can be lost. So every racer gets its turn at once, and their bookings are sent together: then the
 * connector must look at what it has made, and withdraw what must not stand.
 */
async function raceWithoutTurns(subject: Subject): Promise<void> {
  const sends = together(fewRacers, gatherMilliseconds);
  const racer: Racer = async (booking) => {
    let isSent = false;
    const { outcome } = await watchingCall(
      () => change(subject, booking),
      (request, _, send) => {
        if (isSent || !isWrite(request)) return undefined;
        isSent = true;
        return sends().then(send);
      },
    );
    // One that books nothing keeps nobody waiting.
    if (!isSent) void sends();
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  };
  const won = await withLostTurns(() => raceForSlot(subject, fewRacers, racer));
  expectThat((won ?? 0) <= 1, `${won} of ${fewRacers} bookings of one slot succeeded, sent without a turn`);
}

/** Lets calls go on when all have come, or when others have not come for a while: they may wait for each other. */
function together(count: number, milliseconds: number): () => Promise<void> {
  const all = Promise.withResolvers<void>();
  let come = 0;
  let timer: NodeJS.Timeout | undefined;
  return () => {
    timer ??= setTimeout(all.resolve, milliseconds);
    if (++come < count) return all.promise;
    clearTimeout(timer);
    all.resolve();
    return all.promise;
  };
}

export const races = capability('races', ({ capabilities }) => capabilities.changes.includes('create'), {
  'twenty concurrent bookings of one slot: exactly one succeeds': async (subject) => {
    for (let round = 1; round <= roundsOf(subject); round++) {
      const won = await raceForSlot(subject, racers, (booking, index) =>
        change(subject, booking, { through: through(subject, index) }),
      );
      expectSame(won, 1, `Successful bookings of ${racers} in round ${round}`);
    }
    for (let round = 1; round <= roundsWithoutTurns; round++) await raceWithoutTurns(subject);
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
      const slots = await consecutiveSlots(subject, fewRacers + 1);
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
