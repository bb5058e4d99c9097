import { type Finding, finding } from './findings.ts';
import type { Kind, Snapshot, Write } from './history.ts';

const deletions: readonly Kind[] = ['endpoint deletion', 'operator: endpoint deletion'];
/** Kinds that make a record with the name of their subject. */
const ofRecords: readonly Kind[] = [
  'note',
  'document',
  'schedule',
  'schedule exception',
  'schedule end',
  'endpoint',
  'endpoint rotation',
  'endpoint test',
  'operator: endpoint',
  'operator: endpoint rotation',
  'operator: endpoint test',
  'operator: client',
  'operator: client rotation',
  'operator: drop',
];
const replays: readonly Kind[] = ['endpoint replay', 'operator: endpoint replay'];
/** What the console records of each action. */
const actions: Partial<Record<Kind, string>> = {
  'operator: endpoint': 'webhook_create',
  'operator: endpoint rotation': 'webhook_secret_rotate',
  'operator: endpoint test': 'webhook_test',
  'operator: endpoint replay': 'webhook_replay',
  'operator: endpoint deletion': 'webhook_delete',
  'operator: client': 'client_create',
  'operator: client rotation': 'client_rotate',
  'operator: drop': 'operation_drop',
};

/** Compares what was made beside appointments: each once, unless it was deleted, and with the secret that was told. */
export function checkRecords(writes: readonly Write[], snapshot: Snapshot): Finding[] {
  const deleted = new Set(
    writes.filter(({ kind, told }) => deletions.includes(kind) && told !== 'rejected').flatMap(({ ids }) => ids),
  );
  const isDeleted = ({ ids }: Write) => ids.some((id) => deleted.has(id));
  return [
    ...writes
      .filter(({ kind }) => ofRecords.includes(kind))
      .flatMap((write) => checkMade(write, snapshot, isDeleted(write))),
    ...writes.filter(({ kind }) => deletions.includes(kind)).flatMap((write) => checkDeleted(write, snapshot)),
    ...writes.filter((write) => !isDeleted(write)).flatMap((write) => checkSecret(write, snapshot)),
    ...writes.flatMap((write) => checkActivity(write, snapshot)),
    ...writes.filter(({ kind }) => replays.includes(kind)).flatMap((write) => checkReplay(write, snapshot)),
  ];
}

function checkMade(write: Write, { records }: Snapshot, isDeleted: boolean): Finding[] {
  const { length } = records.filter(({ name }) => name === write.subjects[0]);
  const text = `${length} exist${length === 1 ? 's' : ''}`;
  if (length > 1) return [finding('doubled', write, text)];
  if (write.told === 'done' && length === 0 && !isDeleted) return [finding('lost', write, text)];
  return write.told === 'rejected' && length > 0 ? [finding('told wrongly', write, text)] : [];
}

function checkDeleted(write: Write, { records }: Snapshot): Finding[] {
  const isThere = records.some(({ id }) => write.ids.includes(id));
  if (write.told === 'done' && isThere) return [finding('lost', write, 'it exists')];
  return write.told === 'rejected' && !isThere ? [finding('told wrongly', write, 'it does not exist')] : [];
}

function checkSecret(write: Write, { secrets }: Snapshot): Finding[] {
  const { secretHash, ids } = write;
  if (secretHash === undefined) return [];
  const isValid = secrets.some(({ id, hashes }) => ids.includes(id) && hashes.includes(secretHash));
  return isValid ? [] : [finding('lost', write, 'its secret is not valid')];
}

/** Each action of an operator is in the activity list once. */
function checkActivity(write: Write, { activity }: Snapshot): Finding[] {
  const expected = actions[write.kind];
  if (expected === undefined) return [];
  const { length } = activity.filter(
    ({ action, target }) => action === expected && target !== null && write.ids.includes(target),
  );
  if (length > 1) return [finding('doubled', write, `${expected} is recorded ${length} times`)];
  if (write.told === 'done' && length === 0) return [finding('without audit entry', write, `no ${expected}`)];
  return write.told === 'rejected' && length > 0 ? [finding('told wrongly', write, `${expected} is recorded`)] : [];
}

/** An endpoint whose events were replayed from the beginning has got all. */
function checkReplay(write: Write, { events, deliveries }: Snapshot): Finding[] {
  if (write.told !== 'done') return [];
  const received = new Set(
    deliveries.filter(({ endpoint }) => write.subjects.includes(endpoint)).flatMap(({ eventIds }) => eventIds),
  );
  const missing = events.filter(({ id }) => !received.has(id));
  return missing.length > 0 ? [finding('without delivery', write, `${missing.length} events were not replayed`)] : [];
}
