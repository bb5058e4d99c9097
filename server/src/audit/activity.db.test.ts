import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { listActivity, recordActivity } from '../console/audit/activity.ts';
import { createDb } from '../db/kysely.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { prepareAuditKey, readAuditKeys } from './audit-keys.ts';
import { deleteOldActivity } from './old-activity.ts';
import { newTrail, tamper } from './test-audit.ts';
import { verifyChains, verifyUnlinked } from './verify.ts';

const { database, dispose } = await createTestDatabase();
afterAll(() => dispose());
const db = createDb(database);
const ring = createKeyRing([randomBytes(32)]);
const key = await prepareAuditKey(db, ring);
const keys = await readAuditKeys(db, ring);

beforeEach(() =>
  tamper(db, async (tx) => {
    await sql`TRUNCATE operator_activity, audit_chains RESTART IDENTITY`.execute(tx);
  }),
);

const act = (target: string) =>
  recordActivity(db, { operator: 'kari', action: 'client_revoke', target, outcome: 'done' });

async function verdicts() {
  const found: unknown[] = [];
  for await (const { subject, fault, position, entries } of verifyChains(db, keys)) {
    found.push([subject, fault, position, entries]);
  }
  return found;
}

/** Seven actions, linked by a gateway that has stopped. */
async function linked(): Promise<void> {
  const trail = newTrail(db, key);
  for (const target of 'abcdefg') await act(target);
  await trail.close();
}

describe('what operators did', () => {
  test('is linked into a chain, also by several gateways, and stays in the list', async () => {
    const trails = [newTrail(db, key), newTrail(db, key)];
    for (const target of 'abc') await act(target);
    expect(await verifyUnlinked(db, keys)).toMatchObject({ activity: 3 });
    for (const trail of trails) await trail.linkActivity();
    await act('d');
    for (const trail of trails.toReversed()) await trail.linkActivity();
    expect(await verdicts()).toEqual([
      ['activity', null, null, 3],
      ['activity', null, null, 1],
    ]);
    expect(await verifyUnlinked(db, keys)).toMatchObject({ activity: 0 });
    expect((await listActivity(db, 9)).map(({ target }) => target)).toEqual(['d', 'c', 'b', 'a']);
  });

  test('can then be neither changed nor removed', async () => {
    await linked();
    for (const change of [
      sql`UPDATE operator_activity SET outcome = 'rejected' WHERE target = 'b'`,
      sql`DELETE FROM operator_activity WHERE target = 'b'`,
      sql`TRUNCATE operator_activity`,
    ]) {
      await expect(change.execute(db)).rejects.toThrow('append-only');
    }
  });

  test.each([
    ['changed', sql`UPDATE operator_activity SET operator_name = 'ola' WHERE target = 'c'`, 'changed', 3],
    [
      'whose time was changed',
      sql`UPDATE operator_activity SET at = at + interval '1 microsecond' WHERE target = 'c'`,
      'changed',
      3,
    ],
    ['removed', sql`DELETE FROM operator_activity WHERE target = 'c'`, 'missing', 3],
    ['removed at the end', sql`DELETE FROM operator_activity WHERE target >= 'f'`, 'cut_off', 6],
    ['removed completely', sql`DELETE FROM operator_activity`, 'cut_off', 1],
  ])('and that it was %s shows', async (_, change, fault, position) => {
    await linked();
    await tamper(db, (tx) => change.execute(tx));
    expect(await verdicts()).toEqual([['activity', fault, position, position - 1]]);
  });

  test('is linked for a sign-in when its outcome is certain', async () => {
    await recordActivity(db, { operator: 'kari', action: 'sign_in', outcome: 'rejected' });
    const trail = newTrail(db, key);
    await trail.linkActivity();
    expect(await verdicts()).toEqual([]);
    await sql`UPDATE operator_activity SET outcome = 'done', at = at - interval '61 seconds'`.execute(db);
    await trail.linkActivity();
    expect(await verdicts()).toEqual([['activity', null, null, 1]]);
  });

  test('is deleted after 400 days from the beginning of a chain, and the rest still verifies', async () => {
    for (const target of 'abcdefg') await act(target);
    await sql`UPDATE operator_activity SET at = now() - interval '401 days' WHERE target <= 'e'`.execute(db);
    await newTrail(db, key).close();
    const deleteThree = () => deleteOldActivity(db, ring, 3);
    expect([await deleteThree(), await deleteThree(), await deleteThree()]).toEqual([true, false, false]);
    expect((await listActivity(db, 9)).map(({ target }) => target)).toEqual(['g', 'f']);
    expect(await verdicts()).toEqual([['activity', null, null, 2]]);
  });
});
