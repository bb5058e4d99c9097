/** @module-tag any-database */
import { afterAll, expect, test } from 'vitest';
import { type Gateway, type Problem, startGateway, type TestClient } from '../../../test/gateway/gateway.ts';
import { creationBody, freeSlots, sodermalm } from '../../../test/requests/bookings.ts';
import { rowsOf } from '../../../test/requests/codes.ts';

const budgets = { held_times: 3, sms_per_day: 5, emails_per_day: 0 };
const configure: NonNullable<Parameters<typeof startGateway>[0]>['configure'] = (it) => ({
  ...it,
  limits: { ...it.limits, ...budgets },
  clients: it.clients.map((client) =>
    client.id === 'appointments-write' ? { ...client, budgets: { held_times: 1 } } : client,
  ),
});
const first = await startGateway({ configure });
const second = await startGateway({ configure, beside: first });
const gateways = [first, second];
afterAll(async () => {
  await second.close();
  await first.close();
});

const slots = [...(await freeSlots(first, { careUnit: sodermalm }))];

/** Books a time with a code, each patient in turn. Returns what matters of the response. */
async function book(gateway: Gateway, patient: number, client: TestClient = 'everything', query = '') {
  const slot = slots.shift();
  if (!slot) throw new Error('No slot is left');
  const body = { ...creationBody(slot), patient_id: `p-${patient}` };
  const response = await gateway.request<Problem & { readonly id: string }>(
    'POST',
    `${sodermalm}/appointments${query}`,
    {
      body,
      client,
    },
  );
  const { status, body: got, headers } = response;
  return { status, reason: got.reason, id: got.id, detail: got.detail, retryAfter: Number(headers['retry-after']) };
}

test('a client holds no more times than its budget, at whatever gateway', async () => {
  const all = await Promise.all(
    Array.from({ length: 8 }, (_, index) => book(gateways[index % 2] ?? first, (index % 2) + 3)),
  );
  expect(all.filter(({ status }) => status === 201)).toHaveLength(3);
  const rejected = all.filter(({ status }) => status !== 201);
  for (const { status, reason, retryAfter, detail } of rejected) {
    expect([status, reason, detail]).toEqual([
      429,
      'client_limit_reached',
      'The client holds its maximum number of times: 3.',
    ]);
    expect(retryAfter).toBeGreaterThan(0);
    expect(retryAfter).toBeLessThanOrEqual(600);
  }
  expect(await book(first, 3, 'everything', '?dry_run=true')).toMatchObject({ reason: 'client_limit_reached' });
  // Another client has a budget of its own, and one of them a smaller one.
  expect((await book(second, 5, 'appointments:write')).status).toBe(201);
  expect(await book(second, 5, 'appointments:write')).toMatchObject({ reason: 'client_limit_reached' });
});

test('a client causes no more SMS in a day than its budget', async () => {
  // The codes of the first test have expired, and their messages still count.
  await rowsOf(first, "UPDATE confirmation_items SET state = 'expired'");
  const statuses: number[] = [];
  for (const patient of [3, 4, 6]) statuses.push((await book(first, patient)).status);
  expect(statuses).toEqual([201, 201, 429]);
  await rowsOf(first, "UPDATE confirmation_items SET state = 'expired'");
  const rejected = await book(second, 6);
  expect(rejected).toMatchObject({
    reason: 'client_limit_reached',
    detail: 'The client has sent its maximum number of SMS today (UTC): 5.',
  });
  expect(rejected.retryAfter).toBeLessThanOrEqual(86_400);
  await rowsOf(first, 'UPDATE client_messages SET day = day - 1');
  expect((await book(second, 6)).status).toBe(201);
});
