import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { sandboxSubject } from '../../../connectors/sandbox/src/conformance-subject.ts';
import { createTestDatabase } from '../../../test/database.ts';
import type { AppointmentChange, AppointmentWrite, Connector, ConnectorOperations } from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import type { Appointment, Patient, TimeSlot } from '../records.ts';
import { codeDesk, withCodes } from './codes-desk.test-support.ts';
import { type CheckResult, capabilities, runCheck, type Subject } from './index.ts';

type Whole = Required<Connector>;
type Broken = Partial<ConnectorOperations> & Partial<Pick<Connector, 'capabilities'>>;

const { database, dispose } = await createTestDatabase();
const sound = await sandboxSubject('sound', database.pool);
const unguarded = await createTestDatabase();
await unguarded.database.pool.connect().then(async (client) => {
  await client.query('ALTER TABLE sandbox.appointments DROP CONSTRAINT appointments_no_overlap');
  client.release();
});
afterAll(async () => {
  await dispose();
  await unguarded.dispose();
});

/** The subject with a connector that does something else in places. What it remembers dies with the connector. */
function breakIt(subject: Subject, how: (right: Whole) => Broken): Subject {
  const made = new WeakMap<Connector, Connector>();
  const broken = (right: Connector) => {
    const connector = made.get(right) ?? { ...right, ...how(right as Whole) };
    made.set(right, connector);
    return connector;
  };
  return Object.create(subject, {
    connector: { get: () => broken(subject.connector) },
    second: { value: undefined },
  });
}

async function outcomeOf(subject: Subject, capability: string, name: string): Promise<CheckResult> {
  const check = capabilities
    .flatMap(({ checks }) => checks)
    .find((it) => it.capability === capability && it.name === name);
  if (!check) throw new Error(`No check of ${capability} is named: ${name}`);
  return runCheck(check, subject, { timeoutMilliseconds: 25_000 });
}

/** Changes what is written, or what is answered, of every change. */
function changing(right: Whole, alter: (change: AppointmentChange) => AppointmentChange): Broken {
  return { changeAppointments: (write) => right.changeAppointments({ ...write, changes: write.changes.map(alter) }) };
}

function reading(right: Whole, alter: (appointment: Appointment) => Appointment): Broken {
  return {
    findAppointments: async (unit, ids) => (await right.findAppointments(unit, ids)).map(alter),
    listAppointments: async (query) => (await right.listAppointments(query)).map(alter),
  };
}

function slots(right: Whole, alter: (found: readonly TimeSlot[]) => readonly TimeSlot[]): Broken {
  return { listTimeSlots: async (query) => alter(await right.listTimeSlots(query)) };
}

async function oneByOne(right: Whole, write: AppointmentWrite): Promise<readonly Appointment[]> {
  const done: Appointment[] = [];
  for (const change of write.changes) {
    done.push(...(await right.changeAppointments({ ...write, operationId: randomUUID(), changes: [change] })));
  }
  return done;
}

const other = sound.otherCareUnit ?? sound.careUnit;
const hour = 60 * 60 * 1000;

