import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { leaseDue } from '../background/due-writes.ts';
import { LeaseLost } from '../db/write-lease.ts';
import { Problem } from '../problems/problem.ts';
import { recover } from '../writes/recover.ts';
import { openStored } from '../writes/stored-write.ts';
import { type Notes, startNotes } from './test-notes.ts';

/* A note is never lost after a 201, and never created twice under a key, whatever interrupts its write. */

let it: Notes;
beforeEach(async () => {
  it = await startNotes();
});
afterEach(() => it.close());

const unknown = { reason: 'outcome_unknown', status: 504 };

/** The response to the next write is lost, whether or not the EHR performs it. */
function loseResponse(isDone: boolean): void {
  it.ehr.fates.push(async (write) => {
    if (isDone) write();
    throw new Problem('outcome_unknown');
  });
}

/** Starts a write that hangs until the test lets the EHR perform it, as if the gateway had been killed. */
async function hang(key?: string) {
  const gate = Promise.withResolvers<void>();
  const called = Promise.withResolvers<void>();
  it.ehr.fates.push(async (write) => {
    called.resolve();
    await gate.promise;
    return write();
  });
  const response = it.write('Well.', { key });
  // The test handles a rejection later.
  response.catch(() => undefined);
  await called.promise;
  return { response, wakeUp: () => gate.resolve() };
}

describe('after a lost response', () => {
  test.each([true, false])('the retry finishes it (performed by the EHR: %s)', async (isDone) => {
    loseResponse(isDone);
    await expect(it.write('Well.', { key: 'a' })).rejects.toMatchObject(unknown);
    expect(await it.write('Well.', { key: 'a' })).toMatchObject({ status: 201, body: { id: 'note-1' } });
    expect(it.ehr.notes.size).toBe(1);
    expect(new Set(it.ehr.writes).size).toBe(1);
  });

  test('background recovery stores the response for the retry', async () => {
    loseResponse(true);
    await expect(it.write('Well.', { key: 'a' })).rejects.toMatchObject(unknown);
    expect(await it.round()).toBe(1);
    expect(await it.rows()).toEqual([{ state: 'done', isPlanned: false, hasResponse: true, isLeased: false }]);
    expect(await it.write('Well.', { key: 'a' })).toMatchObject({ headers: { 'idempotency-replayed': 'true' } });
    expect(it.ehr.writes).toHaveLength(1);
  });

  test('background recovery starts nothing new, since the caller may have given up', async () => {
    loseResponse(false);
    await expect(it.write('Well.')).rejects.toMatchObject(unknown);
    await it.round();
    expect(it.ehr.notes.size).toBe(0);
    expect(it.ehr.writes).toHaveLength(1);
  });

  test('a late effect is adopted, and the retry gets its response', async () => {
    let finish: (() => unknown) | undefined;
    it.ehr.fates.push(async (write) => {
      finish = write;
      throw new Problem('outcome_unknown');
    });
    await expect(it.write('Well.', { key: 'a' })).rejects.toMatchObject(unknown);
    await it.round();
    expect(await it.rows()).toMatchObject([{ state: 'done', isPlanned: true, hasResponse: false }]);
    finish?.();
    await it.expireLeases();
    await it.round();
    expect(await it.write('Well.', { key: 'a' })).toMatchObject({ headers: { 'idempotency-replayed': 'true' } });
    expect(it.ehr.notes.size).toBe(1);
  });

  test('a later retry finds the outcome after an outage of the EHR', async () => {
    loseResponse(true);
    await expect(it.write('Well.', { key: 'a' })).rejects.toMatchObject(unknown);
    it.ehr.fates.push(() => Promise.reject(new Problem('ehr_unavailable')));
    await expect(it.write('Well.', { key: 'a' })).rejects.toMatchObject(unknown);
    expect(await it.write('Well.', { key: 'a' })).toMatchObject({ status: 201 });
    expect(it.ehr.notes.size).toBe(1);
  });
});

describe('an EHR that stays unavailable', () => {
  test.each([true, false])('across a retry and background recovery (performed by the EHR: %s)', async (isDone) => {
    loseResponse(isDone);
    await expect(it.write('Well.', { key: 'a' })).rejects.toMatchObject(unknown);
    it.ehr.isUnavailable = true;
    await expect(it.write('Well.', { key: 'a' })).rejects.toMatchObject(unknown);
    await it.expireLeases();
    await it.round();
    expect(await it.rows()).toMatchObject([{ state: 'pending', isPlanned: true, hasResponse: false }]);
    it.ehr.isUnavailable = false;
    expect(await it.write('Well.', { key: 'a' })).toMatchObject({ status: 201, body: { text: 'Well.' } });
    expect(it.ehr.notes.size).toBe(1);
  });
});

