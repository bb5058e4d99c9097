/** @module-tag any-database */
import { sql } from 'kysely';
import { afterAll, expect, test, vi } from 'vitest';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { book, oslo, sodermalm } from '../../../../test/requests/bookings.ts';
import { eventually } from '../../../../test/requests/codes.ts';
import { browserWith, type ConsolePage, consoleBrowser, withConsole } from '../../../../test/requests/console.ts';
import { browserOf, pagePath, withPages } from '../../../../test/requests/patient-page.ts';
import { startReceiver, webhooksOf, withQuickWebhooks } from '../../../../test/requests/webhook-receiver.ts';
import { insertClient } from '../../clients/change-clients.ts';
import { proveClient } from '../../clients/client-proof.ts';
import { ofDatabase } from '../../db/errors.ts';
import type { Role } from '../accounts/roles.ts';
import { listActivity } from '../audit/activity.ts';

const options = { configure: (it: Parameters<typeof withConsole>[0]) => withPages(withQuickWebhooks(withConsole(it))) };
const gateway = await startGateway({ ...options, logLevel: 'trace' });
const other = await startGateway({ ...options, beside: gateway, intervals: { clients: 20 } });
afterAll(async () => {
  await other.close();
  await gateway.close();
});
const { db } = gateway.deps.services;

const signedIn = async (role: Role) => (await browserWith(gateway, `the-${role}`, role)).browser;
const admin = await signedIn('admin');

const rightFields = {
  name: 'Booking site',
  scope: ['appointments:read', 'appointments:write', 'webhooks:manage'],
  grant: ['sandbox-no:oslo-sentrum', 'sandbox-se'],
  return_urls: 'https://booking.example.org/done\r\n',
};

function secretIn({ html }: ConsolePage): string {
  const secret = /<code class="secret">([\w-]{43})<\/code>/.exec(html)?.[1];
  if (secret === undefined) throw new Error(`The page has no secret: ${html}`);
  return secret;
}

async function create(id: string, fields: object = {}): Promise<string> {
  await admin.open('/console/new-client');
  return secretIn(await admin.submit('/console/new-client', { id, ...rightFields, ...fields }));
}

async function rotate(id: string, overlap_hours: string): Promise<string> {
  await admin.open(`/console/clients/${id}/rotate`);
  return secretIn(await admin.submit(`/console/clients/${id}/rotate`, { overlap_hours }));
}

async function statusOf(id: string, secret: string, path = '/api/emrs', at = gateway): Promise<number> {
  return (await at.request('GET', path, { client: { id, secret } })).status;
}

test('a client that is created in the console can call the API at once, and what its grants allow', async () => {
  await admin.open('/console/new-client');
  const page = await admin.submit('/console/new-client', { id: 'booking.site_1', ...rightFields });
  expect([page.status, page.path, page.headers['cache-control']]).toEqual([200, '/console/new-client', 'no-store']);
  const secret = secretIn(page);
  expect(await statusOf('booking.site_1', secret)).toBe(200);
  expect(await statusOf('booking.site_1', secret, `${oslo}/appointments?patient_id=p-3`)).toBe(200);
  expect(await statusOf('booking.site_1', secret, `${oslo}/patients/p-3`)).toBe(403);
  expect(await statusOf('booking.site_1', secret, '/api/emrs/sandbox-no/care-units/bergen-nord')).toBe(404);
  expect(await statusOf('booking.site_1', secret, '/api/emrs/sandbox-se/care-units/lund')).toBe(200);
  expect(await statusOf('booking.site_1', secret, '/api/emrs/sandbox-uk')).toBe(404);
  await eventually(async () => expect(await statusOf('booking.site_1', secret, '/api/emrs', other)).toBe(200));

  const shown = await admin.open('/console/clients/booking.site_1');
  expect(shown.text).toContain('Booking site active booking.site_1');
  expect(shown.text).toContain('Sandkassen Norge (sandbox-no) Oslo sentrum');
  expect(shown.text).toContain('Current');
  expect(shown.html).not.toContain(secret);
  const list = (await admin.open('/console/clients')).text;
  expect(list).toContain('booking.site_1 Booking site operators sandbox-no, sandbox-se 3 active never');
  expect(list).toContain('notes-read notes:read configuration file');
});

