import { randomUUID } from 'node:crypto';
import type { AppointmentChange } from '../connector.ts';
import { ConnectorError, type ConnectorErrorKind } from '../errors.ts';
import type { Appointment, TimeSlot } from '../records.ts';
import { capability, claimed, NotChecked } from './check.ts';
import { describe, expectSame, expectThat, facts } from './expect.ts';
import { appointmentsAt, book, change, changes, consecutiveSlots, creation, freeSlot, moves, read } from './steps.ts';
import type { Subject } from './subject.ts';
import { type LaterRequests, type Watched, watchingCall } from './watched-calls.ts';

const fails =
  (kind: ConnectorErrorKind, retryAfterSeconds?: number): LaterRequests =>
  async () => {
    throw new ConnectorError(kind, 'A failure of the kit', retryAfterSeconds ? { retryAfterSeconds } : {});
  };
const answers =
  (status: number, contentType: string, text: string): LaterRequests =>
  async () => ({ status, headers: { 'content-type': contentType }, text });

/** What the requests get that follow a write. */
const everyFailure: Readonly<Record<string, LaterRequests>> = {
  '503': fails('unavailable'),
  '429': fails('unavailable', 600),
  'a cut connection': (request, place) =>
    fails(request.repeatable ? 'connection_closed' : 'outcome_unknown')(request, place),
  'a page in HTML': answers(200, 'text/html', '<!doctype html><title>Sign in</title>'),
  'half of its JSON': answers(200, 'application/json', '{"id'),
  // Those that follow are sent: the connector may sign in again.
  'the end of its session': (request, place) =>
    place === 0 ? answers(401, 'application/json', '')(request, place) : undefined,
};
const someFailures = Object.entries(everyFailure).filter((_, index) => index % 3 === 0);

/**
 * Makes a change. The requests after its write get what `later` says.
 *
 * @throws NotChecked if the connector reaches its EHR in another way
 */
async function changeWatched(
  subject: Subject,
  what: AppointmentChange,
  operationId: string,
  later?: LaterRequests,
): Promise<Watched<Appointment>> {
  const watched = await watchingCall(() => change(subject, what, { operationId, isFirst: true }), later);
  if (watched.outcome.status === 'rejected' && watched.outcome.reason instanceof NotChecked)
    throw watched.outcome.reason;
  if (watched.sent === 0)
    throw new NotChecked('the connector sends no request through the HTTP client that it is given');
  return watched;
}

/** The error, if it says that nothing was changed. */
function denial({ outcome }: Watched<unknown>): string | undefined {
  if (outcome.status === 'fulfilled') return undefined;
  const { reason } = outcome;
  return reason instanceof ConnectorError && reason.kind === 'outcome_unknown' ? undefined : describe(reason);
}

function expectNotDenied(watched: Watched<unknown>, isDone: boolean, what: string, failure: string): void {
  const denied = denial(watched);
  expectThat(
    !isDone || denied === undefined,
    `${what} was made, and then told as not made, when the next request got ${failure}: ${denied}`,
  );
}

/** Cancels what an EHR without `findOperation` would keep. */
async function cancelAll(subject: Subject, appointments: readonly Appointment[]): Promise<void> {
  if (!changes('cancel')(subject)) return;
  for (const { id } of appointments) await change(subject, { kind: 'cancel', appointmentId: id });
}

type Pair = readonly [TimeSlot, TimeSlot];

export const failedReads = capability(
  'failed-reads',
  (connector) => connector.capabilities.changes.includes('create'),
  {
    'says which request books': async (subject) => {
      const slot = await freeSlot(subject);
      const watched = await changeWatched(subject, await creation(subject, slot), randomUUID());
      if (watched.outcome.status === 'rejected') throw watched.outcome.reason;
      expectThat(
        watched.isWritten,
        'The connector has booked, and none of its requests says so: see "writes" and "refused" of EhrRequest',
      );
    },

    'a booking is not told as not made when the requests after it fail': async (subject) => {
      for (const [failure, later] of Object.entries(everyFailure)) {
        const slot = await freeSlot(subject);
        const booking = await creation(subject, slot);
        const operationId = randomUUID();
        const watched = await changeWatched(subject, booking, operationId, later);
        const standing = await appointmentsAt(subject, slot);
        expectThat(
          standing.length <= 1,
          `${standing.length} bookings were made when the request after one got ${failure}`,
        );
        expectNotDenied(watched, standing.length > 0, 'A booking', failure);
        if (watched.outcome.status === 'fulfilled') {
          expectSame(standing.map(facts), [facts(watched.outcome.value)], 'Appointments after a booking');
        } else if (subject.connector.findOperation) {
          const { id } = await change(subject, booking, { operationId });
          const now = await appointmentsAt(subject, slot);
          expectSame(
            now.map((it) => it.id),
            [id],
            'Appointments after the booking was repeated with its operation id',
          );
        }
        await cancelAll(subject, await appointmentsAt(subject, slot));
      }
    },

    'a move is not told as not made when the requests after it fail': claimed([moves], async (subject) => {
      for (const [failure, later] of someFailures) {
        const [from, to] = (await consecutiveSlots(subject, 2)) as unknown as Pair;
        const { id } = await book(subject, { slot: from });
        const move: AppointmentChange = { kind: 'update', appointmentId: id, time: { start: to.start, end: to.end } };
        const watched = await changeWatched(subject, move, randomUUID(), later);
        const now = await read(subject, id);
        const stays = now?.state === 'booked' && now.start.getTime() === from.start.getTime();
        expectNotDenied(watched, !stays, 'A move', failure);
        await cancelAll(subject, await appointmentsAt(subject, from, to));
      }
    }),

    'a cancellation is not told as not made when the requests after it fail': claimed(
      [changes('cancel')],
      async (subject) => {
        for (const [failure, later] of someFailures) {
          const { id } = await book(subject);
          const watched = await changeWatched(subject, { kind: 'cancel', appointmentId: id }, randomUUID(), later);
          const now = await read(subject, id);
          const isCancelled = now === undefined || now.state === 'cancelled';
          expectNotDenied(watched, isCancelled, 'A cancellation', failure);
          await cancelAll(subject, now && !isCancelled ? [now] : []);
        }
      },
    ),
  },
);
