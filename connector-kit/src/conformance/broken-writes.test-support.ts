import { randomUUID } from 'node:crypto';
import { ConnectorError } from '../errors.ts';
import type { Appointment } from '../records.ts';
import { changing, inSeparateWrites, reading, type Variant } from './broken.test-support.ts';
import type { Subject } from './index.ts';

const hour = 60 * 60 * 1000;

const long = (id: string) => `${id}_${'x'.repeat(64)}`;
const short = (id: string) => id.split('_')[0] ?? '';

/** Connectors that are wrong about writes to appointments. Each with the check that must fail. */
export function writeVariants(correct: Subject): readonly Variant[] {
  return [
    [
      'drops comments',
      'create',
      'books the requested patient, resource, service, time and comment',
      (right) => changing(right, (it) => (it.kind === 'create' ? { ...it, comment: null } : it)),
    ],
    [
      'gives appointments ids that FHIR cannot name, and does not claim it',
      'create',
      'books the requested patient, resource, service, time and comment',
      (right) => ({
        changeAppointments: async (write) =>
          (await right.changeAppointments(write)).map((it) => ({ ...it, id: long(it.id) })),
        findAppointments: async (careUnit, ids) =>
          (await right.findAppointments(careUnit, ids.map(short))).map((it) => ({ ...it, id: long(it.id) })),
      }),
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
      (right) => ({
        changeAppointments: (write) => right.changeAppointments({ ...write, careUnit: correct.careUnit }),
      }),
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
  ];
}
