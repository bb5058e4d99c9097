import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { sandboxSubject } from '../../../connectors/sandbox/test/conformance-subject.ts';
import { createTestDatabase } from '../../../test/database.ts';
import type { AppointmentChanges } from '../appointment-changes.ts';
import type { AppointmentChange, AppointmentWrite } from '../connector.ts';
import type { DirectChanges } from '../direct-changes.ts';
import { ConnectorError } from '../errors.ts';
import type { Appointment, Patient, TimeSlot } from '../records.ts';
import { type CompleteConnector, type Defects, outcomeOf, withDefects } from './broken.test-support.ts';
import { scheduleVariants } from './broken-schedules.test-support.ts';
import { capabilities, type Subject } from './index.ts';
import { pendingCodes, withCodes } from './simulated-codes.test-support.ts';

const { database, dispose } = await createTestDatabase();
const correct = await sandboxSubject('correct', database.pool);
const withoutConstraint = await createTestDatabase();
await withoutConstraint.database.pool.connect().then(async (client) => {
  await client.query('ALTER TABLE sandbox.appointments DROP CONSTRAINT appointments_no_overlap');
  client.release();
});
afterAll(async () => {
  await dispose();
  await withoutConstraint.dispose();
});

/** Alters every change before it is written. */
function changing(right: CompleteConnector, alter: (change: AppointmentChange) => AppointmentChange): Defects {
  return { changeAppointments: (write) => right.changeAppointments({ ...write, changes: write.changes.map(alter) }) };
}

function reading(right: CompleteConnector, alter: (appointment: Appointment) => Appointment): Defects {
  return {
    findAppointments: async (unit, ids) => (await right.findAppointments(unit, ids)).map(alter),
    listAppointments: async (query) => (await right.listAppointments(query)).map(alter),
  };
}

function slots(right: CompleteConnector, alter: (found: readonly TimeSlot[]) => readonly TimeSlot[]): Defects {
  return { listTimeSlots: async (query) => alter(await right.listTimeSlots(query)) };
}

async function inSeparateWrites(right: CompleteConnector, write: AppointmentWrite): Promise<readonly Appointment[]> {
  const done: Appointment[] = [];
  for (const change of write.changes) {
    done.push(...(await right.changeAppointments({ ...write, operationId: randomUUID(), changes: [change] })));
  }
  return done;
}

const other = correct.otherCareUnit ?? correct.careUnit;
const hour = 60 * 60 * 1000;

/** Alters every page of changes. */
function changes(right: CompleteConnector, alter: (page: AppointmentChanges) => AppointmentChanges): Defects {
  return { listAppointmentChanges: async (query) => alter(await right.listAppointmentChanges(query)) };
}

