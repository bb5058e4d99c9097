import { randomUUID } from 'node:crypto';
import { changing, inSeparateWrites, type Variant } from './broken.test-support.ts';

/** Connectors that do not do what their capabilities claim. Each with the check that must fail. */
export const claimVariants: readonly Variant[] = [
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
    'rebooks without cancelling',
    'unclaimed',
    'capabilities are consistent',
    (right) => ({ capabilities: { ...right.capabilities, changes: ['create'], rebooks: true } }),
  ],
  [
    'moves to a new id, and books anew',
    'unclaimed',
    'capabilities are consistent',
    (right) => ({ capabilities: { ...right.capabilities, movesToNewId: true, rebooks: true } }),
  ],
  [
    'moves to a new id, and keeps the id',
    'update',
    'a move gives the appointment a new id, and cancels the former one',
    (right) => ({ capabilities: { ...right.capabilities, movesToNewId: true } }),
  ],
  [
    'moves to a new id, and leaves the former appointment booked',
    'update',
    'a move gives the appointment a new id, and cancels the former one',
    (right) => ({
      capabilities: { ...right.capabilities, movesToNewId: true },
      async changeAppointments(write) {
        const [first] = write.changes;
        if (first?.kind !== 'update' || !first.time) return right.changeAppointments(write);
        const [before] = await right.findAppointments(write.careUnit, [first.appointmentId]);
        if (before?.resourceId == null || before.healthcareServiceId === null) return [];
        const { patientId, resourceId, healthcareServiceId } = before;
        const booking = { patientId, resourceId, healthcareServiceId, ...first.time, comment: first.comment ?? null };
        return right.changeAppointments({ ...write, changes: [{ kind: 'create', ...booking, holdUntil: null }] });
      },
    }),
  ],
  [
    'rebooks, and moves an appointment as well',
    'update',
    'rejects a new time or resource if appointments are rebooked, and changes nothing',
    (right) => ({ capabilities: { ...right.capabilities, rebooks: true } }),
  ],
  [
    'rebooks, and cancels the former appointment itself',
    'cancel',
    'a patient can have the new appointment and the former one until that is cancelled',
    (right) => ({
      capabilities: { ...right.capabilities, rebooks: true },
      async changeAppointments(write) {
        const [first] = write.changes;
        if (first?.kind !== 'create') return right.changeAppointments(write);
        const { patientId, resourceId } = first;
        const range = { start: new Date(first.start.getTime() - 24 * 60 * 60 * 1000), end: first.start };
        const { careUnit } = write;
        const states = ['booked'] as const;
        const earlier = await right.listAppointments({ careUnit, patientId, resourceId, range, states, limit: 500 });
        const changes = earlier.map(({ id }) => ({ kind: 'cancel', appointmentId: id }) as const);
        if (changes.length > 0) await right.changeAppointments({ careUnit, operationId: randomUUID(), changes });
        return right.changeAppointments(write);
      },
    }),
  ],
  [
    'lists the appointments of all patients, although it claims to list those of one only',
    'appointments-read',
    'rejects a list of no patient if appointments are listed by patient only',
    (right) => ({ capabilities: { ...right.capabilities, appointmentsByPatient: 'required' } }),
  ],
  ...[0, 0.5, 2001].map(
    (commentLength): Variant => [
      `takes comments of up to ${commentLength} characters`,
      'unclaimed',
      'capabilities are consistent',
      (right) => ({ capabilities: { ...right.capabilities, commentLength } }),
    ],
  ),
  [
    'cuts comments off, and claims that it takes long ones',
    'create',
    'keeps comments of the greatest length',
    (right) => ({
      capabilities: { ...right.capabilities, commentLength: 500 },
      ...changing(right, (it) => ('comment' in it && it.comment ? { ...it, comment: it.comment.slice(0, 499) } : it)),
    }),
  ],
  [
    'cuts off the long comment of an update',
    'create',
    'keeps comments of the greatest length',
    (right) =>
      changing(right, (it) =>
        it.kind === 'update' && it.comment ? { ...it, comment: it.comment.slice(0, 1999) } : it,
      ),
  ],
  [
    'claims a transaction limit without transactions',
    'unclaimed',
    'capabilities are consistent',
    (right) => ({ capabilities: { ...right.capabilities, transactions: false, changesPerTransaction: 10 } }),
  ],
];
