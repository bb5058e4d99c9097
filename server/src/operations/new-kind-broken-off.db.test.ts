import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Problem } from '../problems/problem.ts';
import { takeDue } from './due.ts';
import { LeaseLost } from './errors.ts';
import { recover } from './recover.ts';
import { openStored } from './stored-operation.ts';
import { type Notes, startNotes } from './test-notes.ts';

/* What is broken off is found out and finished, also where operations know nothing of the kind of write. */

let it: Notes;
beforeEach(async () => {
  it = await startNotes();
});
afterEach(() => it.close());

const unknown = { reason: 'outcome_unknown', status: 504 };

/** The next write is done or not, and its answer is lost. */
function loseAnswer(isDone: boolean): void {
  it.ehr.fates.push(async (write) => {
    if (isDone) write();
    throw new Problem('outcome_unknown');
  });
}

/** Begins to write. The EHR does it when the test says so: until then the process is as good as dead. */
async function hang(key?: string) {
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  it.ehr.fates.push(async (write) => {
    asked.resolve();
    await gate.promise;
    return write();
  });
  const answer = it.write('Well.', { key });
  // Whoever looks at the answer later looks at its failure, too.
  answer.catch(() => undefined);
  await asked.promise;
  return { answer, wakeUp: () => gate.resolve() };
}

describe('after a lost answer', () => {
  test.each([true, false])('the retry finishes it (the EHR had done it: %s)', async (isDone) => {
    loseAnswer(isDone);
    await expect(it.write('Well.', { key: 'a' })).rejects.toMatchObject(unknown);
    expect(await it.write('Well.', { key: 'a' })).toMatchObject({ status: 201, body: { id: 'note-1' } });
    expect(it.ehr.notes.size).toBe(1);
    expect(new Set(it.ehr.writes).size).toBe(1);
  });

  test('the background puts on record what the EHR has done, for the retry to be told', async () => {
    loseAnswer(true);
    await expect(it.write('Well.', { key: 'a' })).rejects.toMatchObject(unknown);
    expect(await it.round()).toBe(1);
    expect(await it.rows()).toEqual([{ state: 'done', isPlanned: false, isAnswered: true, isLeased: false }]);
    expect(await it.write('Well.', { key: 'a' })).toMatchObject({ headers: { 'idempotency-replayed': 'true' } });
    expect(it.ehr.writes).toHaveLength(1);
  });

  test('the background begins nothing new: the caller may have given up', async () => {
    loseAnswer(false);
    await expect(it.write('Well.')).rejects.toMatchObject(unknown);
    await it.round();
    expect(it.ehr.notes.size).toBe(0);
    expect(it.ehr.writes).toHaveLength(1);
  });

  test('what the EHR does late is adopted, for the retry to be told', async () => {
    let finish: (() => unknown) | undefined;
    it.ehr.fates.push(async (write) => {
      finish = write;
      throw new Problem('outcome_unknown');
    });
    await expect(it.write('Well.', { key: 'a' })).rejects.toMatchObject(unknown);
    await it.round();
    expect(await it.rows()).toMatchObject([{ state: 'done', isPlanned: true, isAnswered: false }]);
    finish?.();
    await it.leasesRunOut();
    await it.round();
    expect(await it.write('Well.', { key: 'a' })).toMatchObject({ headers: { 'idempotency-replayed': 'true' } });
    expect(it.ehr.notes.size).toBe(1);
  });

  test('an EHR that is away meanwhile keeps nobody from finding it out later', async () => {
    loseAnswer(true);
    await expect(it.write('Well.', { key: 'a' })).rejects.toMatchObject(unknown);
    it.ehr.fates.push(() => Promise.reject(new Problem('ehr_unavailable')));
    await expect(it.write('Well.', { key: 'a' })).rejects.toMatchObject(unknown);
    expect(await it.write('Well.', { key: 'a' })).toMatchObject({ status: 201 });
    expect(it.ehr.notes.size).toBe(1);
  });
});

describe('after a crash', () => {
  test('the retry finishes it, and whoever wakes up too late is told that the outcome is unknown', async () => {
    const { answer, wakeUp } = await hang('a');
    await it.leasesRunOut();
    const retry = await it.write('Well.', { key: 'a' });
    expect(retry).toMatchObject({ status: 201, body: { id: 'note-1' } });
    wakeUp();
    await expect(answer).rejects.toMatchObject(unknown);
    expect(await it.write('Well.', { key: 'a' })).toMatchObject({ body: retry.body });
    expect(it.ehr.notes.size).toBe(1);
  });

  test.each([['a'], [undefined]])('the background finishes it (key: %s)', async (key) => {
    await hang(key);
    await it.leasesRunOut();
    expect(await it.round()).toBe(1);
    expect(it.ehr.notes.size).toBe(1);
    expect(new Set(it.ehr.writes).size).toBe(1);
    expect(await it.rows()).toMatchObject(key === undefined ? [] : [{ state: 'done', isAnswered: true }]);
  });

  test('before anything was planned, the retry begins', async () => {
    const { answer } = await hang('a');
    await sql`UPDATE operations SET sealed_plan = NULL, kind = NULL, next_attempt_at = NULL`.execute(it.db);
    await it.leasesRunOut();
    expect(await it.round()).toBe(0);
    expect(await it.write('Well.', { key: 'a' })).toMatchObject({ status: 201 });
    void answer;
  });
});

describe('a lease that was lost while the EHR was asked', () => {
  /** Somebody else is at it now. */
  async function takeOver(): Promise<void> {
    await sql`UPDATE operations SET lease_token = ${randomUUID()}, lease_expires_at = now() + interval '1 hour'`.execute(
      it.db,
    );
  }

  test.each([['a'], [undefined]])('is told as an unknown outcome, and nothing is kept (key: %s)', async (key) => {
    const { answer, wakeUp } = await hang(key);
    await takeOver();
    wakeUp();
    await expect(answer).rejects.toMatchObject(unknown);
    expect(await it.rows()).toEqual([{ state: 'pending', isPlanned: true, isAnswered: false, isLeased: true }]);
  });

  test('even where the EHR has refused', async () => {
    const gate = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    it.ehr.fates.push(async () => {
      asked.resolve();
      await gate.promise;
      throw new Problem('patient_not_found');
    });
    const answer = it.write('Well.', { key: 'a' });
    await asked.promise;
    await takeOver();
    gate.resolve();
    await expect(answer).rejects.toMatchObject(unknown);
    expect(await it.rows()).toEqual([{ state: 'pending', isPlanned: true, isAnswered: false, isLeased: true }]);
  });

  test('keeps the EHR from being asked again by whoever has lost it', async () => {
    await hang('a');
    await it.leasesRunOut();
    const [row] = await takeDue(it.db, 'notes', 60, 1);
    if (!row) throw new Error('Nothing was due');
    await takeOver();
    const longAgo = performance.now() - 60_000;
    await expect(recover(it.services, openStored(it.services.keys, row.token, row), longAgo)).rejects.toThrow(
      LeaseLost,
    );
    expect(it.ehr.writes).toHaveLength(1);
  });
});
