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
    'claims a transaction limit without transactions',
    'unclaimed',
    'capabilities are consistent',
    (right) => ({ capabilities: { ...right.capabilities, transactions: false, changesPerTransaction: 10 } }),
  ],
];
