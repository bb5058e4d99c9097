import { expect, test } from 'vitest';
import { check } from './check.ts';
import type { History, Snapshot, Write } from './history.ts';

const slot = '2030-03-15T08:00:00.000Z at r-1';
const later = '2030-03-15T09:00:00.000Z at r-1';
const elsewhere = '2030-03-15T09:00:00.000Z at r-2';

function write(kind: Write['kind'], more: Partial<Write> = {}): Write {
  return {
    kind,
    operation: kind.includes('booking') ? 'create_appointment' : 'change_appointment',
    isKeyed: true,
    subjects: ['thing'],
    requestIds: [`request of ${kind}`],
    answers: ['200'],
    told: 'done',
    ids: ['a-1'],
    confirmationId: undefined,
    slots: [],
    secretHash: undefined,
    reason: undefined,
    isDisturbed: false,
    internalErrors: 0,
    isStuck: false,
    ...more,
  };
}

const event = (type: string, id = type): Snapshot['events'][number] => {
  return { id, type: `appointment.${type}`, subject: 'a-1', messageId: null, lateSeconds: 0.2, meanwhile: [] };
};
const entry = (of: Write): Snapshot['audit'][number] => {
  return { operation: of.operation, recordIds: ['a-1'], outcome: 'success', requestId: of.requestIds[0] ?? '' };
};

/** An appointment that was booked, moved and cancelled, a note, a booking whose wrong code was entered once, and the gateway's own records. */
function whole(): History {
  const booking = write('booking', { slots: [slot] });
  const move = write('move', { slots: [later] });
  const cancellation = write('cancellation', { requestIds: ['request of cancellation'] });
  const note = write('note', { operation: 'create_medical_note', subjects: ['a note'], ids: ['n-1'] });
  const code = { subjects: ['held'], ids: ['a-2'], confirmationId: 'c-1' };
  const held = write('booking by code', { ...code, slots: [slot] });
  const wrong = write('wrong code', { ...code, ids: [], reason: 'confirmation_code_incorrect' });
  const endpoint = write('endpoint', { subjects: ['endpoint'], ids: ['e-1'], secretHash: 'first' });
  const rotation = write('endpoint rotation', { subjects: ['rotated'], ids: ['e-1'], secretHash: 'newest' });
  const replay = write('endpoint replay', { subjects: ['replayed'], ids: ['e-2'] });
  const client = write('operator: client', { subjects: ['client'], ids: ['c-1'] });
  const drop = write('operator: drop', { subjects: ['dropped'], ids: ['o-1'] });
  const exception = write('schedule exception', { subjects: ['exception'], ids: ['s-1'] });
  const own = [endpoint, rotation, replay, client, drop, exception];
  const writes = [booking, move, cancellation, note, held, wrong, ...own];
  const events = [
    event('booked'),
    event('updated'),
    event('cancelled'),
    { ...event('awaiting_confirmation'), subject: 'a-2' },
    { ...event('confirmation_expired'), subject: 'a-2' },
    { ...event('delayed'), type: 'message.delayed', subject: 'a-2', messageId: 'm-1' },
  ];
  return {
    writes,
    snapshot: {
      appointments: [
        { id: 'a-1', state: 'cancelled', slot: later, comment: 'thing' },
        { id: 'a-2', state: 'cancelled', slot, comment: 'held' },
      ],
      records: [
        { id: 'n-1', name: 'a note' },
        { id: 'e-1', name: 'endpoint' },
        { id: 'e-1', name: 'rotated' },
        { id: 'c-1', name: 'client' },
        { id: 'o-1', name: 'dropped' },
        { id: 's-1', name: 'exception' },
      ],
      confirmations: [
        { id: 'c-1', failedAttempts: 1, codesSent: 1, items: [{ id: 'a-2', ehrId: 'a-2', subjectId: 'a-2' }] },
      ],
      events,
      lateMessageIds: ['m-1'],
      deliveries: ['main', 'replayed'].map((name) => ({ endpoint: name, eventIds: events.map(({ id }) => id) })),
      secrets: [{ id: 'e-1', hashes: ['newest', 'first'] }],
      activity: [
        { action: 'client_create', target: 'c-1' },
        { action: 'operation_drop', target: 'o-1' },
      ],
      audit: [booking, move, cancellation, note, held].map(entry),
      unfinished: [],
    },
  };
}

const faultsOf = (history: History) => check(history).map(({ fault, kind }) => `${fault}: ${kind}`);
const changed = (change: (snapshot: Snapshot) => Partial<Snapshot>, writes = whole().writes): History => {
  const { snapshot } = whole();
  return { writes, snapshot: { ...snapshot, ...change(snapshot) } };
};
const told = (kind: Write['kind'], more: Partial<Write>) =>
  whole().writes.map((it) => (it.kind === kind ? { ...it, ...more } : it));

