/** @module-tag any-database */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { eventually } from '../../../../test/requests/codes.ts';
import { browserWith, withConsole } from '../../../../test/requests/console.ts';
import { startReceiver, webhooksOf, withQuickWebhooks } from '../../../../test/requests/webhook-receiver.ts';
import { findEndpoint, insertEndpoint } from '../../webhooks/endpoint-store.ts';
import { makeSecret } from '../../webhooks/signing.ts';
import type { Role } from '../accounts/roles.ts';

const gateway = await startGateway({ configure: (it) => withConsole(withQuickWebhooks(it)), logLevel: 'trace' });
const receiver = await startReceiver();
afterAll(async () => {
  await gateway.close();
  await receiver.close();
});
const { db, keys } = gateway.deps.services;
const client = gateway.credentials('everything').id;

let operators = 0;
const signedIn = async (role: Role) => (await browserWith(gateway, `webhook-operator-${++operators}`, role)).browser;
const secretIn = (text: string) => /whsec_[A-Za-z0-9+/=]+/.exec(text)?.[0];

async function newEndpoint(url = receiver.url): Promise<string> {
  const made = { clientId: client, url, secret: makeSecret(), eventTypes: null };
  const endpoint = await db.transaction().execute((tx) => insertEndpoint(tx, keys, made, 1000));
  return endpoint?.id ?? '';
}

const activityAbout = async (id: string) =>
  (await db.selectFrom('operator_activity').selectAll().where('target', '=', id).orderBy('id').execute()).map(
    ({ action, outcome }) => `${action} ${outcome}`,
  );

test('an admin creates an endpoint, whose secret is shown once and which the client sees', async () => {
  const browser = await signedIn('admin');
  const url = `${receiver.url}?token=kanari-url-token`;
  const mistakes = [
    [{ client: 'nobody', url }, 'Client: Choose one of the list.'],
    [{ client: gateway.credentials('appointments:read').id, url }, 'Client: Choose one of the list.'],
    [{ client, url: 'nothing' }, 'URL: The text is not a URL.'],
    [{ client, url: '' }, 'URL: The text is not a URL.'],
    [{ client, url: 'https://a:b@example.org' }, 'URL: The URL must not contain a user name or a password.'],
    [{ client, url: `https://example.org/${'a'.repeat(2000)}` }, 'URL: The URL has more than 2000 characters.'],
  ] as const;
  for (const [fields, problem] of mistakes) {
    await browser.open('/console/new-webhook');
    const page = await browser.submit('/console/new-webhook', fields);
    expect([page.status, page.text]).toEqual([400, expect.stringContaining(`No endpoint was created. ${problem}`)]);
    expect(page.html).toContain('aria-invalid="true"');
  }
  await browser.open('/console/new-webhook');
  const created = await browser.submit('/console/new-webhook', { client, url, types: 'appointment.booked' });
  const secret = secretIn(created.html);
  const [, id = ''] = /<code>([0-9a-f-]{36})<\/code>/.exec(created.html) ?? [];
  expect(await findEndpoint(db, keys, client, id)).toMatchObject({ url, secret, eventTypes: ['appointment.booked'] });

  const page = await browser.open(`/console/webhooks/${id}`);
  expect(page.text).toContain(`Client ${client} Host ${new URL(url).host} Events appointment.booked`);
  const list = await browser.open('/console/webhooks');
  expect(list.text).toContain(`enabled ${id} ${client} ${new URL(url).host} 0 0 none`);
  for (const { html } of [page, list]) expect(html).not.toMatch(/whsec_|kanari-url-token/);
  expect((await webhooksOf(gateway).call('GET', `/${id}`)).status).toBe(200);
  expect(await activityAbout(id)).toEqual(['webhook_create done']);
});

