import { afterEach, beforeEach, expect, test } from 'vitest';
import { Problem } from '../problems/problem.ts';
import { type Notes, startNotes } from './test-notes.ts';

/* Idempotency keys work for any kind of write. */

let it: Notes;
beforeEach(async () => {
  it = await startNotes();
});
afterEach(() => it.close());

const problem = (reason: string, status: number) => ({ reason, status });

test('a repeated request gets the stored response and writes nothing', async () => {
  const first = await it.write('Well.', { key: 'a' });
  expect(first).toMatchObject({ status: 201, body: { id: 'note-1', text: 'Well.' } });
  expect(await it.write('Well.', { key: 'a' })).toEqual({
    ...first,
    headers: { ...first.headers, 'idempotency-replayed': 'true' },
  });
  expect(it.ehr.writes).toHaveLength(1);
  expect(await it.rows()).toEqual([{ state: 'done', isPlanned: false, hasResponse: true, isLeased: false }]);
});

test('without a key nothing is stored', async () => {
  await it.write('Well.');
  await it.write('Well.');
  expect(it.ehr.notes.size).toBe(2);
  expect(await it.rows()).toEqual([]);
});

test('a final problem is stored', async () => {
  it.ehr.fates.push(() => Promise.reject(new Problem('patient_not_found')));
  await expect(it.write('Well.', { key: 'a' })).rejects.toMatchObject(problem('patient_not_found', 404));
  const again = it.write('Well.', { key: 'a' });
  await expect(again).rejects.toMatchObject({
    ...problem('patient_not_found', 404),
    headers: { 'idempotency-replayed': 'true' },
    requestId: 'request',
  });
  expect(it.ehr.writes).toHaveLength(1);
});

test.each(['ehr_rejected', 'ehr_unavailable'] as const)('%s is not stored: the retry writes', async (reason) => {
  it.ehr.fates.push(() => Promise.reject(new Problem(reason)));
  await expect(it.write('Well.', { key: 'a' })).rejects.toMatchObject({ reason });
  expect(await it.rows()).toEqual([{ state: 'pending', isPlanned: false, hasResponse: false, isLeased: false }]);
  expect(await it.write('Well.', { key: 'a' })).toMatchObject({ status: 201 });
  expect(it.ehr.notes.size).toBe(1);
});

test.each([
  ['the EHR', (notes: Notes) => notes.ehr.fates.push(() => Promise.reject(new Problem('patient_limit_reached')))],
  ['the gateway', () => undefined],
] as const)('a request that %s rejects because of a limit leaves no operation', async (who, prepare) => {
  prepare(it);
  const decide = async () => (who === 'the gateway' ? new Problem('patient_limit_reached') : undefined);
  const rejected = it.write('Well.', { key: 'a', decide });
  await expect(rejected).rejects.toMatchObject(problem('patient_limit_reached', 429));
  expect(await it.rows()).toEqual([]);
  expect(await it.write('Ill.', { key: 'a' })).toMatchObject({ status: 201, body: { text: 'Ill.' } });
});

test('a retry of a caller who is gone does not perform what an earlier request left', async () => {
  it.ehr.fates.push(() => Promise.reject(new Problem('outcome_unknown')));
  await expect(it.write('Well.', { key: 'a' })).rejects.toMatchObject({ reason: 'outcome_unknown' });
  const begin = () => Promise.reject(new Problem('overloaded'));
  await expect(it.write('Well.', { key: 'a', begin })).rejects.toMatchObject({ reason: 'overloaded' });
  expect(it.ehr.notes.size).toBe(0);
  expect(await it.rows()).toMatchObject([{ state: 'pending', isPlanned: true, isLeased: false }]);
  expect(await it.write('Well.', { key: 'a' })).toMatchObject({ status: 201 });
  expect(it.ehr.notes.size).toBe(1);
});

test('a key cannot be reused for another request', async () => {
  await it.write('Well.', { key: 'a' });
  await expect(it.write('Ill.', { key: 'a' })).rejects.toMatchObject(problem('idempotency_key_reused', 422));
  expect(it.ehr.notes.size).toBe(1);
});

test('while the first request is in progress, a repeated one gets idempotency_in_progress and a different one idempotency_key_reused', async () => {
  const gate = Promise.withResolvers<void>();
  const called = Promise.withResolvers<void>();
  it.ehr.fates.push(async (write) => {
    called.resolve();
    await gate.promise;
    return write();
  });
  const first = it.write('Well.', { key: 'a' });
  await called.promise;
  await expect(it.write('Well.', { key: 'a' })).rejects.toMatchObject({
    ...problem('idempotency_in_progress', 409),
    headers: { 'retry-after': '1' },
  });
  await expect(it.write('Ill.', { key: 'a' })).rejects.toMatchObject(problem('idempotency_key_reused', 422));
  gate.resolve();
  expect(await first).toMatchObject({ status: 201 });
  expect(it.ehr.writes).toHaveLength(1);
});

test('after an unexpected error the retry calls the EHR with the same id', async () => {
  it.ehr.fates.push(async (write) => {
    write();
    throw new TypeError('a bug');
  });
  await expect(it.write('Well.', { key: 'a' })).rejects.toMatchObject({ reason: 'outcome_unknown' });
  expect(await it.write('Well.', { key: 'a' })).toMatchObject({ status: 201 });
  expect(new Set(it.ehr.writes).size).toBe(1);
  expect(it.ehr.notes.size).toBe(1);
});