const variants: [string, capability: string, check: string, (right: CompleteConnector) => Defects][] = [
  [
    'leaves out cancelled appointments from the changes',
    'appointment-changes',
    'returns an appointment that was booked, moved and cancelled, as it is',
    (right) =>
      changes(right, (page) => ({
        ...page,
        changes: page.changes.filter(({ appointment }) => appointment.state !== 'cancelled'),
      })),
  ],
  [
    'loses the last change of a page',
    'appointment-changes',
    'misses none in small pages',
    (right) => changes(right, (page) => (page.hasMore ? { ...page, changes: page.changes.slice(0, -1) } : page)),
  ],
  [
    'stays at its position',
    'appointment-changes',
    'continues after the last change, and again from an earlier position',
    (right) => ({
      listAppointmentChanges: async (query) => {
        const page = await right.listAppointmentChanges(query);
        return query.after === undefined ? page : { ...page, next: query.after, hasMore: false };
      },
    }),
  ],
  [
    'finds another patient by national number',
    'patients',
    'every identifier of a patient finds the same patient',
    (right) => ({
      findPatient: (it) => right.findPatient(it.type === 'emr_id' ? it : { type: 'emr_id', value: 'p-2' }),
    }),
  ],
  [
    'throws for an unknown patient',
    'patients',
    'an unknown patient returns null',
    (right) => ({
      findPatient: async (it) => {
        const found = await right.findPatient(it);
        if (!found) throw new ConnectorError('patient_not_found', 'No such patient');
        return found;
      },
    }),
  ],
  [
    'returns a patient with an id that no request can contain',
    'patients',
    'the id of a patient can be sent in a request',
    (right) => ({ findPatient: async (it) => ({ ...((await right.findPatient(it)) as Patient), id: 'p-1 ' }) }),
  ],
  [
    'returns a birth date in another format',
    'patients',
    'a birth date is YYYY-MM-DD and a phone number is E.164, or null',
    (right) => ({
      findPatient: async (it) => ({ ...((await right.findPatient(it)) as Patient), birthDate: '12/12/1912' }),
    }),
  ],
  [
    'leaves out identifiers other than emr_id',
    'patients',
    'a patient lists all identifiers, emr_id first',
    (right) => ({
      findPatient: async (it) => {
        const found = (await right.findPatient(it)) as Patient;
        return { ...found, identifiers: found.identifiers.slice(0, 1) };
      },
    }),
  ],
  [
    'lists resources in reverse order',
    'resources',
    'lists each resource once, ordered by id',
    (right) => ({ listResources: async (unit) => (await right.listResources(unit)).toReversed() }),
  ],
  [
    'lists a resource with an id that no request can contain',
    'resources',
    'ids of resources can be sent in requests',
    (right) => ({
      listResources: async (unit) =>
        (await right.listResources(unit)).map((resource) => ({ ...resource, id: `${resource.id}\t` })),
    }),
  ],
  [
    'shows resources of another care unit',
    'resources',
    'a resource of another care unit is not found',
    (right) => ({
      findResource: async (unit, it) => (await right.findResource(unit, it)) ?? right.findResource(other, it),
    }),
  ],
  [
    'lists services in reverse order',
    'healthcare-services',
    'lists each healthcare service once, ordered by id, with a name',
    (right) => ({ listHealthcareServices: async (unit) => (await right.listHealthcareServices(unit)).toReversed() }),
  ],
  [
    'leaves out a service',
    'healthcare-services',
    'lists every healthcare service that a resource names',
    (right) => ({ listHealthcareServices: async (unit) => (await right.listHealthcareServices(unit)).slice(0, 1) }),
  ],
  [
    'lists slots in reverse order',
    'time-slots',
    'lists each slot once, ordered by start, resource and service',
    (right) => slots(right, (found) => found.toReversed()),
  ],
  [
    'lists slots twice',
    'time-slots',
    'lists each slot once, ordered by start, resource and service',
    (right) => slots(right, (found) => found.flatMap((slot) => [slot, slot])),
  ],
  [
    'lists slots partly outside the range',
    'time-slots',
    'lists only slots that lie wholly inside the range',
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
    'leaves out slots of another care unit',
    (right) => ({
      listTimeSlots: async (query) => [
        ...(await right.listTimeSlots(query)),
        ...(await right.listTimeSlots({ ...query, careUnit: other })),
      ],
    }),
  ],
  [
    'lists slots from a stale cache',
    'time-slots',
    'a booked slot is no longer free for any service',
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
    'ignores the filter `freeing`',
    'time-slots',
    'a slot of an appointment named in freeing counts as free',
    (right) => ({ listTimeSlots: ({ freeing: _, ...query }) => right.listTimeSlots(query) }),
  ],
  [
    'finds appointments of every care unit',
    'appointments-read',
    'an appointment of another care unit is not found',
    (right) => ({ findAppointments: (_, ids) => right.findAppointments(correct.careUnit, ids) }),
  ],
  [
    'ignores the state filter',
    'appointments-read',
    'filters appointments by state',
    (right) => ({ listAppointments: ({ states: _, ...query }) => right.listAppointments(query) }),
  ],
  [
    'ignores the patient filter',
    'appointments-read',
    'filters appointments by patient',
    (right) => ({ listAppointments: ({ patientId: _, ...query }) => right.listAppointments(query) }),
  ],
  [
    'lists appointments adjacent to the range',
    'appointments-read',
    'lists appointments that overlap the range',
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
    'reads times in another time zone',
    'appointments-read',
    'finds an appointment by id, exactly as it was created',
    (right) => reading(right, (it) => ({ ...it, start: new Date(it.start.getTime() + hour) })),
  ],
  [
    'drops comments',
    'create',
    'books the requested patient, resource, service, time and comment',
    (right) => changing(right, (it) => (it.kind === 'create' ? { ...it, comment: null } : it)),
  ],
  [
    'books the first of several slots',
    'create',
    'books several consecutive slots as one appointment',
    (right) =>
      changing(right, (it) => (it.kind === 'create' ? { ...it, end: new Date(it.start.getTime() + hour / 2) } : it)),
  ],
  [
    'returns the existing appointment for a booked time',
    'create',
    'rejects a time that is already booked',
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
    'throws the wrong error kind',
    'create',
    'rejects an unknown patient, resource or healthcare service',
    (right) => ({
      changeAppointments: (write) =>
        right.changeAppointments(write).catch((cause) => {
          throw new ConnectorError('rejected', 'The EHR rejected the write', { cause });
        }),
    }),
  ],
  [
    'drops the comment in a move',
    'update',
    'moves an appointment and frees its previous time',
    (right) => changing(right, (it) => (it.kind === 'update' && it.time ? { ...it, comment: null } : it)),
  ],
  [
    'applies part of a rejected update',
    'update',
    'rejects a move to a booked time and changes nothing',
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
    'does not clear comments',
    'update',
    'changes and clears only the comment',
    (right) =>
      changing(right, (it) => (it.kind === 'update' && it.comment === null ? { ...it, comment: undefined } : it)),
  ],
  [
    'updates appointments of another care unit',
    'update',
    'rejects an update of an appointment of another care unit',
    (right) => ({ changeAppointments: (write) => right.changeAppointments({ ...write, careUnit: correct.careUnit }) }),
  ],
  [
    'reports a cancellation that it did not make',
    'cancel',
    'cancels an appointment and frees its time',
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
    'rejects cancelling a cancelled appointment',
    'cancel',
    'cancelling a cancelled appointment changes nothing',
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
    'lists a held time as free',
    'holds',
    'a hold makes its time unavailable to others',
    (right) => ({
      listTimeSlots: async (query) => {
        const held = await right.listAppointments({ careUnit: query.careUnit, states: ['held'], limit: 100 });
        return right.listTimeSlots({ ...query, freeing: held.map(({ id }) => id) });
      },
    }),
  ],
  [
    'shows an expired hold as held',
    'holds',
    'an expired hold frees its time slot',
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
    'rejects updating a hold, and extending or releasing a booking',
    (right) => changing(right, (it) => (it.kind === 'release' ? { ...it, kind: 'cancel' } : it)),
  ],
  [
    'makes several changes without a transaction',
    'transactions',
    'one failed change undoes all changes',
    (right) => ({ changeAppointments: (write) => inSeparateWrites(right, write) }),
  ],
  [
    'frees the time of a cancellation only for later changes',
    'transactions',
    'a cancellation frees its time for other changes in the same write',
    (right) => ({ changeAppointments: (write) => inSeparateWrites(right, write) }),
  ],
  [
    'returns appointments in reverse order',
    'transactions',
    'makes several changes and returns the appointments in their order',
    (right) => ({ changeAppointments: async (write) => (await right.changeAppointments(write)).toReversed() }),
  ],
  [
    'ignores operation ids',
    'operation-ids',
    'repeating a booking with the same operation id books once',
    (right) => ({
      changeAppointments: (write) => right.changeAppointments({ ...write, operationId: randomUUID() }),
    }),
  ],
  [
    'finds no appointments for an operation id',
    'operation-ids',
    'an operation id finds the appointments of its write',
    () => ({ findOperation: async () => [] }),
  ],
  [
    'keeps operation ids in memory',
    'operation-ids',
    'a write interrupted by a crash can be looked up and retried once',
    (right) => {
      const done = new Map<string, readonly Appointment[]>();
      return {
        findOperation: async (_, id) => done.get(id) ?? null,
        changeAppointments: async (write) => {
          const before = done.get(write.operationId);
          const result = before ?? (await right.changeAppointments({ ...write, operationId: randomUUID() }));
          done.set(write.operationId, result);
          return result;
        },
      };
    },
  ],
  [
    'throws `rejected` for a lost race',
    'races',
    'twenty concurrent bookings of one slot: exactly one succeeds',
    (right) => ({
      changeAppointments: (write) =>
        right.changeAppointments(write).catch(() => {
          throw new ConnectorError('rejected', 'The EHR rejected the write');
        }),
    }),
  ],
  [
    'uses the summer offset all year',
    'clock-changes',
    'lists every slot around a clock change once, at the right instant',
    (right) => {
      const changes = correct.clockChanges ?? [];
      const moved = ({ start, end, ...slot }: TimeSlot) => {
        const near = changes.some(({ at }) => start >= at && start.getTime() < at.getTime() + 60 * hour);
        const by = near ? hour : 0;
        return { ...slot, start: new Date(start.getTime() + by), end: new Date(end.getTime() + by) };
      };
      return slots(right, (found) => found.map(moved));
    },
  ],
  [
    'starts every page at the first entry',
    'paging',
    'lists each time slot once for any page size',
    (right) => ({ listTimeSlots: ({ after: _, ...query }) => right.listTimeSlots(query) }),
  ],
  [
    'repeats the last entry of a page',
    'paging',
    'lists each appointment once, ordered by start and id',
    (right) => ({
      listAppointments: ({ after, ...query }) =>
        right.listAppointments({ ...query, after: after && { start: after.start, id: '' } }),
    }),
  ],
  [
    'returns an empty page if the last entry of the previous page is gone',
    'paging',
    'continues after a slot that was booked between pages',
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
    'reads appointments from a stale cache',
    'concurrent-edits',
    'a cancellation in the EHR is visible and is kept',
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
    'overwrites the comment with a stale one',
    'concurrent-edits',
    'a move keeps a comment written in the EHR',
    (right) => changing(right, (it) => (it.kind === 'update' ? { ...it, comment: it.comment ?? 'first' } : it)),
  ],
  [
    'books instead of holding',
    'unclaimed',
    'rejects a hold if holds are not claimed',
    (right) => ({
      capabilities: { ...right.capabilities, changes: ['create', 'cancel'] },
      ...changing(right, (it) => (it.kind === 'create' ? { ...it, holdUntil: null } : it)),
    }),
  ],
  [
    'makes changes that it does not claim',
    'unclaimed',
    'rejects changes that are not claimed',
    (right) => ({ capabilities: { ...right.capabilities, changes: ['create', 'cancel'] } }),
  ],
  [
    'claims only some of the changes for holds',
    'unclaimed',
    'capabilities are consistent',
    (right) => ({ capabilities: { ...right.capabilities, changes: ['create', 'confirm'] } }),
  ],
  [
    'claims no transactions and makes part of a write of several changes',
    'unclaimed',
    'rejects more changes per write than claimed and changes nothing',
    (right) => ({
      capabilities: { ...right.capabilities, transactions: false },
      changeAppointments: (write) => inSeparateWrites(right, write),
    }),
  ],
  [
    'makes part of a write that exceeds its transaction limit',
    'unclaimed',
    'rejects more changes per write than claimed and changes nothing',
    (right) => ({
      capabilities: { ...right.capabilities, changesPerTransaction: 3 },
      changeAppointments: (write) =>
        write.changes.length > 3 ? inSeparateWrites(right, write) : right.changeAppointments(write),
    }),
  ],
  [
    'claims a transaction limit without transactions',
    'unclaimed',
    'capabilities are consistent',
    (right) => ({ capabilities: { ...right.capabilities, transactions: false, changesPerTransaction: 10 } }),
  ],
];