test('a form that arrives again after its endpoint was deleted creates none', async () => {
  const browser = await signedIn('admin');
  const id = randomUUID();
  const send = async () => {
    await browser.open('/console/new-webhook');
    return browser.submit('/console/new-webhook', { id, client, url: receiver.url });
  };
  expect(secretIn((await send()).html)).toBeDefined();
  expect((await webhooksOf(gateway).call('DELETE', `/${id}`)).status).toBe(204);
  expect((await send()).path).toBe(`/console/webhooks/${id}?result=sent_before`);
  expect((await webhooksOf(gateway).call('GET', `/${id}`)).status).toBe(404);
});

test('a form that is sent twice creates one endpoint, and rotates its secret once', async () => {
  const browser = await signedIn('admin');
  const id = randomUUID();
  await browser.open('/console/new-webhook');
  expect(
    secretIn((await browser.submit('/console/new-webhook', { id, client, url: receiver.url })).html),
  ).toBeDefined();
  await browser.open('/console/new-webhook');
  const again = await browser.submit('/console/new-webhook', { id, client, url: receiver.url });
  expect([again.path, again.text]).toEqual([
    `/console/webhooks/${id}?result=sent_before`,
    expect.stringContaining('The form was sent before, and this endpoint exists.'),
  ]);
  expect(again.html).not.toContain('whsec_');

  const [, version = ''] =
    /name="version" value="([^"]+)"/.exec((await browser.open(`/console/webhooks/${id}/secret`)).html) ?? [];
  const before = await findEndpoint(db, keys, client, id);
  const hours = await browser.submit(`/console/webhooks/${id}/secret`, { hours: '169' });
  expect([hours.status, hours.text]).toEqual([
    400,
    expect.stringContaining('Hours: Enter a whole number from 0 to 168.'),
  ]);
  const rotated = await browser.submit(`/console/webhooks/${id}/secret`, { hours: '2', version });
  const after = await findEndpoint(db, keys, client, id);
  expect(after).toMatchObject({ secret: secretIn(rotated.html), previousSecrets: [{ secret: before?.secret }] });
  await browser.open(`/console/webhooks/${id}/secret`);
  const twice = await browser.submit(`/console/webhooks/${id}/secret`, { hours: '2', version });
  expect(twice.text).toContain('Nothing was changed: the secret has been rotated since the form was opened.');
  expect(await findEndpoint(db, keys, client, id)).toEqual(after);
  expect(await activityAbout(id)).toEqual([
    'webhook_create done',
    'webhook_create not_possible',
    'webhook_secret_rotate done',
    'webhook_secret_rotate not_possible',
  ]);
});

test('deliveries are shown with the reason of their failure, and an operator tests, delivers again and replays', async () => {
  const browser = await signedIn('operate');
  const id = await newEndpoint();
  await browser.open(`/console/webhooks/${id}`);
  expect((await browser.submit(`/console/webhooks/${id}/test`)).text).toContain('The test event is queued.');
  const shows = (text: string | RegExp) =>
    eventually(async () => expect((await browser.open(`/console/webhooks/${id}`)).text).toMatch(text));
  await shows(/delivered webhook\.test \S{36} .* UTC \([^)]+ Oslo\) 1 – Deliver again/);
  expect(receiver.received.at(-1)?.event).toMatchObject({ type: 'webhook.test', emr: 'sandbox-no' });

  await sql`UPDATE webhook_deliveries SET state = 'failed', attempts = 11, response_status = 503, failure_reason = 'status'
    WHERE endpoint_id = ${id}`.execute(db);
  await shows(/failed webhook\.test \S{36} .* UTC \([^)]+ Oslo\) 11 status 503 from 127\.0\.0\.1:\d+ Deliver again/);
  const [, delivery = ''] =
    /deliveries\/([0-9a-f-]{36})"/.exec((await browser.open(`/console/webhooks/${id}`)).html) ?? [];
  expect((await browser.submit(`/console/webhooks/${id}/deliveries/${delivery}`)).text).toContain(
    'The delivery is queued.',
  );
  await shows(/delivered webhook\.test .* failed webhook\.test/);
  const failed = await browser.open(`/console/webhooks/${id}?state=failed`);
  expect(failed.text).toContain('Show: all pending failed The newest first');
  expect(failed.text).not.toContain('delivered');
  expect((await browser.open(`/console/webhooks/${id}?state=pending`)).text).toContain('No pending deliveries.');
  const other = await browser.submit(`/console/webhooks/${id}/deliveries/${randomUUID()}`);
  expect(other.text).toContain('Nothing was sent: the delivery is no longer stored.');

  await browser.open(`/console/webhooks/${id}/replay`);
  const yesterday = await browser.submit(`/console/webhooks/${id}/replay`, { from: '2030-02-31T09:00' });
  expect([yesterday.status, yesterday.text]).toEqual([400, expect.stringContaining('From: Enter a date and a time')]);
  expect((await browser.submit(`/console/webhooks/${id}/replay`, { from: '2020-01-01T00:00' })).text).toContain(
    'The replay has started.',
  );
  expect(await activityAbout(id)).toEqual([
    'webhook_test done',
    'webhook_redeliver done',
    'webhook_redeliver not_possible',
    'webhook_replay done',
  ]);
});