test('a rotation keeps both secrets for the overlap, and shows the new one once', async () => {
  const first = await create('rotating');
  const second = await rotate('rotating', '24');
  expect([await statusOf('rotating', first), await statusOf('rotating', second)]).toEqual([200, 200]);
  expect((await admin.open('/console/clients/rotating/rotate')).text).toContain('Previous secrets stay valid, until');
  // As a reload of the page with the secret does.
  const again = await admin.submit('/console/clients/rotating/rotate', { overlap_hours: '24', version: '1' });
  expect(again.text).toContain('Nothing was changed. The client has been changed since this page was opened.');
  expect(await statusOf('rotating', first)).toBe(200);

  await sql`UPDATE clients SET previous_secret_expires_at = now() WHERE id = 'rotating'`.execute(db);
  await db.transaction().execute((tx) => proveClient(tx, gateway.deps.services.keys, 'rotating'));
  const third = await rotate('rotating', '0');
  expect(await Promise.all([first, second, third].map((it) => statusOf('rotating', it)))).toEqual([401, 401, 200]);
  await admin.open('/console/clients/rotating/rotate');
  const wrong = await admin.submit('/console/clients/rotating/rotate', { overlap_hours: '99' });
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('Choose when the current secret ends.')]);
});

test('a changed client has its new grants and scopes at once', async () => {
  const secret = await create('changing');
  const form = await admin.open('/console/clients/changing/edit');
  expect(form.html.match(/value="[^"]+" checked/g)).toEqual([
    ...rightFields.scope.map((it) => `value="${it}" checked`),
    'value="sandbox-no:oslo-sentrum" checked',
    'value="sandbox-se" checked',
  ]);
  const changed = { name: 'Reads only', scope: 'patients:read', grant: 'sandbox-no', return_urls: '' };
  const page = await admin.submit('/console/clients/changing/edit', changed);
  expect(page.text).toContain('The client is changed.');
  expect(page.text).toContain('Reads only active');
  expect(await statusOf('changing', secret, `${oslo}/patients/p-3`)).toBe(200);
  expect(await statusOf('changing', secret, '/api/emrs/sandbox-se')).toBe(404);
});

test('what is wrong in a form is shown at its field, and nothing is created', async () => {
  await admin.open('/console/new-client');
  const page = await admin.submit('/console/new-client', {
    id: 'a site',
    name: '<b>',
    scope: 'everything',
    grant: ['sandbox-no', 'sandbox-no:oslo-sentrum', 'nowhere', 'sandbox-se:gone'],
    return_urls: 'https://example.org\njavascript:alert(1)',
  });
  expect([page.status, page.headers['cache-control']]).toEqual([400, 'no-store']);
  expect(page.html).toContain('<title>Error: New client');
  for (const text of [
    'It must be 1 to 63 letters, digits, dots, hyphens and underscores',
    'everything" is unknown; must be one of appointments:read',
    'sandbox-no" is granted with all its care units and with some of them; choose one',
    'nowhere" is not an EHR of the configuration, which has sandbox-no, sandbox-se, sandbox-uk',
    'gone" is not a care unit of sandbox-se of the configuration, which has',
    'Line 2 must be a URL that starts with https://',
  ])
    expect(page.text.replaceAll('&quot;', '"')).toContain(text);
  expect(page.html).toContain('value="&lt;b&gt;"');
  for (const [id, text] of [
    ['everything', 'The configuration file has a client with this id.'],
    ['', 'It must be 1 to 63 letters'],
  ] as const) {
    const { status, text: shown } = await admin.submit('/console/new-client', { id, ...rightFields });
    expect([status, shown]).toEqual([400, expect.stringContaining(text)]);
  }
  // The form of a gateway with hundreds of care units is as long.
  const grant = Array.from({ length: 500 }, (_, index) => `sandbox-no:a-care-unit-with-a-long-name-${index}`);
  expect((await admin.submit('/console/new-client', { id: 'long', ...rightFields, grant })).status).toBe(400);
  const configured = await admin.open('/console/clients/everything/edit');
  expect([configured.path, configured.text]).toEqual([
    '/console/clients/everything?result=configured',
    expect.stringContaining('This client is in the configuration file.'),
  ]);
  expect((await admin.open('/console/clients/nobody')).status).toBe(404);
});

test('a revoked client stops in every gateway, with its webhook endpoints and the links that it has started', async () => {
  const secret = await create('revoking');
  const client = { id: 'revoking', secret };
  const receiver = await startReceiver();
  const endpoint = await webhooksOf(gateway, client).create(receiver.url);
  const appointment = await book(gateway, { careUnit: sodermalm, client });
  const link = pagePath(appointment);
  expect((await browserOf(gateway).open(link)).status).toBe(200);
  await eventually(async () => expect(await statusOf('revoking', secret, '/api/emrs', other)).toBe(200));

  await admin.open('/console/clients/revoking/revoke');
  expect((await admin.submit('/console/clients/revoking/revoke')).text).toContain('Nothing was changed.');
  const page = await admin.submit('/console/clients/revoking/revoke', { checked: 'yes' });
  expect(page.text).toContain('The client is revoked.');
  expect(page.text).toContain('Its id is not used again.');
  expect(await statusOf('revoking', secret)).toBe(401);
  await eventually(async () => expect(await statusOf('revoking', secret, '/api/emrs', other)).toBe(401));
  expect((await browserOf(gateway).open(link)).status).toBe(404);
  const { rows } = await sql<{ disabled: boolean }>`
    SELECT disabled_reason IS NOT NULL AS disabled FROM webhook_endpoints WHERE id = ${endpoint.id}`.execute(db);
  expect(rows).toEqual([{ disabled: true }]);
  await receiver.close();
  await admin.open('/console/new-client');
  const again = await admin.submit('/console/new-client', { id: 'revoking', ...rightFields });
  expect(again.text).toContain('An id is used once.');
});