function window() {
  return { start: new Date(Date.now() + 20 * hour), end: new Date(Date.now() + 80 * 24 * hour) };
}

describe('the kit catches a connector that', () => {
  test.each([...variants, ...scheduleVariants(correct.careUnit, other)])(
    '%s',
    async (_, capability, check, defects) => {
      const result = await outcomeOf(withDefects(correct, defects), capability, check);
      expect(result).toMatchObject({ outcome: 'failed', reason: expect.any(String) });
    },
  );

  test.each([
    ['create', 'rejects a time that is already booked'],
    ['create', 'rejects a time that overlaps a booked one'],
    ['races', 'twenty concurrent bookings of one slot: exactly one succeeds'],
    ['races', 'concurrent bookings of overlapping times never share a slot'],
    ['races', 'concurrent moves and bookings of one slot: exactly one succeeds'],
  ])('books one time twice (%s: %s)', async (capability, check) => {
    const subject = await sandboxSubject('without a constraint', withoutConstraint.database.pool);
    const { outcome, reason } = await outcomeOf(subject, capability, check);
    expect([outcome, reason]).toEqual(['failed', expect.not.stringMatching(/^The connector threw/)]);
  });

  test('does not report deletions', async () => {
    const directChanges: DirectChanges = {
      async delete({ id }) {
        const client = await database.pool.connect();
        await client.query('DELETE FROM sandbox.appointments WHERE id = $1', [id]).finally(() => client.release());
      },
    };
    const subject: Subject = Object.create(correct, { directChanges: { value: directChanges } });
    const check = 'returns an appointment that is deleted in the EHR, as cancelled';
    expect(await outcomeOf(subject, 'appointment-changes', check)).toMatchObject({ outcome: 'failed' });
  });

  test('throws an unexpected error, and reports its position', async () => {
    const subject = withDefects(correct, () => ({
      findPatient: async () => {
        throw new TypeError('a slip');
      },
    }));
    const { reason } = await outcomeOf(subject, 'patients', 'an unknown patient returns null');
    expect(reason).toMatch(/^The connector threw TypeError: a slip \(at .*broken\.chaos\.test\.ts:\d+:\d+\)/);
  });
});