test('an operator delivers at once all that an endpoint did not get, from the overview', async () => {
  const browser = await signedIn('operate');
  const id = await newEndpoint();
  await browser.open(`/console/webhooks/${id}`);
  for (let count = 0; count < 3; count++) await browser.submit(`/console/webhooks/${id}/test`);
  const delivered = async () => {
    const { rows } = await sql<{ event: string }>`SELECT DISTINCT event_id AS event FROM webhook_deliveries
      WHERE endpoint_id = ${id} AND state = 'delivered'`.execute(db);
    return rows.length;
  };
  await eventually(async () => expect(await delivered()).toBe(3));
  // One waits for a late attempt, two are given up.
  await sql`UPDATE webhook_deliveries SET state = 'failed', attempts = 11, response_status = 503, failure_reason = 'status'
    WHERE endpoint_id = ${id}`.execute(db);
  await sql`UPDATE webhook_deliveries SET state = 'pending', completed_at = NULL, created_at = now() - interval '2 minutes',
      next_attempt_at = now() + interval '1 hour'
    WHERE id = (SELECT id FROM webhook_deliveries WHERE endpoint_id = ${id} LIMIT 1)`.execute(db);
  const path = `/console/webhooks/${id}/deliver-now`;
  expect((await browser.open('/console')).html).toContain(`webhooks/${id}/deliver-now"`);
  expect((await browser.submit(path)).text).toContain('What it did not get is queued.');
  await eventually(async () => expect(await delivered()).toBe(3));
  expect((await browser.submit(path)).text).toContain('Nothing was sent: all its events are delivered meanwhile');
  expect((await (await signedIn('view')).open('/console')).html).not.toContain('deliver-now');
  expect((await activityAbout(id)).slice(-2)).toEqual(['webhook_redeliver done', 'webhook_redeliver not_possible']);
});

test('deliveries that failed alike are folded into one line', async () => {
  const browser = await signedIn('operate');
  const id = await newEndpoint();
  await browser.open(`/console/webhooks/${id}`);
  for (let count = 0; count < 4; count++) await browser.submit(`/console/webhooks/${id}/test`);
  await eventually(async () =>
    expect((await browser.open(`/console/webhooks/${id}`)).text).toMatch(/delivered webhook\.test: 4 events, since \d/),
  );
  await sql`UPDATE webhook_deliveries SET state = 'failed', attempts = 11, response_status = 503, failure_reason = 'status'
    WHERE endpoint_id = ${id}`.execute(db);
  const { html, text } = await browser.open(`/console/webhooks/${id}`);
  expect(text).toMatch(/failed webhook\.test: 4 events, status 503 from 127\.0\.0\.1:\d+, since \d/);
  expect(html.match(/<details class="group">/g)).toHaveLength(1);
  await sql`UPDATE webhook_deliveries SET response_status = 500 WHERE id = (
    SELECT id FROM webhook_deliveries WHERE endpoint_id = ${id} LIMIT 1)`.execute(db);
  expect((await browser.open(`/console/webhooks/${id}`)).html).not.toContain('<details class="group">');
});

