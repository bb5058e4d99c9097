import { type Finding, finding } from './findings.ts';
import type { Kind, Snapshot, Write } from './history.ts';

const ofAppointments: readonly Kind[] = [
  'booking',
  'booking by code',
  'draft',
  'confirmation',
  'cancellation',
  'first step',
  'second step',
  'move',
  'bulk move',
  'bulk cancellation',
  'bulk first step',
  'bulk confirmation',
];

/** An appointment as far as callers can tell. `absent`: none, or only one that was made and compensated. */
interface Expected {
  readonly state: 'absent' | 'booked' | 'cancelled' | 'awaiting';
  readonly slot: string | undefined;
  /** A two-step cancellation awaits its code. */
  readonly cancels: boolean;
  readonly events: readonly string[];
}

const absent: Expected = { state: 'absent', slot: undefined, cancels: false, events: [] };

/** Compares each appointment and its events with what its callers were told. */
export function checkAppointments(writes: readonly Write[], snapshot: Snapshot): Finding[] {
  const relevant = writes.filter(({ kind }) => ofAppointments.includes(kind));
  const subjects = new Set(relevant.flatMap((write) => write.subjects));
  return [...subjects].flatMap((subject) => {
    const own = relevant.filter((write) => write.subjects.includes(subject)).map((write) => partOf(write, subject));
    return checkAppointment(subject, own, snapshot);
  });
}

/** The part of a write to several appointments that is about one of them. */
function partOf(write: Write, subject: string): Write {
  const index = write.subjects.indexOf(subject);
  return { ...write, slots: write.slots.slice(index, index + 1) };
}

function checkAppointment(subject: string, writes: readonly Write[], snapshot: Snapshot): Finding[] {
  const [first] = writes;
  if (!first) return [];
  const last = writes.at(-1) ?? first;
  const rows = snapshot.appointments.filter(({ comment }) => comment === subject);
  const items = snapshot.confirmations.flatMap((it) => it.items);
  const callerIds = (id: string) => items.filter(({ ehrId }) => ehrId === id).map((item) => item.subjectId);
  const eventsOf = (ids: readonly string[]) =>
    snapshot.events
      .filter((event) => event.messageId === null && event.subject !== null && ids.includes(event.subject))
      .map(({ type }) => type);
  // A row that was compensated has no event, and nobody was told of it.
  const real = rows.filter((row) => row.state !== 'cancelled' || eventsOf([row.id, ...callerIds(row.id)]).length > 0);
  if (real.length > 1) return [finding('doubled', first, `appointments ${real.map(({ id }) => id).join(', ')}`)];
  const [row] = real;
  const ids = [
    ...new Set([
      ...(row ? [row.id, ...callerIds(row.id)] : []),
      ...(writes.find((it) => it.kind === first.kind)?.ids ?? []),
    ]),
  ];
  const events = eventsOf(ids).toSorted();
  const possible = outcomes(writes, (write) => write.told);
  const matching = possible.filter((outcome) => agrees(outcome, row));
  if (matching.length === 0) return [contradiction(writes, row)];
  if (matching.some((outcome) => isSame(outcome.events, events))) return [];
  const [closest = absent] = matching;
  const missing = without(closest.events, events).filter((type) => !mayBeLeftOut(type, events, writes));
  if (missing.length === 0 && without(events, closest.events).length === 0) return [];
  const surplus = without(events, closest.events);
  if (missing.length === 0 && mayBeRepeated(surplus, writes)) return [];
  const lacking = writes.findLast((write) => missing.includes(applied(absent, write).events[0] ?? ''));
  return missing.length > 0
    ? [finding('without event', lacking ?? last, `no event ${missing.join(', ')} of ${ids.join(', ')}`)]
    : [
        finding(
          'doubled',
          last,
          `an event ${surplus.join(', ')} too many of ${ids.join(', ')} after ${toldOf(writes)}`,
        ),
      ];
}