const variants: [string, capability: string, check: string, (right: Whole) => Broken][] = [
  [
    'finds somebody else by national number',
    'patients',
    'are found by every identifier, as one and the same',
    (right) => ({
      findPatient: (it) => right.findPatient(it.type === 'emr_id' ? it : { type: 'emr_id', value: 'p-2' }),
    }),
  ],
  [
    'throws for a patient that nobody is',
    'patients',
    'that nobody has are answered with null',
    (right) => ({
      findPatient: async (it) => {
        const found = await right.findPatient(it);
        if (!found) throw new ConnectorError('patient_not_found', 'No such patient');
        return found;
      },
    }),
  ],
  [
    'writes dates and phone numbers as it pleases',
    'patients',
    'have a date of birth and a phone number in the port’s form, or none',
    (right) => ({
      findPatient: async (it) => ({ ...((await right.findPatient(it)) as Patient), birthDate: '12/12/1912' }),
    }),
  ],
  [
    'hides national numbers',
    'patients',
    'show their identifiers, the EHR’s own first',
    (right) => ({
      findPatient: async (it) => {
        const found = (await right.findPatient(it)) as Patient;
        return { ...found, identifiers: found.identifiers.slice(0, 1) };
      },
    }),
  ],
  [
    'lists resources in any order',
    'resources',
    'are listed by id, each once',
    (right) => ({ listResources: async (unit) => (await right.listResources(unit)).toReversed() }),
  ],
  [
    'shows resources of another care unit',
    'resources',
    'of another care unit are not found',
    (right) => ({
      findResource: async (unit, it) => (await right.findResource(unit, it)) ?? right.findResource(other, it),
    }),
  ],
  [
    'lists services in any order',
    'healthcare-services',
    'are listed by id, each once, with a name',
    (right) => ({ listHealthcareServices: async (unit) => (await right.listHealthcareServices(unit)).toReversed() }),
  ],
  [
    'leaves out a service',
    'healthcare-services',
    'hold all that resources and free slots name',
    (right) => ({ listHealthcareServices: async (unit) => (await right.listHealthcareServices(unit)).slice(0, 1) }),
  ],
  [
    'forgets the order of slots',
    'time-slots',
    'come by start, resource and service, each once',
    (right) => slots(right, (found) => found.toReversed()),
  ],
  [
    'shows a slot for every way to find it',
    'time-slots',
    'come by start, resource and service, each once',
    (right) => slots(right, (found) => found.flatMap((slot) => [slot, slot])),
  ],
  [
    'shows slots that are partly outside',
    'time-slots',
    'lie wholly inside the range',
    (right) => ({
      listTimeSlots: (query) =>
        right.listTimeSlots({
          ...query,
          start: new Date(query.start.getTime() - hour),
          end: new Date(query.end.getTime() + hour),
        }),
    }),
  ],
  [
    'shows slots of another care unit',
    'time-slots',
    'of another care unit do not show',
    (right) => ({
      listTimeSlots: async (query) => [
        ...(await right.listTimeSlots(query)),
        ...(await right.listTimeSlots({ ...query, careUnit: other })),
      ],
    }),
  ],
  [
    'shows slots from memory',
    'time-slots',
    'are gone once booked, for every service',
    (right) => {
      const seen = new Map<string, Promise<readonly TimeSlot[]>>();
      return {
        listTimeSlots: async ({ limit, start, end, resourceIds, ...query }) => {
          const key = JSON.stringify(query);
          const all = seen.get(key) ?? right.listTimeSlots({ ...query, ...window(), limit: 2_000 });
          seen.set(key, all);
          return (await all)
            .filter((slot) => slot.start >= start && slot.end <= end)
            .filter((slot) => resourceIds?.includes(slot.resourceId) ?? true)
            .slice(0, limit);
        },
      };
    },
  ],
  [
    'does not know of freeing',
    'time-slots',
    'count as free when their appointment is about to give them up',
    (right) => ({ listTimeSlots: ({ freeing: _, ...query }) => right.listTimeSlots(query) }),
  ],
  [
    'finds appointments of every care unit',
    'appointments-read',
    'of another care unit are not found',
    (right) => ({ findAppointments: (_, ids) => right.findAppointments(sound.careUnit, ids) }),
  ],
  [
    'does not know of states',
    'appointments-read',
    'are listed by state',
    (right) => ({ listAppointments: ({ states: _, ...query }) => right.listAppointments(query) }),
  ],
  [
    'does not know of patients',
    'appointments-read',
    'are listed by patient',
    (right) => ({ listAppointments: ({ patientId: _, ...query }) => right.listAppointments(query) }),
  ],
  [
    'matches neighbours of a range',
    'appointments-read',
    'are listed by what overlaps a range',
    (right) => ({
      listAppointments: ({ range, ...query }) =>
        right.listAppointments({
          ...query,
          ...(range && {
            range: { start: new Date(range.start.getTime() - 1), end: new Date(range.end.getTime() + 1) },
          }),
        }),
    }),
  ],
  [
    'reads times in another zone',
    'appointments-read',
    'are found by id as they were answered when made',
    (right) => reading(right, (it) => ({ ...it, start: new Date(it.start.getTime() + hour) })),
  ],
  [
    'drops comments',
    'create',
    'books what was asked for',
    (right) => changing(right, (it) => (it.kind === 'create' ? { ...it, comment: null } : it)),
  ],
  [
    'books the first of several slots',
    'create',
    'books several slots in a row as one time',
    (right) =>
      changing(right, (it) => (it.kind === 'create' ? { ...it, end: new Date(it.start.getTime() + hour / 2) } : it)),
  ],
  [
    'tells whoever comes late that they were first',
    'create',
    'takes no time that is taken',
    (right) => ({
      changeAppointments: async (write) => {
        const [change] = write.changes;
        try {
          return await right.changeAppointments(write);
        } catch (error) {
          if (change?.kind !== 'create') throw error;
          const { start, end, resourceId } = change;
          return right.listAppointments({ careUnit: write.careUnit, resourceId, range: { start, end }, limit: 1 });
        }
      },
    }),
  ],
  [
    'refuses with a word of its own',
    'create',
    'refuses who and what is not there',
    (right) => ({
      changeAppointments: (write) =>
        right.changeAppointments(write).catch((cause) => {
          throw new ConnectorError('rejected', 'The EHR said no', { cause });
        }),
    }),
  ],
  [
    'loses the comment in a move',
    'update',
    'moves an appointment and frees its former time',
    (right) => changing(right, (it) => (it.kind === 'update' && it.time ? { ...it, comment: null } : it)),
  ],
  [
    'changes half of what it then refuses',
    'update',
    'to a taken time changes nothing',
    (right) => ({
      changeAppointments: async (write) => {
        const [change] = write.changes;
        if (change?.kind !== 'update' || !change.time) return right.changeAppointments(write);
        const { time: _, ...rest } = change;
        await right.changeAppointments({ ...write, operationId: randomUUID(), changes: [rest] });
        return right.changeAppointments(write);
      },
    }),
  ],
  [
    'clears no comment',
    'update',
    'changes and clears the comment alone',
    (right) =>
      changing(right, (it) => (it.kind === 'update' && it.comment === null ? { ...it, comment: undefined } : it)),
  ],
  [
    'changes what another care unit has',
    'update',
    'of an appointment of another care unit is refused',
    (right) => ({ changeAppointments: (write) => right.changeAppointments({ ...write, careUnit: sound.careUnit }) }),
  ],
  [
    'says that it cancelled, and did not',
    'cancel',
    'cancels and frees the time',
    (right) => ({
      changeAppointments: async (write) => {
        const [change] = write.changes;
        if (change?.kind !== 'cancel') return right.changeAppointments(write);
        const found = await right.findAppointments(write.careUnit, [change.appointmentId]);
        return found.map((it) => ({ ...it, state: 'cancelled' as const }));
      },
    }),
  ],
  [
    'takes cancelling something twice for a mistake',
    'cancel',
    'leaves what is cancelled as it is',
    (right) => ({
      changeAppointments: async (write) => {
        const [change] = write.changes;
        if (change?.kind === 'cancel') {
          const [now] = await right.findAppointments(write.careUnit, [change.appointmentId]);
          if (now?.state === 'cancelled') throw new ConnectorError('appointment_cancelled', 'It is cancelled');
        }
        return right.changeAppointments(write);
      },
    }),
  ],
  [
    'shows a held time as free',
    'holds',
    'keep a time from everybody else',
    (right) => ({
      listTimeSlots: async (query) => {
        const held = await right.listAppointments({ careUnit: query.careUnit, states: ['held'], limit: 100 });
        return right.listTimeSlots({ ...query, freeing: held.map(({ id }) => id) });
      },
    }),
  ],
  [
    'shows an expired hold as taken',
    'holds',
    'end by themselves, and the time is free',
    (right) => {
      const held = new Set<string>();
      return {
        ...reading(right, (it) => (held.has(it.id) && it.state === 'cancelled' ? { ...it, state: 'held' } : it)),
        changeAppointments: async (write) => {
          const done = await right.changeAppointments(write);
          for (const { id, state } of done) if (state === 'held') held.add(id);
          return done;
        },
      };
    },
  ],
  [
    'releases bookings',
    'holds',
    'are not changed like bookings, nor bookings like holds',
    (right) => changing(right, (it) => (it.kind === 'release' ? { ...it, kind: 'cancel' } : it)),
  ],
  [
    'does several changes one by one',
    'transactions',
    'leave nothing behind when one change fails, whichever',
    (right) => ({ changeAppointments: (write) => oneByOne(right, write) }),
  ],
  [
    'does several changes one by one, in their order',
    'transactions',
    'let a cancellation free its time for the others',
    (right) => ({ changeAppointments: (write) => oneByOne(right, write) }),
  ],
  [
    'answers in any order',
    'transactions',
    'do several changes, and answer in their order',
    (right) => ({ changeAppointments: async (write) => (await right.changeAppointments(write)).toReversed() }),
  ],
  [
    'ignores operation ids',
    'operation-ids',
    'do not book again',
    (right) => ({
      changeAppointments: (write) => right.changeAppointments({ ...write, operationId: randomUUID() }),
    }),
  ],
  [
    'forgets what an operation did',
    'operation-ids',
    'find what a write left behind',
    () => ({ findOperation: async () => [] }),
  ],
  [
    'keeps operation ids in memory',
    'operation-ids',
    'tell what became of a write when the connector is killed, and let it be done once',
    (right) => {
      const done = new Map<string, readonly Appointment[]>();
      return {
        findOperation: async (_, id) => done.get(id) ?? null,
        changeAppointments: async (write) => {
          const before = done.get(write.operationId);
          const answer = before ?? (await right.changeAppointments({ ...write, operationId: randomUUID() }));
          done.set(write.operationId, answer);
          return answer;
        },
      };
    },
  ],
  [
    'makes those who lose a race think that the EHR is broken',
    'races',
    'of twenty for one slot have one winner',
    (right) => ({
      changeAppointments: (write) =>
        right.changeAppointments(write).catch(() => {
          throw new ConnectorError('rejected', 'The EHR said no');
        }),
    }),
  ],
  [
    'takes the offset of summer for that of the year',
    'clock-changes',
    'neither lose nor double nor shift a slot',
    (right) => {
      const changes = sound.clockChanges ?? [];
      const moved = ({ start, end, ...slot }: TimeSlot) => {
        const near = changes.some(({ at }) => start >= at && start.getTime() < at.getTime() + 60 * hour);
        const by = near ? hour : 0;
        return { ...slot, start: new Date(start.getTime() + by), end: new Date(end.getTime() + by) };
      };
      return slots(right, (found) => found.map(moved));
    },
  ],
  [
    'begins every page at the beginning',
    'paging',
    'of time slots shows each once, whatever the size of a page',
    (right) => ({ listTimeSlots: ({ after: _, ...query }) => right.listTimeSlots(query) }),
  ],
  [
    'repeats the last entry of a page',
    'paging',
    'of appointments shows each once, by start and id',
    (right) => ({
      listAppointments: ({ after, ...query }) =>
        right.listAppointments({ ...query, after: after && { start: after.start, id: '' } }),
    }),
  ],
  [
    'loses the rest when the last entry of a page is gone',
    'paging',
    'of time slots goes on after a slot that was booked meanwhile',
    (right) => ({
      listTimeSlots: async ({ after, limit, ...query }) => {
        const all = await right.listTimeSlots({ ...query, limit: 1000 });
        const index = all.findIndex(
          (slot) => slot.start.getTime() === after?.start.getTime() && slot.resourceId === after.resourceId,
        );
        if (after && index === -1) return [];
        return all.slice(index + 1, index + 1 + limit);
      },
    }),
  ],
  [
    'reads from memory',
    'concurrent-edits',
    'a cancellation in the EHR is seen and stays',
    (right) => {
      const seen = new Map<string, Appointment>();
      return {
        findAppointments: async (_, ids) => ids.flatMap((id) => seen.get(id) ?? []),
        changeAppointments: async (write) => {
          const done = await right.changeAppointments(write);
          for (const it of done) seen.set(it.id, it);
          return done;
        },
      };
    },
  ],
  [
    'writes the comment that it remembers',
    'concurrent-edits',
    'a comment written in the EHR outlives a move',
    (right) => changing(right, (it) => (it.kind === 'update' ? { ...it, comment: it.comment ?? 'first' } : it)),
  ],
  [
    'books what it was asked to hold',
    'unclaimed',
    'a hold is not booked where holds are left out',
    (right) => ({
      capabilities: { ...right.capabilities, changes: ['create', 'cancel'] },
      ...changing(right, (it) => (it.kind === 'create' ? { ...it, holdUntil: null } : it)),
    }),
  ],
  [
    'does what it does not claim',
    'unclaimed',
    'changes that are left out are unsupported and change nothing',
    (right) => ({ capabilities: { ...right.capabilities, changes: ['create', 'cancel'] } }),
  ],
  [
    'claims some of what a hold needs',
    'unclaimed',
    'claims do not contradict each other',
    (right) => ({ capabilities: { ...right.capabilities, changes: ['create', 'confirm'] } }),
  ],
  [
    'does several changes one by one and says so, but stops half-way',
    'unclaimed',
    'more changes at once than are claimed are not done in part',
    (right) => ({
      capabilities: { ...right.capabilities, transactions: false },
      changeAppointments: (write) => oneByOne(right, write),
    }),
  ],
  [
    'does in part what its transactions do not take',
    'unclaimed',
    'more changes at once than are claimed are not done in part',
    (right) => ({
      capabilities: { ...right.capabilities, changesPerTransaction: 3 },
      changeAppointments: (write) =>
        write.changes.length > 3 ? oneByOne(right, write) : right.changeAppointments(write),
    }),
  ],
  [
    'claims a limit of transactions that it does not have',
    'unclaimed',
    'claims do not contradict each other',
    (right) => ({ capabilities: { ...right.capabilities, transactions: false, changesPerTransaction: 10 } }),
  ],
];

