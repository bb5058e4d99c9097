import { randomUUID } from 'node:crypto';
import { isWrite } from '../sent-writes.ts';
import { type Claim, capability, claimed } from './check.ts';
import { changeOverWire, type ExampleChange, endAll, type KindOfChange, kindsOfChange } from './example-changes.ts';
import { describe, directChange, expectThat, facts } from './expect.ts';
import { appointmentsAt, freeSlot, slotOf } from './steps.ts';
import type { Subject } from './subject.ts';
import { unwatched, type Watched } from './watched-calls.ts';

/**
 * Makes a change. Its first request that writes is held back until staff have acted, so that nothing it was planned with is true any
 * more. `undefined`: the EHR has not let staff act.
 */
async function changeAfterStaff(
  subject: Subject,
  example: ExampleChange,
  act: () => Promise<void>,
): Promise<Watched<unknown> | undefined> {
  let hasActed = false;
  let isHeld = false;
  const watched = await changeOverWire(subject, example.change, randomUUID(), (request, _, send) => {
    if (isHeld || !isWrite(request)) return undefined;
    isHeld = true;
    return (async () => {
      const [acted] = await Promise.allSettled([unwatched(act)]);
      hasActed = acted.status === 'fulfilled';
      return send();
    })();
  });
  return hasActed ? watched : undefined;
}

function told({ outcome }: Watched<unknown>): string {
  return outcome.status === 'fulfilled' ? 'told as made' : `told by ${describe(outcome.reason)}`;
}

/** Nothing that staff change is overwritten. */
const comparesVersions: Claim = ({ connector }) => connector.capabilities.lastWriteWins === undefined;

const { booking, move, comment, cancellation, confirmation } = kindsOfChange;

/** Staff cancel the appointment, and the change must not bring it back. */
const keepsCancellation = (kind: KindOfChange) =>
  claimed([kind.isClaimed], async (subject) => {
    const cancel = directChange(subject, 'cancel');
    const example = await kind.prepare(subject);
    const { made } = example;
    const watched = made && (await changeAfterStaff(subject, example, () => cancel(made)));
    if (watched) {
      const found = await example.look();
      expectThat(
        found.length === 0,
        `Staff cancelled an appointment before the write of ${kind.name}, which revived it; it was ${told(watched)}`,
      );
      const isTold = watched.outcome.status === 'rejected';
      expectThat(isTold, `Staff cancelled an appointment before the write of ${kind.name}, which was told as made`);
    }
    await endAll(subject, example);
  });

/** Staff book the time in between. */
const leavesTakenTime = (kind: KindOfChange) =>
  claimed([kind.isClaimed], async (subject) => {
    const take = directChange(subject, 'take');
    const example = await kind.prepare(subject);
    let giveBack: (() => Promise<void>) | undefined;
    const wanted = slotOf(example.change, example.made);
    const watched = await changeAfterStaff(subject, example, async () => {
      giveBack = await take(wanted);
    });
    try {
      if (!watched) return;
      expectThat(
        watched.outcome.status === 'rejected',
        `Staff booked the time before the write of ${kind.name}, which took it too; it was ${told(watched)}`,
      );
      const isDenied = watched.outcome.reason?.kind === 'time_slot_unavailable';
      expectThat(isDenied, `Staff booked the time before the write of ${kind.name}, which was ${told(watched)}`);
    } finally {
      await giveBack?.();
      await endAll(subject, example);
    }
  });

export const staffInBetween = capability(
  'staff-in-between',
  (connector) => connector.capabilities.changes.includes('create'),
  {
    'a move does not revive what staff cancel before its write': keepsCancellation(move),
    'a comment does not revive what staff cancel before its write': keepsCancellation(comment),
    'a confirmation does not revive what staff cancel before its write': keepsCancellation(confirmation),
    'a booking does not take a time that staff book before its write': leavesTakenTime(booking),
    'a move does not take a time that staff book before its write': leavesTakenTime(move),

    'a move keeps a comment that staff write before its write': claimed(
      [move.isClaimed, comparesVersions],
      async (subject) => {
        const write = directChange(subject, 'comment');
        const example = await move.prepare(subject);
        const { made } = example;
        const watched = made && (await changeAfterStaff(subject, example, () => write(made, 'of staff')));
        if (watched) {
          const found = await example.look();
          expectThat(
            found.length === 1 && found.every((it) => it.comment === 'of staff'),
            `Staff wrote a comment before the write of a move, which was ${told(watched)}; the EHR shows ${JSON.stringify(found.map(facts))}`,
          );
        }
        await endAll(subject, example);
      },
    ),

    'a comment or a cancellation does not move back what staff move before its write': claimed(
      [cancellation.isClaimed, comparesVersions],
      async (subject) => {
        const moveByStaff = directChange(subject, 'move');
        for (const kind of [comment, cancellation].filter((it) => it.isClaimed(subject))) {
          const example = await kind.prepare(subject);
          const { made } = example;
          if (!made?.resourceId || !made.healthcareServiceId) continue;
          const to = await freeSlot(subject, {
            resourceIds: [made.resourceId],
            healthcareServiceIds: [made.healthcareServiceId],
          });
          const watched = await changeAfterStaff(subject, example, () => moveByStaff(made, to));
          const [there, here] = [await appointmentsAt(subject, to), await example.look()];
          const isThere = there.some(({ id }) => id === made.id);
          const isGone = kind === cancellation && watched?.outcome.status === 'fulfilled' && !isThere;
          expectThat(
            !watched || (here.length === 0 && (isThere || isGone)),
            `Staff moved an appointment before the write of ${kind.name}, which moved it back; it was ${watched ? told(watched) : ''}`,
          );
          await endAll(subject, { ...example, look: async () => [...there, ...here] });
        }
      },
    ),
  },
);