test('a stored client whose id the configuration file has taken over can be revoked', async () => {
  const facts = { id: 'notes-read', scopes: ['notes:read' as const], grants: [{ emr: 'sandbox-no' }] };
  await db.transaction().execute((tx) => insertClient(tx, gateway.deps.services.keys, facts, 'a stored secret'));
  const { text } = await admin.open('/console/clients/notes-read');
  expect(text).toContain('A stored client has this id too.');
  expect((await admin.open('/console/clients/notes-read/revoke')).text).toContain('This is the stored client.');
  const page = await admin.submit('/console/clients/notes-read/revoke', { checked: 'yes' });
  expect(page.text).toContain('The client of the configuration file with this id stays in effect.');
  expect(page.text).not.toContain('A stored client has this id too.');
  expect((await gateway.request('GET', '/api/emrs', { client: 'notes:read' })).status).toBe(200);
  expect((await admin.open('/console/clients/notes-read/revoke')).path).toContain('result=configured');
});

test('a NUL, which PostgreSQL cannot store, is left out of what was typed', async () => {
  await create('no\0nul', { name: 'N\0ul' });
  expect((await admin.open('/console/clients/nonul')).text).toContain('Nul active');
  expect((await admin.open('/console/clients/nobody%00')).status).toBe(404);
});

test('only administrators change clients, and everybody sees them', async () => {
  await create('seen');
  for (const role of ['view', 'operate'] as const) {
    const browser = await signedIn(role);
    expect((await browser.open('/console/clients')).text).not.toContain('New client');
    expect((await browser.open('/console/clients/seen')).text).not.toContain('Rotate');
    for (const path of ['new-client', 'clients/seen/edit', 'clients/seen/rotate', 'clients/seen/revoke']) {
      await browser.open('/console');
      for (const page of [
        await browser.submit(`/console/${path}`, rightFields),
        await browser.open(`/console/${path}`),
      ])
        expect([page.status, page.text]).toEqual([403, expect.stringContaining('This needs the role admin')]);
    }
  }
});

test('the sign-in leads back to the page of a client', async () => {
  const browser = consoleBrowser(gateway);
  const { path, html } = await browser.open('/console/clients/booking.site_1/edit');
  expect(path).toBe('/console/sign-in?next=clients%2Fbooking.site_1%2Fedit');
  expect(html).toContain('name="next" value="clients/booking.site_1/edit"');
  expect((await browser.open('/console/sign-in?next=clients/../secret')).html).toContain('name="next" value=""');
});

test('each change is in the activity list, with the id of the client and without text that is none', async () => {
  await create('listed');
  await rotate('listed', '24');
  await admin.open('/console/clients/listed/revoke');
  await admin.submit('/console/clients/listed/revoke', { checked: 'yes' });
  expect((await admin.open('/console/clients')).text).toMatch(
    /listed Booking site operators sandbox-no, sandbox-se 3 revoked all secrets ended [^U]+ UTC \([^)]+ Oslo\) \d+ \w+ \d{4} /,
  );
  const entries = (await listActivity(db, 3)).map(({ operator, action, target, outcome }) => [
    operator,
    action,
    target,
    outcome,
  ]);
  expect(entries).toEqual([
    ['the-admin', 'client_revoke', 'listed', 'done'],
    ['the-admin', 'client_rotate', 'listed', 'done'],
    ['the-admin', 'client_create', 'listed', 'done'],
  ]);
});

test('without the database, a change says so and nothing is half done; known clients keep working', async () => {
  const secret = await create('outage');
  await admin.open('/console/clients/outage/rotate');
  const { pool } = gateway.database;
  const connect = pool.connect.bind(pool);
  const lost = ofDatabase(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }), 'not sent');
  let statements = 0;
  // The session and the client are read. Then the database fails.
  const spy = vi.spyOn(pool, 'connect').mockImplementation(() => (++statements > 2 ? Promise.reject(lost) : connect()));
  const page = await admin.submit('/console/clients/outage/rotate', { overlap_hours: '0' });
  expect(await statusOf('outage', secret)).toBe(200);
  spy.mockRestore();
  expect(statements).toBeGreaterThan(2);
  expect(page.text).toContain('The gateway cannot reach its database.');
  expect(page.html).not.toContain('class="secret"');
  expect(await statusOf('outage', secret)).toBe(200);
  expect((await admin.open('/console/clients/outage')).text).toContain('Last rotation never');
});