describe('a note that the EHR creates after the caller got a rejection', () => {
  /** The first call gets no response, the second one is rejected, and then the EHR does the first one. */
  async function createLate(): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<() => unknown>();
    it.ehr.fates.push(
      async (write) => {
        resolve(write);
        throw new Problem('outcome_unknown');
      },
      () => Promise.reject(new Problem('patient_not_found')),
    );
    await expect(it.write('Well.', { key: 'a' })).rejects.toMatchObject(unknown);
    await expect(it.write('Well.', { key: 'a' })).rejects.toMatchObject({ reason: 'patient_not_found' });
    const finish = await promise;
    finish();
    const [id = ''] = it.ehr.notes.keys();
    return id;
  }

  test('is withdrawn', async () => {
    await createLate();
    await it.expireLeases();
    await it.round();
    expect(it.ehr.notes.size).toBe(0);
    await expect(it.write('Well.', { key: 'a' })).rejects.toMatchObject({ reason: 'patient_not_found' });
  });

  test('is kept if staff have changed it since', async () => {
    it.ehr.changed.add(await createLate());
    await it.expireLeases();
    await it.round();
    expect(it.accesses).toMatchObject([{ operation: 'medical_note', outcome: 'partially_applied' }]);
    expect(it.ehr.notes.size).toBe(1);
    expect(it.ehr.writes).toHaveLength(2);
  });
});

describe('after a crash', () => {
  test('the retry finishes it, and the first request gets outcome_unknown', async () => {
    const { response, wakeUp } = await hang('a');
    await it.expireLeases();
    const retry = await it.write('Well.', { key: 'a' });
    expect(retry).toMatchObject({ status: 201, body: { id: 'note-1' } });
    wakeUp();
    await expect(response).rejects.toMatchObject(unknown);
    expect(await it.write('Well.', { key: 'a' })).toMatchObject({ body: retry.body });
    expect(it.ehr.notes.size).toBe(1);
  });

  test('background recovery finishes it if it has a key', async () => {
    await hang('a');
    await it.expireLeases();
    expect(await it.round()).toBe(1);
    expect(it.ehr.notes.size).toBe(1);
    expect(new Set(it.ehr.writes).size).toBe(1);
    expect(await it.rows()).toMatchObject([{ state: 'done', hasResponse: true }]);
  });

  test('background recovery does not perform it without a key, since the caller may have asked again', async () => {
    await hang();
    await it.expireLeases();
    expect(await it.round()).toBe(1);
    expect(it.ehr.notes.size).toBe(0);
    expect(await it.rows()).toMatchObject([{ state: 'done', isPlanned: true }]);
  });

  test('during a compensation, background recovery withdraws it, and records the access', async () => {
    await hang();
    await sql`UPDATE operations SET state = 'compensating'`.execute(it.db);
    await it.expireLeases();
    await it.round();
    expect(it.accesses).toMatchObject([
      {
        actor: 'background',
        clientId: 'clinic',
        operation: 'medical_note',
        outcome: 'undone',
        patients: expect.anything(),
      },
    ]);
    expect(new Set(it.accesses[0]?.patients)).toEqual(new Set(['emr_id:p-1']));
  });

  test('if no plan was stored, the retry starts over', async () => {
    const { response } = await hang('a');
    await sql`UPDATE operations SET sealed_plan = NULL, kind = NULL, next_attempt_at = NULL`.execute(it.db);
    await it.expireLeases();
    expect(await it.round()).toBe(0);
    expect(await it.write('Well.', { key: 'a' })).toMatchObject({ status: 201 });
    void response;
  });
});

describe('a lease lost during the call to the EHR', () => {
  /** Gives the lease to another process. */
  async function takeOver(): Promise<void> {
    await sql`UPDATE operations SET lease_token = ${randomUUID()}, lease_expires_at = now() + interval '1 hour'`.execute(
      it.db,
    );
  }

  test.each([['a'], [undefined]])('gives outcome_unknown and stores nothing (key: %s)', async (key) => {
    const { response, wakeUp } = await hang(key);
    await takeOver();
    wakeUp();
    await expect(response).rejects.toMatchObject(unknown);
    expect(await it.rows()).toEqual([{ state: 'pending', isPlanned: true, hasResponse: false, isLeased: true }]);
  });

  test('gives outcome_unknown even if the EHR rejected the write', async () => {
    const gate = Promise.withResolvers<void>();
    const called = Promise.withResolvers<void>();
    it.ehr.fates.push(async () => {
      called.resolve();
      await gate.promise;
      throw new Problem('patient_not_found');
    });
    const response = it.write('Well.', { key: 'a' });
    await called.promise;
    await takeOver();
    gate.resolve();
    await expect(response).rejects.toMatchObject(unknown);
    expect(await it.rows()).toEqual([{ state: 'pending', isPlanned: true, hasResponse: false, isLeased: true }]);
  });

  test('prevents further calls to the EHR', async () => {
    await hang('a');
    await it.expireLeases();
    const token = randomUUID();
    const [row] = await leaseDue(it.db, { emr: 'notes', careUnits: ['ward'], token, leaseSeconds: 60, limit: 1 });
    if (!row) throw new Error('Nothing was due');
    await takeOver();
    const longAgo = performance.now() - 60_000;
    await expect(recover(it.services, openStored(it.services.keys, row), longAgo)).rejects.toThrow(LeaseLost);
    expect(it.ehr.writes).toHaveLength(1);
  });
});
