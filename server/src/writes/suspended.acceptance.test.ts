/** @module-tag any-database */
import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { withQuickRecovery } from '../../../test/gateway/recovery.ts';
import { book, sodermalm } from '../../../test/requests/bookings.ts';
import { careUnitOf, codeFor, eventually, rowsOf } from '../../../test/requests/codes.ts';
import { expectProblem } from '../../../test/requests/problems.ts';

const gateway = await startGateway({ configure: (demo) => withQuickRecovery(demo) });
afterAll(() => gateway.close());

test('an operation whose result cannot be stored is suspended', async () => {
  const { confirm } = careUnitOf(gateway, sodermalm);
  const { id } = await book(gateway, { careUnit: sodermalm });
  const code = await codeFor(gateway, id);
  await rowsOf(
    gateway,
    `ALTER TABLE confirmation_items ADD CONSTRAINT never CHECK (appointment_id <> '${id}' OR state <> 'confirmed')`,
  );
  expectProblem(await confirm(id, code), 504, 'outcome_unknown');
  const suspended = 'SELECT consecutive_failures, last_failure FROM operations WHERE suspended_at IS NOT NULL';
  await eventually(async () => {
    // Ends the pauses between attempts at once.
    await rowsOf(
      gateway,
      'UPDATE operations SET next_attempt_at = now() WHERE next_attempt_at > now() AND lease_expires_at IS NULL',
    );
    expect(await rowsOf(gateway, suspended)).toEqual([{ consecutive_failures: 5, last_failure: 'internal_error' }]);
  });
});
