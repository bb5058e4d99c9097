import { afterAll, describe, expect, test } from 'vitest';
import { sandboxSubject } from '../../../connectors/sandbox/test/conformance-subject.ts';
import { createTestDatabase } from '../../../test/database/database.ts';
import type { DirectChanges } from '../direct-changes.ts';
import { outcomeOf, withDefects } from './broken.test-support.ts';
import { appointmentReadVariants } from './broken-appointment-reads.test-support.ts';
import { claimVariants } from './broken-claims.test-support.ts';
import { readVariants } from './broken-reads.test-support.ts';
import { scheduleVariants } from './broken-schedules.test-support.ts';
import { writeVariants } from './broken-writes.test-support.ts';
import type { Subject } from './index.ts';

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

describe('the kit catches a connector that', () => {
  test.each([
    ...readVariants(correct),
    ...appointmentReadVariants(correct),
    ...writeVariants(correct),
    ...claimVariants,
    ...scheduleVariants(correct.careUnit, correct.otherCareUnit ?? correct.careUnit),
  ])('%s', async (_, capability, check, defects) => {
    const result = await outcomeOf(withDefects(correct, defects), capability, check);
    expect(result).toMatchObject({ outcome: 'failed', reason: expect.any(String) });
  });

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