test('an admin changes, disables, enables and deletes an endpoint', async () => {
  const browser = await signedIn('admin');
  const id = await newEndpoint('https://hooks.clinic.example/kanari-path');
  const form = await browser.open(`/console/webhooks/${id}/change`);
  expect(form.html).not.toContain('kanari-path');
  const wrong = await browser.submit(`/console/webhooks/${id}/change`, { url: 'ftp://x' });
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('Nothing was changed. URL: The URL must')]);
  await browser.submit(`/console/webhooks/${id}/change`, { url: '', types: 'message.failed' });
  expect(await findEndpoint(db, keys, client, id)).toMatchObject({
    url: 'https://hooks.clinic.example/kanari-path',
    eventTypes: ['message.failed'],
  });
  expect((await browser.submit(`/console/webhooks/${id}/disable`)).text).toContain('The endpoint is disabled');
  expect((await browser.submit(`/console/webhooks/${id}/test`)).text).toContain('a disabled endpoint gets no events');
  expect((await browser.submit(`/console/webhooks/${id}/enable`)).text).toContain('The endpoint is enabled.');
  expect((await browser.open(`/console/webhooks/${id}/delete`)).text).toContain('Its 0 pending deliveries end');
  expect((await browser.submit(`/console/webhooks/${id}/delete`)).text).toContain('are deleted.');
  await browser.open('/console/webhooks');
  for (const path of ['test', 'enable', 'change', 'replay', 'delete', 'secret', `deliveries/${id}`]) {
    const gone = await browser.submit(`/console/webhooks/${id}/${path}`, { from: '2030-01-01T00:00', hours: '1' });
    expect([path, gone.status, gone.text]).toEqual([
      path,
      404,
      expect.stringContaining('No webhook endpoint has this id.'),
    ]);
    await browser.open('/console/webhooks');
  }
  expect((await browser.open('/console/webhooks/kanari-fugl@example.org')).status).toBe(404);
  expect((await browser.submit('/console/webhooks/kanari-fugl@example.org/test')).status).toBe(404);
  expect((await activityAbout(id)).slice(0, 5)).toEqual([
    'webhook_change done',
    'webhook_disable done',
    'webhook_test not_possible',
    'webhook_enable done',
    'webhook_delete done',
  ]);
});

test('a role may do what it includes', async () => {
  const id = await newEndpoint();
  const view = await signedIn('view');
  expect((await view.open(`/console/webhooks/${id}`)).text).not.toMatch(/Send a test event|Rotate/);
  const operate = await signedIn('operate');
  const operated = await operate.open(`/console/webhooks/${id}`);
  expect(operated.text).toContain('Send a test event');
  expect(operated.text).not.toMatch(/Rotate|Disable|Delete/);
  const needed = {
    operate: ['test', 'replay', `deliveries/${id}`],
    admin: ['change', 'secret', 'enable', 'disable', 'delete'],
  };
  const rejected = async (browser: typeof view, path: string) => {
    await browser.open('/console');
    expect([path, (await browser.submit(`/console/${path}`)).status]).toEqual([path, 403]);
  };
  for (const path of [...needed.operate, ...needed.admin]) await rejected(view, `webhooks/${id}/${path}`);
  for (const path of needed.admin) await rejected(operate, `webhooks/${id}/${path}`);
  await rejected(operate, 'new-webhook');
  expect((await operate.open('/console/new-webhook')).status).toBe(403);
});

test('no log line and no entry of the activity list contains a URL or a secret', async () => {
  const { rows } = await sql<{ row: string }>`SELECT it::text AS row FROM operator_activity it`.execute(db);
  for (const line of [...gateway.logLines, ...rows.map(({ row }) => row)]) {
    expect(line).not.toMatch(/whsec_|kanari|hooks\.clinic/);
  }
});
