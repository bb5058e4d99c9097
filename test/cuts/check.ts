import type { History, Kind, Snapshot, Write } from './history.ts';

export const faults = [
  'lost',
  'doubled',
  'told wrongly',
  'stuck',
  'without event',
  'without audit entry',
  'without delivery',
  'counted twice',
  '500',
  'late event',
] as const;
export type Fault = (typeof faults)[number];

export interface Finding {
  readonly fault: Fault;
  /** `undefined`: not about one write. */
  readonly kind: Kind | undefined;
  readonly text: string;
}

const latestEventSeconds = 5;
const ofRecords: readonly Kind[] = ['note', 'document', 'schedule', 'endpoint', 'endpoint deletion'];
const withoutAudit: readonly Kind[] = ['schedule', 'endpoint', 'endpoint deletion'];
/** They change counters of a confirmation, and no appointment. */
const ofCounters: readonly Kind[] = ['wrong code', 'resend'];

/** Compares what callers were told with what is there. Returns what does not agree. */
export function check({ writes, snapshot }: History): Finding[] {
  return [
    ...checkAppointments(writes, snapshot),
    ...checkRecords(writes, snapshot),
    ...checkCounters(writes, snapshot),
    ...checkAudit(writes, snapshot),
    ...checkEvents(snapshot),
    ...writes.flatMap((write) => [
      ...Array.from({ length: write.internalErrors }, () => finding('500', write, 'a response with 500')),
      ...(write.isStuck ? [finding('stuck', write, `no final response, at last ${write.reason}`)] : []),
    ]),
    ...snapshot.unfinished.map(({ promise, what }): Finding => {
      return {
        fault: promise.includes('event') ? 'without event' : 'stuck',
        kind: undefined,
        text: `${promise}: ${what}`,
      };
    }),
  ];
}

function finding(fault: Fault, { kind, subjects, isKeyed, told, answers, requestIds }: Write, text: string): Finding {
  const about = `${kind} ${isKeyed ? 'with' : 'without'} a key of ${subjects.join(', ')}, told ${told} after ${answers.join(', ')}, last request ${requestIds.at(-1)}`;
  return { fault, kind, text: `${text} (${about})` };
}

/** An appointment as far as callers can tell. `absent`: none, or only one that was made and compensated. */
interface Expected {
  readonly state: 'absent' | 'booked' | 'cancelled' | 'awaiting';
  readonly start: string | undefined;
  /** A two-step cancellation awaits its code. */
  readonly cancels: boolean;
  readonly events: readonly string[];
}

const absent: Expected = { state: 'absent', start: undefined, cancels: false, events: [] };

function checkAppointments(writes: readonly Write[], snapshot: Snapshot): Finding[] {
  const relevant = writes.filter(({ kind }) => !ofRecords.includes(kind) && !ofCounters.includes(kind));
  const subjects = new Set(relevant.flatMap((write) => write.subjects));
  return [...subjects].flatMap((subject) =>
    checkAppointment(
      subject,
      relevant.filter((write) => write.subjects.includes(subject)),
      snapshot,
    ),
  );
}

function checkAppointment(subject: string, writes: readonly Write[], snapshot: Snapshot): Finding[] {
  const [first] = writes;
  if (!first) return [];
  const last = writes.at(-1) ?? first;
  const rows = snapshot.appointments.filter(({ comment }) => comment === subject);
  const items = snapshot.confirmations.flatMap((it) => it.items);
  const callerIds = (id: string) => items.filter(({ ehrId }) => ehrId === id).map((item) => item.subjectId);
  const eventsOf = (ids: readonly string[]) =>
    snapshot.events.filter((event) => event.subject !== null && ids.includes(event.subject)).map(({ type }) => type);
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
  const lacking = writes.findLast((write) => missing.includes(applied(absent, write).events[0] ?? ''));
  return missing.length > 0
    ? [finding('without event', lacking ?? last, `no event ${missing.join(', ')} of ${ids.join(', ')}`)]
    : [finding('doubled', last, `an event ${surplus.join(', ')} too many of ${ids.join(', ')}`)];
}

/**
 * `appointment.cancelled` is the last event (docs/guide/events.md). A change whose caller saw it in the EHR and cancelled, before
 * the interrupted request ended, has none.
 */