test('a history in which everything agrees has no finding', () => {
  expect(check(whole())).toEqual([]);
});

test.for<[string, History, string[]]>([
  [
    'a booking that was told as done is not there',
    changed(
      ({ appointments }) => ({ appointments: appointments.slice(1) }),
      [write('booking', { slots: [slot] }), ...whole().writes.slice(3)],
    ),
    ['lost: booking'],
  ],
  [
    'a move that was told as done was not made',
    changed(({ appointments }) => ({
      appointments: appointments.map((it) => (it.id === 'a-1' ? { ...it, slot } : it)),
    })),
    ['lost: move'],
  ],
  [
    'a cancellation that was told as done was not made',
    changed(({ appointments }) => ({
      appointments: appointments.map((it) => (it.id === 'a-1' ? { ...it, state: 'booked' } : it)),
    })),
    ['lost: cancellation'],
  ],
  [
    'a booking is added',
    changed(({ appointments }) => ({
      appointments: [...appointments, { id: 'a-3', state: 'booked', slot: later, comment: 'thing' }],
    })),
    ['doubled: booking'],
  ],
  [
    'a cancellation that was told as rejected was made',
    changed(() => ({}), told('cancellation', { told: 'rejected' })),
    ['told wrongly: cancellation'],
  ],
  [
    'a note exists twice',
    changed(({ records }) => ({ records: [...records, { id: 'n-2', name: 'a note' }] })),
    ['doubled: note'],
  ],
  ['a note is removed', changed(({ records }) => ({ records: records.slice(1) })), ['lost: note']],
  [
    'a note that was told as rejected was made',
    changed(() => ({}), told('note', { told: 'rejected' })),
    ['told wrongly: note'],
  ],
  [
    'a webhook endpoint exists three times',
    changed(({ records }) => ({ records: [...records, ...['e-2', 'e-3'].map((id) => ({ id, name: 'endpoint' }))] })),
    ['doubled: endpoint'],
  ],
  [
    'a wrong code is counted twice',
    changed(({ confirmations }) => ({ confirmations: confirmations.map((it) => ({ ...it, failedAttempts: 2 })) })),
    ['counted twice: wrong code'],
  ],
  [
    'a wrong code is not counted',
    changed(({ confirmations }) => ({ confirmations: confirmations.map((it) => ({ ...it, failedAttempts: 0 })) })),
    ['lost: wrong code'],
  ],
  [
    'an event is dropped',
    changed(({ events }) => ({ events: events.filter(({ id }) => id !== 'updated') })),
    ['without event: move'],
  ],
  [
    'the event of an expired code is dropped',
    changed(({ events }) => ({ events: events.filter(({ id }) => id !== 'confirmation_expired') })),
    ['without event: booking by code'],
  ],
  [
    'an event is written twice',
    changed(({ events, deliveries }) => ({
      events: [...events, event('booked', 'again')],
      deliveries: deliveries.map((it) => ({ ...it, eventIds: [...it.eventIds, 'again'] })),
    })),
    ['doubled: cancellation'],
  ],
  [
    'a late message has no event',
    changed(({ lateMessageIds }) => ({ lateMessageIds: [...lateMessageIds, 'm-2'] })),
    ['without event: undefined'],
  ],
  ['a message is told as late and is not', changed(() => ({ lateMessageIds: [] })), ['doubled: undefined']],
  [
    'a delivery is missing',
    changed(({ deliveries }) => ({ deliveries: deliveries.with(0, { endpoint: 'main', eventIds: [] }) })),
    Array.from({ length: 6 }, () => 'without delivery: undefined'),
  ],
  [
    'an event comes late',
    changed(({ events }) => ({ events: events.map((it) => (it.id === 'booked' ? { ...it, lateSeconds: 6 } : it)) })),
    ['late event: undefined'],
  ],
  ['an entry is removed', changed(({ audit }) => ({ audit: audit.slice(1) })), ['without audit entry: booking']],
  [
    'an entry says only that the outcome is unknown',
    changed(({ audit }) => ({
      audit: audit.map((it, index) => (index === 2 ? { ...it, outcome: 'outcome_unknown' } : it)),
    })),
    ['without audit entry: cancellation'],
  ],
  [
    'a deletion that was told as done was not made',
    changed(() => ({}), [...whole().writes, write('endpoint deletion', { subjects: ['endpoint'], ids: ['e-1'] })]),
    ['lost: endpoint deletion'],
  ],
  [
    'a bulk move moves one appointment only',
    changed(
      ({ appointments, events }) => ({
        appointments: [
          { id: 'b-1', state: 'booked', slot: later, comment: 'one' },
          { id: 'b-2', state: 'booked', slot: elsewhere, comment: 'other' },
          ...appointments,
        ],
        events: [
          ...events,
          ...['b-1', 'b-2'].flatMap((id) => [
            { ...event('booked'), subject: id },
            { ...event('updated'), subject: id },
          ]),
        ],
        audit: [...whole().snapshot.audit, entry(write('bulk move'))],
      }),
      [
        write('booking', { subjects: ['one'], slots: [later], ids: ['b-1'] }),
        write('booking', { subjects: ['other'], slots: [later], ids: ['b-2'] }),
        write('bulk move', { subjects: ['one', 'other'], slots: [elsewhere, elsewhere], ids: ['b-1', 'b-2'] }),
        ...whole().writes,
      ],
    ),
    ['lost: bulk move'],
  ],
  [
    'an exception of a schedule exists twice',
    changed(({ records }) => ({ records: [...records, { id: 's-1', name: 'exception' }] })),
    ['doubled: schedule exception'],
  ],
  [
    'a secret was rotated twice',
    changed(({ records }) => ({ records: [...records, { id: 'e-1', name: 'rotated' }] })),
    ['doubled: endpoint rotation'],
  ],
  [
    'a secret that was told is not valid',
    changed(() => ({ secrets: [{ id: 'e-1', hashes: ['other', 'first'] }] })),
    ['lost: endpoint rotation'],
  ],
  [
    'an event is not replayed',
    changed(({ deliveries }) => ({ deliveries: deliveries.slice(0, 1) })),
    ['without delivery: endpoint replay'],
  ],
  [
    'a client that was told as done is not there',
    changed(({ records }) => ({ records: records.filter(({ id }) => id !== 'c-1') })),
    ['lost: operator: client'],
  ],
  [
    'an action of an operator is not in the activity list',
    changed(({ activity }) => ({ activity: activity.slice(1) })),
    ['without audit entry: operator: client'],
  ],
  [
    'an operation was dropped although the console said no',
    changed(() => ({}), told('operator: drop', { told: 'rejected' })),
    ['told wrongly: operator: drop', 'told wrongly: operator: drop'],
  ],
  ['a response has status 500', changed(() => ({}), told('note', { internalErrors: 1 })), ['500: note']],
  [
    'a key gets no final response',
    changed(() => ({}), told('note', { told: 'unknown', isStuck: true, reason: 'idempotency_in_progress' })),
    ['stuck: note'],
  ],
  [
    'an operation never ends',
    changed(() => ({ unfinished: [{ promise: 'an operation is unfinished', what: 'o-1' }] })),
    ['stuck: undefined'],
  ],
])('speaks when %s', ([, history, expected]) => {
  expect(faultsOf(history)).toEqual(expected);
});

