import type { AppointmentChange, InterruptedChanges } from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import type { EhrRequest } from '../http.ts';
import type { Appointment, TimeSlot } from '../records.ts';
import { type Claim, NotChecked } from './check.ts';
import { describe, expectSame, expectThat, facts } from './expect.ts';
import { claimsHolds } from './holds.ts';
import { appointmentsAt, book, change, changes, consecutiveSlots, creation, freeSlot, moves } from './steps.ts';
import type { Subject } from './subject.ts';
import { type OnTheWire, type Watched, watchingCall } from './watched-calls.ts';

/** A change to make, and how the EHR shows whether it is made. */
export interface ExampleChange {
  readonly change: AppointmentChange;
  /** The appointment that it changes. Absent: it books one. */
  readonly made?: Appointment;
  /** Booked, held and pending appointments at the times that it concerns. */
  look(): Promise<readonly Appointment[]>;
  isDone(found: readonly Appointment[]): boolean;
  isUndone(found: readonly Appointment[]): boolean;
}

/** A kind of change. */
export interface KindOfChange {
  /** For messages, such as `a booking`. */
  readonly name: string;
  readonly isClaimed: Claim;
  /** Books what it needs. */
  prepare(subject: Subject): Promise<ExampleChange>;
}

type Pair = readonly [TimeSlot, TimeSlot];
const hour = 60 * 60 * 1000;

/** The appointments, if there is exactly one, which fulfils the condition. */
const one = (found: readonly Appointment[], condition: (it: Appointment) => boolean) =>
  found.length === 1 && found.every(condition);

const booking: KindOfChange = {
  name: 'a booking',
  isClaimed: changes('create'),
  async prepare(subject) {
    const slot = await freeSlot(subject);
    const it = await creation(subject, slot);
    return {
      change: it,
      look: () => appointmentsAt(subject, slot),
      isDone: (found) =>
        one(found, ({ start, end, state }) => isAt(slot, { start, end }) && state === 'booked') &&
        one(found, ({ patientId, resourceId }) => patientId === it.patientId && resourceId === it.resourceId),
      isUndone: (found) => found.length === 0,
    };
  },
};

const move: KindOfChange = {
  name: 'a move',
  isClaimed: moves,
  async prepare(subject) {
    const [from, to] = (await consecutiveSlots(subject, 2)) as unknown as Pair;
    const made = await book(subject, { slot: from, comment: 'kept' });
    return {
      made,
      change: { kind: 'update', appointmentId: made.id, time: { start: to.start, end: to.end } },
      look: () => appointmentsAt(subject, from, to),
      isDone: (found) => one(found, (it) => isAt(to, it) && it.comment === 'kept'),
      isUndone: (found) => one(found, (it) => isAt(from, it) && it.comment === 'kept'),
    };
  },
};

const comment: KindOfChange = {
  name: 'a comment',
  isClaimed: changes('create', 'update'),
  async prepare(subject) {
    const slot = await freeSlot(subject);
    const made = await book(subject, { slot, comment: 'before' });
    return {
      made,
      change: { kind: 'update', appointmentId: made.id, comment: 'after' },
      look: () => appointmentsAt(subject, slot),
      isDone: (found) => one(found, (it) => isAt(slot, it) && it.comment === 'after'),
      isUndone: (found) => one(found, (it) => isAt(slot, it) && it.comment === 'before'),
    };
  },
};

const cancellation: KindOfChange = {
  name: 'a cancellation',
  isClaimed: changes('create', 'cancel'),
  async prepare(subject) {
    const slot = await freeSlot(subject);
    const made = await book(subject, { slot });
    return {
      made,
      change: { kind: 'cancel', appointmentId: made.id },
      look: () => appointmentsAt(subject, slot),
      isDone: (found) => found.length === 0,
      isUndone: (found) => one(found, ({ id }) => id === made.id),
    };
  },
};

/** @param kind what ends the hold */
function endOfHold(name: string, kind: 'confirm' | 'release'): KindOfChange {
  return {
    name,
    isClaimed: ({ connector }) => claimsHolds(connector),
    async prepare(subject) {
      const slot = await freeSlot(subject);
      const { now = () => new Date() } = subject;
      const holdUntil = new Date(now().getTime() + hour);
      const made = await change(subject, await creation(subject, slot, { holdUntil }));
      return {
        made,
        change: { kind, appointmentId: made.id },
        look: () => appointmentsAt(subject, slot),
        isDone: (found) => (kind === 'release' ? found.length === 0 : one(found, ({ state }) => state === 'booked')),
        isUndone: (found) => one(found, ({ state }) => state === 'held'),
      };
    },
  };
}

/** One of each kind of change. */
export const kindsOfChange = {
  booking,
  move,
  comment,
  cancellation,
  confirmation: endOfHold('a confirmation', 'confirm'),
  release: endOfHold('a release', 'release'),
} satisfies Readonly<Record<string, KindOfChange>>;