function mayBeLeftOut(type: string, events: readonly string[], writes: readonly Write[]): boolean {
  const last = 'appointment.cancelled';
  const isOf = (write: Write) => applied(absent, write).events.includes(type);
  return type !== last && events.includes(last) && writes.some((write) => write.isDisturbed && isOf(write));
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

function applied(before: Expected, { kind, start }: Write): Expected {
  const event = (type: string) => [...before.events, `appointment.${type}`];
  switch (kind) {
    case 'booking':
      return { ...before, state: 'booked', start, events: event('booked') };
    case 'booking by code':
    case 'draft':
      return { ...before, state: 'awaiting', start, events: event('awaiting_confirmation') };
    case 'confirmation':
      return { ...before, state: 'booked', events: event('booked') };
    case 'first step':
      return { ...before, cancels: true, events: event('awaiting_confirmation') };
    case 'cancellation':
    case 'second step':
    case 'bulk cancellation':
      return { ...before, state: 'cancelled', cancels: false, events: event('cancelled') };
    case 'move':
      return { ...before, start, events: event('updated') };
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

function agrees({ state, start }: Expected, row: Row | undefined): boolean {
  // The EHR never had a draft that was not confirmed.
  if (!row) return state === 'absent' || state === 'cancelled';
  return row.state === state && row.start === start;
}

/** Names the write that was not told as it is. */
function contradiction(writes: readonly Write[], row: Row | undefined): Finding {
  const text = row ? `appointment ${row.id} is ${row.state} at ${row.start}` : 'the EHR has no appointment';
  const explained = (suspect: Write, told: Write['told']) =>
    outcomes(writes, (write) => (write === suspect ? told : write.told)).some((outcome) => agrees(outcome, row));
  const made = writes.find((write) => write.told === 'rejected' && explained(write, 'done'));
  if (made) return finding('told wrongly', made, text);
  const lost = writes.findLast((write) => write.told === 'done' && explained(write, 'rejected'));
  return finding('lost', lost ?? (writes.at(-1) as Write), text);
}

function checkRecords(writes: readonly Write[], { records }: Snapshot): Finding[] {
  const relevant = writes.filter(({ kind }) => ofRecords.includes(kind));
  return relevant.flatMap((write) => {
    const found = records.filter(({ name }) => name === write.subjects[0]);
    const text = `${found.length} exist${found.length === 1 ? 's' : ''}`;
    if (write.kind === 'endpoint deletion') {
      const isThere = found.some(({ id }) => write.ids.includes(id));
      if (write.told === 'done' && isThere) return [finding('lost', write, text)];
      return write.told === 'rejected' && !isThere ? [finding('told wrongly', write, text)] : [];
    }
    const deletion = relevant.find((it) => it.kind === 'endpoint deletion' && it.subjects[0] === write.subjects[0]);
    if (found.length > 1) return [finding('doubled', write, text)];
    if (write.told === 'done' && found.length === 0 && !deletion) return [finding('lost', write, text)];
    if (write.told === 'rejected' && found.length > 0) return [finding('told wrongly', write, text)];
    return [];
  });
}

/** Wrong codes and codes sent: each is counted once, whatever was lost and repeated. */
function checkCounters(writes: readonly Write[], { confirmations }: Snapshot): Finding[] {
  return confirmations.flatMap(({ id, failedAttempts, codesSent }) => {
    const about = writes.filter(({ confirmationId }) => confirmationId === id);
    const wrong = about.flatMap((write): Write[] => {
      if (write.kind === 'wrong code') return [write];
      return write.reason === 'confirmation_code_incorrect' ? [{ ...write, told: 'done' }] : [];
    });
    const resends = about.filter(({ kind }) => kind === 'resend');
    return [
      ...compareCount(wrong, failedAttempts, 'counted twice', `${failedAttempts} wrong codes are counted`),
      ...compareCount(resends, codesSent - 1, 'doubled', `${codesSent} codes were sent`),
    ];
  });
}

function compareCount(writes: readonly Write[], count: number, tooMany: Fault, text: string): Finding[] {
  const last = writes.at(-1);
  if (!last) return [];
  const answers = writes.map((write) => `${write.told}: ${write.answers.join(', ')}`).join('; ');
  const least = writes.filter((write) => write.told === 'done').length;
  const most = writes.filter((write) => write.told !== 'rejected').length;
  if (count > most) return [finding(tooMany, last, `${text}, of at most ${most}: ${answers}`)];
  return count < least ? [finding('lost', last, `${text}, of at least ${least}: ${answers}`)] : [];
}

/** Every write that was made has an entry that says so. */
function checkAudit(writes: readonly Write[], snapshot: Snapshot): Finding[] {
  const successes = snapshot.audit.filter(({ outcome }) => outcome === 'success' || outcome === 'replayed');
  const requests = new Set(writes.flatMap(({ requestIds }) => requestIds));
  return writes
    .filter((write) => write.told === 'done' && !withoutAudit.includes(write.kind) && write.kind !== 'wrong code')
    .flatMap((write) => {
      const ids = [
        ...write.ids,
        ...snapshot.appointments.filter(({ comment }) => write.subjects.includes(comment ?? '')).map(({ id }) => id),
      ];
      const has = successes.some(
        ({ operation, requestId, recordIds }) =>
          (operation === write.operation && write.requestIds.includes(requestId)) ||
          // What the gateway found out later names no request.
          (!requests.has(requestId) && recordIds.some((id) => ids.includes(id))),
      );
      return has ? [] : [finding('without audit entry', write, `no entry of success about ${ids.join(', ')}`)];
    });
}

function checkEvents({ events, delivered }: Snapshot): Finding[] {
  const received = new Set(delivered);
  return events.flatMap(({ id, type, subject, lateSeconds }): Finding[] => {
    const text = `${type} ${id} of ${subject}`;
    return [
      ...(received.has(id) ? [] : [{ fault: 'without delivery', kind: undefined, text } as const]),
      ...(lateSeconds > latestEventSeconds
        ? [{ fault: 'late event', kind: undefined, text: `${text} after ${lateSeconds} s` } as const]
        : []),
    ];
  });
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return without(some, others).length === 0 && without(others, some).length === 0;
}

/** The items that are left after one is removed for each of the others. */
function without(items: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...items];
  for (const other of others) {
    const index = left.indexOf(other);
    if (index >= 0) left.splice(index, 1);
  }
  return left;
}