test('a write whose outcome is unknown may have been made or not', () => {
  const writes = told('cancellation', { told: 'unknown' });
  expect(check(changed(() => ({}), writes))).toEqual([]);
  const notMade = changed(
    ({ appointments, events }) => ({
      appointments: appointments.map((it) => (it.id === 'a-1' ? { ...it, state: 'booked' } : it)),
      events: events.filter(({ id }) => id !== 'cancelled'),
    }),
    writes,
  );
  expect(check(notMade)).toEqual([]);
});

test('but if it was made, it has its event', () => {
  const writes = told('cancellation', { told: 'unknown' });
  const history = changed(({ events }) => ({ events: events.filter(({ id }) => id !== 'cancelled') }), writes);
  expect(faultsOf(history)).toEqual(['without event: cancellation']);
});

test('what was made and compensated, without an event, counts as not made', () => {
  const history = changed(({ appointments }) => ({
    appointments: [...appointments, { id: 'a-3', state: 'cancelled', slot, comment: 'thing' }],
  }));
  expect(check(history)).toEqual([]);
});

test('the event of an interrupted change may be left out after a cancellation', () => {
  const history = whole();
  const without = { ...history.snapshot, events: history.snapshot.events.filter(({ id }) => id !== 'updated') };
  const interrupted = history.writes.map((it) => (it.kind === 'move' ? { ...it, isDisturbed: true } : it));
  expect(check({ writes: interrupted, snapshot: without })).toEqual([]);
});

test('a change may be reported twice if its operation was interrupted', () => {
  const history = whole();
  const { snapshot } = history;
  const events = [...snapshot.events, event('updated', 'again')];
  const deliveries = snapshot.deliveries.map((it) => ({ ...it, eventIds: [...it.eventIds, 'again'] }));
  const repeated = { ...snapshot, events, deliveries };
  expect(faultsOf({ ...history, snapshot: repeated })).toEqual(['doubled: cancellation']);
  expect(check({ writes: told('move', { isDisturbed: true }), snapshot: repeated })).toEqual([]);
});