test('the kit catches a gateway that returns a result for a missing operation', async () => {
  const { findOperation: _, ...rest } = correct.connector;
  const subject: Subject = Object.create(correct, {
    connector: { value: rest },
    callGateway: { value: async () => null },
  });
  const result = await outcomeOf(subject, 'unclaimed', 'missing operations are unsupported');
  expect(result).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('findOperation') });
});

describe('codes that an EHR sends', () => {
  const checks = capabilities.find(({ name }) => name === 'codes-by-ehr')?.checks ?? [];
  const pending = pendingCodes();

  test.each(checks.map(({ name }) => name))('a correct EHR passes: %s', async (name) => {
    const subject = withCodes(correct, pending);
    expect(await outcomeOf(subject, 'codes-by-ehr', name)).toMatchObject({ outcome: 'passed' });
  });

  test.each([
    ['accepts any code', 'rejects an incorrect code and decrements the remaining attempts', { acceptsAnyCode: true }],
    ['accepts a previous code', 'resending a code invalidates the previous one', { acceptsPreviousCodes: true }],
    ['does not hold the time', 'holds the time until the code is confirmed, then books it', { doesNotHold: true }],
    [
      'cancels without a code',
      'an appointment stays booked until its cancellation is confirmed',
      { cancelsWithoutCode: true },
    ],
  ])('the kit catches an EHR that %s', async (_, name, fault) => {
    const subject = withCodes(correct, pending, fault);
    expect(await outcomeOf(subject, 'codes-by-ehr', name)).toMatchObject({ outcome: 'failed' });
  });
});
