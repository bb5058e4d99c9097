import { afterAll, afterEach, expect, test } from 'vitest';
import { faultyEhrs } from '../../../../test/ehrs/faulty-ehr.ts';
import { wrapConnector } from '../../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { calledWhileUnavailable, withQuickRecovery } from '../../../../test/gateway/recovery.ts';
import { book, sodermalm } from '../../../../test/requests/bookings.ts';
import { eventually, rowsOf } from '../../../../test/requests/codes.ts';

const ehrs = faultyEhrs();
const gateway = await startGateway({ connectors: [wrapConnector(ehrs.faulty)], configure: withQuickRecovery });
afterAll(() => gateway.close());
afterEach(ehrs.reset);

const emr = 'sandbox-se';
const ehr = ehrs.of(emr);

/** Expired holds that are not released yet. */
function left() {
  return rowsOf<{ readonly failures: number; readonly pause: number | null; readonly isSuspended: boolean }>(
    gateway,
    `SELECT consecutive_failures AS failures, extract(epoch FROM next_attempt_at - now())::float8 AS pause, suspended_at IS NOT NULL AS "isSuspended"
     FROM operations WHERE kind = 'expiry'`,
  );
}

/** Ends the pause before the next attempt. */
async function allowNextAttempt(): Promise<void> {
  await rowsOf(
    gateway,
    'UPDATE operations SET next_attempt_at = now() WHERE suspended_at IS NULL AND lease_expires_at IS NULL',
  );
}

/** Sets the number of failed attempts, and ends the pause before the next one. Has no effect after that one. */
async function skipTo(failures: number): Promise<void> {
  await rowsOf(
    gateway,
    `UPDATE operations SET next_attempt_at = now(), consecutive_failures = $1
     WHERE consecutive_failures <= $1 AND lease_expires_at IS NULL`,
    [failures],
  );
}

async function expireHolds(): Promise<void> {
  await rowsOf(gateway, 'UPDATE confirmations SET expires_at = now()');
}

async function held(): Promise<number> {
  return (await gateway.ehr(emr).appointments()).filter(({ state }) => state === 'held').length;
}

test('attempts back off during an outage of the EHR, and the holds are released after it', async () => {
  await book(gateway, { careUnit: sodermalm });
  ehr.goDown();
  await expireHolds();
  await calledWhileUnavailable(ehr, 2);
  await eventually(async () => {
    await skipTo(8);
    const [row] = await left();
    expect(row).toMatchObject({ failures: 9, isSuspended: false });
    // 256 seconds, if an outage of the EHR did not keep pauses at 30.
    expect(row?.pause).toBeGreaterThan(20);
    expect(row?.pause).toBeLessThanOrEqual(30);
  });
  ehr.comeUp();
  await allowNextAttempt();
  await eventually(async () => expect(await held()).toBe(0));
  await eventually(async () => expect(await left()).toEqual([]));
});

test('an operation is suspended when the EHR keeps rejecting the release', async () => {
  await book(gateway, { careUnit: sodermalm });
  ehr.failAlways('changeAppointments', 'rejected');
  await expireHolds();
  await eventually(async () => {
    await allowNextAttempt();
    expect(await left()).toEqual([{ failures: 5, pause: null, isSuspended: true }]);
  });
  await eventually(async () => {
    const { text } = await gateway.request('GET', '/metrics', { client: null });
    expect(text).toContain(`crossward_operations_suspended{emr="${emr}"} 1`);
  });
});