const toldOf = (writes: readonly Write[]) =>
  writes.map(({ kind, told, answers }) => `${kind} ${told} (${answers.join(', ')})`).join('; ');

/**
 * `appointment.cancelled` is the last event (docs/guide/events.md). A change whose caller saw it in the EHR and cancelled, before
 * the interrupted request ended, has none.
 */
function mayBeLeftOut(type: string, events: readonly string[], writes: readonly Write[]): boolean {
  const last = 'appointment.cancelled';
  const isOf = (write: Write) => applied(absent, write).events.includes(type);
  return type !== last && events.includes(last) && writes.some((write) => write.isDisturbed && isOf(write));
}

/** A change whose operation takes long may be reported twice: as seen in the EHR, and when the operation ends (decision 57). */
function mayBeRepeated(surplus: readonly string[], writes: readonly Write[]): boolean {
  return surplus.every((type) => type === 'appointment.updated') && writes.some(({ isDisturbed }) => isDisturbed);
}

/** What can be there in the end, if each write whose outcome is unknown was made or not. */
function outcomes(writes: readonly Write[], told: (write: Write) => Write['told']): Expected[] {
  let possible: Expected[] = [absent];
  for (const write of writes) {
    possible = possible.flatMap((before) => {
      const after = applied(before, write);
      return { done: [after], rejected: [before], unknown: [before, after] }[told(write)];
    });
  }
  return possible.map(expired);
}

function applied(before: Expected, { kind, slots: [slot] }: Write): Expected {
  const event = (type: string) => [...before.events, `appointment.${type}`];
  switch (kind) {
    case 'booking':
      return { ...before, state: 'booked', slot, events: event('booked') };
    case 'booking by code':
    case 'draft':
      return { ...before, state: 'awaiting', slot, events: event('awaiting_confirmation') };
    case 'confirmation':
      return { ...before, state: 'booked', events: event('booked') };
    case 'first step':
    case 'bulk first step':
      return { ...before, cancels: true, events: event('awaiting_confirmation') };
    case 'cancellation':
    case 'second step':
    case 'bulk confirmation':
    case 'bulk cancellation':
      return { ...before, state: 'cancelled', cancels: false, events: event('cancelled') };
    case 'move':
    case 'bulk move':
      return { ...before, slot, events: event('updated') };
    default:
      return before;
  }
}

/** Every code that is left expires at the end of a run. */
function expired(outcome: Expected): Expected {
  const events = [...outcome.events, 'appointment.confirmation_expired'];
  if (outcome.state === 'awaiting') return { ...outcome, state: 'cancelled', events };
  return outcome.cancels ? { ...outcome, cancels: false, events } : outcome;
}

type Row = Snapshot['appointments'][number];

function agrees({ state, slot }: Expected, row: Row | undefined): boolean {
  // The EHR never had a draft that was not confirmed.
  if (!row) return state === 'absent' || state === 'cancelled';
  return row.state === state && row.slot === slot;
}

/** Names the write that was not told as it is. */
function contradiction(writes: readonly Write[], row: Row | undefined): Finding {
  const text = row ? `appointment ${row.id} is ${row.state}, ${row.slot}` : 'the EHR has no appointment';
  const explained = (suspect: Write, told: Write['told']) =>
    outcomes(writes, (write) => (write === suspect ? told : write.told)).some((outcome) => agrees(outcome, row));
  const made = writes.find((write) => write.told === 'rejected' && explained(write, 'done'));
  if (made) return finding('told wrongly', made, text);
  const lost = writes.findLast((write) => write.told === 'done' && explained(write, 'rejected'));
  return finding('lost', lost ?? (writes.at(-1) as Write), text);
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return without(some, others).length === 0 && without(others, some).length === 0;
}

/** The items that are left after one is removed for each of the others. */
export function without(items: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...items];
  for (const other of others) {
    const index = left.indexOf(other);
    if (index >= 0) left.splice(index, 1);
  }
  return left;
}
