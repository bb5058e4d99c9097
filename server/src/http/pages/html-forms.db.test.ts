import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { sodermalm } from '../../../../test/requests/bookings.ts';
import { careUnitOf, eventually, rowsOf } from '../../../../test/requests/codes.ts';
import { consoleBrowser, newOperator, withConsole } from '../../../../test/requests/console.ts';
import { bookWithPage, browserOf, withPages } from '../../../../test/requests/patient-page.ts';
import { suspendedFor } from '../../time/test-suspension.ts';

/** Every statement of a request gets the least time. */
vi.mock(import('../../db/time-limit.ts'), async (original) => ({
  ...(await original()),
  newDatabaseTime: () => ({ milliseconds: 0 }),
}));

const gateway = await startGateway({
  databaseKind: 'postgresql',
  configure: (configuration) => withConsole(withPages(configuration)),
});
afterAll(() => gateway.close());
const sweden = careUnitOf(gateway, sodermalm);
const operator = await newOperator(gateway, 'kari', 'view');

/** The machine was suspended, and the gateway reads what has arrived meanwhile. */
async function afterSuspension<Result>(work: () => Promise<Result>): Promise<Result> {
  const { restore } = await suspendedFor(60);
  try {
    return await work();
  } finally {
    restore();
  }
}

test('a page waits for the database as long as a request may', async () => {
  const { path } = await bookWithPage(gateway);
  const client = await gateway.database.pool.connect();
  await client.query('BEGIN');
  onTestFinished(async () => {
    await client.query('ROLLBACK');
    client.release();
  });
  await client.query('SET LOCAL idle_in_transaction_session_timeout = 0');
  await client.query('LOCK TABLE confirmations, operators, operator_sessions IN ACCESS EXCLUSIVE MODE');
  expect((await browserOf(gateway).open(path)).status).toBe(503);
  const browser = consoleBrowser(gateway);
  browser.cookies.set('__Host-crossward-console', 'a-token');
  expect((await browser.open('/console')).status).toBe(503);
});

test('a code on the page for patients that lay unread while the gateway stood still does nothing', async () => {
  const browser = browserOf(gateway);
  const { appointment, path, code } = await bookWithPage(gateway);
  const response = await afterSuspension(() => browser.post(path, { action: 'confirm', code }));
  expect(response).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  expect((await sweden.get(appointment.id)).status).toBe('awaiting_confirmation');
  await eventually(async () => expect((await browser.post(path, { action: 'confirm', code })).status).toBe(303));
  expect((await sweden.get(appointment.id)).status).toBe('booked');
});

test('a form of the console that lay unread while the gateway stood still does nothing', async () => {
  const browser = consoleBrowser(gateway);
  const page = await afterSuspension(() => browser.signIn(operator));
  expect(page).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  expect(page.text).toContain('Nothing was changed.');
  expect(await rowsOf(gateway, "SELECT FROM operator_activity WHERE action = 'sign_in'")).toEqual([]);
});