function window() {
  return { start: new Date(Date.now() + 20 * hour), end: new Date(Date.now() + 80 * 24 * hour) };
}

describe('the kit catches a connector that', () => {
  test.each(variants)('%s', async (_, capability, check, how) => {
    const result = await outcomeOf(breakIt(sound, how), capability, check);
    expect(result).toMatchObject({ outcome: 'failed', reason: expect.any(String) });
  });

  test.each([
    ['create', 'takes no time that is taken'],
    ['create', 'takes no time that overlaps a taken one'],
    ['races', 'of twenty for one slot have one winner'],
    ['races', 'for times that overlap leave every slot to one'],
    ['races', 'of moves and bookings for one slot have one winner'],
  ])('books twice (%s: %s)', async (capability, check) => {
    const subject = await sandboxSubject('without a constraint', unguarded.database.pool);
    const { outcome, reason } = await outcomeOf(subject, capability, check);
    expect([outcome, reason]).toEqual(['failed', expect.not.stringMatching(/^The connector threw/)]);
  });

  test('has a bug, and tells where', async () => {
    const subject = breakIt(sound, () => ({
      findPatient: async () => {
        throw new TypeError('a slip');
      },
    }));
    const { reason } = await outcomeOf(subject, 'patients', 'that nobody has are answered with null');
    expect(reason).toMatch(/^The connector threw TypeError: a slip \(at .*broken\.db\.test\.ts:\d+:\d+\)/);
  });

  test('asks a gateway that answers for what there is not', async () => {
    const { findOperation: _, ...rest } = sound.connector;
    const subject: Subject = Object.create(sound, {
      connector: { value: rest },
      askGateway: { value: async () => null },
    });
    const result = await outcomeOf(subject, 'unclaimed', 'operations that are left out are unsupported');
    expect(result).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('findOperation') });
  });
});

describe('codes that an EHR sends', () => {
  const checks = capabilities.find(({ name }) => name === 'codes-by-ehr')?.checks ?? [];
  const desk = codeDesk();

  test.each(checks.map(({ name }) => name))('pass where they are right: %s', async (name) => {
    const subject = withCodes(sound, desk);
    expect(await outcomeOf(subject, 'codes-by-ehr', name)).toMatchObject({ outcome: 'passed' });
  });

  test.each([
    ['any code is taken', 'refuse a wrong one and count it', { takesAnything: true }],
    ['a former code is taken', 'can be sent anew, and the old one is dead', { keepsOldCodes: true }],
    ['nothing is kept', 'keep the time until the code has come, then book it', { holdsNothing: true }],
    [
      'a cancellation is done at once',
      'leave an appointment booked until its cancellation is confirmed',
      { cancelsAtOnce: true },
    ],
  ])('are caught where %s', async (_, name, fault) => {
    const subject = withCodes(sound, desk, fault);
    expect(await outcomeOf(subject, 'codes-by-ehr', name)).toMatchObject({ outcome: 'failed' });
  });
});