function isAt(slot: TimeSlot, { start, end }: Pick<Appointment, 'start' | 'end'>): boolean {
  return start.getTime() === slot.start.getTime() && end?.getTime() === slot.end.getTime();
}

/**
 * Makes a change while something happens on the wire.
 *
 * @throws NotChecked if the connector reaches its EHR in another way
 */
export async function changeOverWire(
  subject: Subject,
  what: AppointmentChange,
  operationId: string,
  wire?: OnTheWire,
): Promise<Watched<Appointment>> {
  const watched = await watchingCall(() => change(subject, what, { operationId, isFirst: true }), wire);
  const { outcome, sent } = watched;
  if (outcome.status === 'rejected' && outcome.reason instanceof NotChecked) throw outcome.reason;
  if (sent === 0) throw new NotChecked('the connector sends no request through the HTTP client that it is given');
  return watched;
}

/** As the gateway's HTTP client fails after its last attempt. */
export function noAnswer({ repeatable }: EhrRequest): ConnectorError {
  return new ConnectorError(repeatable ? 'connection_closed' : 'outcome_unknown', 'A failure of the kit');
}

/** Whether the connector says that nobody knows what became of the change. */
export function isUnknown({ outcome }: Watched<unknown>): boolean {
  return outcome.status === 'rejected' && isUnknownOutcome(outcome.reason);
}

function isUnknownOutcome(error: unknown): boolean {
  return error instanceof ConnectorError && error.kind === 'outcome_unknown';
}

/**
 * Expects the EHR to hold what the port has said: the change after a success, no change after an error, one of both after
 * `outcome_unknown`. Returns what the EHR holds.
 */
export async function expectAsTold(
  name: string,
  example: ExampleChange,
  watched: Watched<Appointment>,
  happened: string,
): Promise<readonly Appointment[]> {
  const { outcome } = watched;
  const found = await example.look();
  const shown = () => JSON.stringify(found.map(facts));
  const told = outcome.status === 'fulfilled' ? 'as made' : `by ${describe(outcome.reason)}`;
  const [isDone, isUndone] = [example.isDone(found), example.isUndone(found)];
  expectThat(
    isDone || isUndone,
    `${name} was neither made nor left alone when ${happened}; it was told ${told}, and the EHR shows ${shown()}`,
  );
  if (outcome.status === 'fulfilled') {
    expectThat(isDone, `${name} was told as made when ${happened}, and the EHR shows ${shown()}`);
    for (const it of found) expectSame(facts(outcome.value), facts(it), `Result of ${name} when ${happened}`);
  } else if (!isUnknown(watched)) {
    expectThat(isUndone, `${name} was made, and then told as not made, when ${happened}: ${describe(outcome.reason)}`);
  }
  return found;
}

/**
 * Does what the gateway does after `outcome_unknown`: looks up what became of the change, and makes it again with its operation id
 * if the EHR allows that. Afterwards the EHR holds it once.
 */
export async function expectRecovery(
  subject: Subject,
  name: string,
  example: ExampleChange,
  { operationId, since, happened }: { operationId: string; since: Date; happened: string },
): Promise<void> {
  const { connector, careUnit } = subject;
  const isDone = example.isDone(await example.look());
  if (connector.findOperation) {
    const [found] = await Promise.allSettled([connector.findOperation(careUnit, operationId, [example.change])]);
    // The connector may have to wait until nothing can arrive any more.
    if (found.status === 'rejected' && !isUnknownOutcome(found.reason)) throw found.reason;
    const isFound = found.status === 'fulfilled' && found.value !== null;
    if (found.status === 'fulfilled' && !isFound) {
      const isStill = example.isUndone(await example.look());
      expectThat(isStill, `${name} was made when ${happened}, and findOperation does not find it`);
    }
    const isDoneNow = !isFound || example.isDone(await example.look());
    expectThat(isDoneNow, `${name} was not made when ${happened}, and findOperation finds it`);
  } else if (connector.settleChanges) {
    const [made, notSeen] = isDone ? [[example.change], []] : [[], [example.change]];
    const interrupted: InterruptedChanges = { careUnit, made, notSeen, since };
    const mayRepeat = await connector.settleChanges(interrupted);
    if (isDone || !mayRepeat) return;
  } else {
    return;
  }
  await change(subject, example.change, { operationId });
  const after = await example.look();
  expectThat(
    example.isDone(after),
    `${name} was repeated with its operation id after ${happened}, and the EHR shows ${JSON.stringify(after.map(facts))}`,
  );
}

/** Ends what an EHR without `findOperation` would keep. */
export async function endAll(subject: Subject, example: ExampleChange): Promise<void> {
  for (const { id, state } of await example.look()) {
    const kind = state === 'held' ? 'release' : 'cancel';
    if (changes(kind)(subject)) await change(subject, { kind, appointmentId: id });
  }
}
