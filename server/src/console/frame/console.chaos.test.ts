import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import axe from 'axe-core';
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertFailedMessage, insertWrite } from '../../../../test/database/stuck-rows.ts';
import { faultyEhrs } from '../../../../test/ehrs/faulty-ehr.ts';
import { wrapConnector } from '../../../../test/ehrs/other-ehrs.ts';
import { type Gateway, startGateway } from '../../../../test/gateway/gateway.ts';
import { browserTimeout, isBrowserMissing, startBrowser } from '../../../../test/processes/browser.ts';
import { signIn, tooWide, violationsIn } from '../../../../test/processes/page-checks.ts';
import { oslo } from '../../../../test/requests/bookings.ts';
import { newOperator, type TestOperator, withConsole } from '../../../../test/requests/console.ts';
import { resolveConsole } from '../../config/console-settings.ts';
import { eventTypes } from '../../events/event-types.ts';
import { insertEndpoint } from '../../webhooks/endpoint-store.ts';
import { makeSecret } from '../../webhooks/signing.ts';
import { createClient, rotateClient } from '../clients/client-actions.ts';
import { startSession } from '../sign-in/sessions.ts';

const themes = ['light', 'dark'] as const;
/** Folder for a picture of each page, theme and width. */
const screenshots = process.env.SCREENSHOTS;
const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** The only rule that depends on the theme. */
const contrast = ['color-contrast'];
const ehrs = faultyEhrs();
const manyPages = { timeout: 3 * browserTimeout.timeout };

/** Calls to one EHR, and to another one until it counts as unavailable. */
async function call(gateway: Gateway): Promise<void> {
  for (let count = 0; count < 20; count++) await gateway.request('GET', `${oslo}/patients/p-2`);
  ehrs.of('sandbox-se').goDown();
  const status = async () => {
    await gateway.request('GET', '/api/emrs/sandbox-se/care-units/sodermalm/patients/p-1');
    return (await gateway.request<{ status: string }>('GET', '/api/emrs/sandbox-se')).body.status;
  };
  while ((await status()) !== 'unavailable');
}

/** A webhook endpoint with a delivery in each state. */
async function insertWebhook({ deps }: Gateway, disabledReason: 'gone' | null = null): Promise<string> {
  const { db, keys } = deps.services;
  const made = { clientId: 'clinic', url: 'https://hooks.clinic.example', secret: makeSecret(), eventTypes: null };
  const id = (await db.transaction().execute((tx) => insertEndpoint(tx, keys, made, 1000)))?.id ?? '';
  await sql`
    WITH made AS (
      INSERT INTO events (type, emr, data)
      SELECT type, 'sandbox-no', '{}' FROM unnest(${[...eventTypes]}::text[]) AS it (type)
      RETURNING id, sequence AS position)
    INSERT INTO webhook_deliveries
      (endpoint_id, event_id, event_position, state, attempts, next_attempt_at, response_status, failure_reason, completed_at)
    SELECT ${id}::uuid, id, position, CASE position % 3 WHEN 0 THEN 'failed' WHEN 1 THEN 'delivered' ELSE 'pending' END,
      position % 3 + 1, now() + interval '1 hour', CASE position % 3 WHEN 1 THEN 204 ELSE 503 END,
      CASE position % 3 WHEN 1 THEN NULL ELSE 'status' END, CASE position % 3 WHEN 2 THEN NULL ELSE now() END
    FROM made`.execute(db);
  await sql`UPDATE webhook_endpoints SET disabled_reason = ${disabledReason} WHERE id = ${id}`.execute(db);
  return id;
}

/** A client in the middle of a rotation, with grants that the configuration no longer has. */
async function createClientWithOldGrants({ deps: { services, console } }: Gateway): Promise<void> {
  const { emrs = [], clients = [] } = console?.configuration().configured ?? {};
  const old = [{ id: 'old-clinic', name: 'Old clinic', care_units: [{ id: 'ward', name: 'Ward' }] }];
  const administration = { db: services.db, keys: services.keys, configured: { emrs: [...emrs, ...old], clients } };
  await createClient(administration, {
    id: 'booking.site',
    name: 'Booking site of the municipality',
    scopes: ['appointments:read', 'appointments:write', 'resources:read'],
    grants: [{ emr: 'sandbox-no', care_units: ['oslo-sentrum'] }, { emr: 'sandbox-se' }, { emr: 'old-clinic' }],
    return_urls: ['https://booking.municipality.example.org/appointments/done'],
  });
  await rotateClient(administration, { id: 'booking.site' }, 24);
}

// Skipped without Chromium on a developer's machine. CI fails instead.
describe.skipIf(isBrowserMissing())('in a browser, the console', manyPages, () => {
  let gateway: Gateway;
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let page: Page;
  let operator: TestOperator;
  let suspended: string;
  let endpoint: string;
  let disabled: string;
  const problems: string[] = [];

  beforeAll(async () => {
    gateway = await startGateway({
      connectors: [wrapConnector((connector, emr) => ehrs.faulty(connector, emr))],
      configure: (demo) => {
        const oidc = { issuer: 'https://login.example.org', client_id: 'crossward', role_claim: 'groups', roles: {} };
        const { url: _, ...console } = resolveConsole({ url: 'http://localhost', local_accounts: true, oidc }, {});
        // Any loopback host name, because the port is not known yet.
        return { ...withConsole(demo), console };
      },
    });
    operator = await newOperator(gateway, 'kari.nordmann', 'admin');
    await newOperator(gateway, 'ola.nordmann', 'view');
    const other = {
      operatorId: null,
      name: 'oidc:eva.nordmann@clinic.municipality.example.org',
      role: 'operate',
    } as const;
    await startSession(gateway.deps.services.db, gateway.deps.services.keys, { ...other, hours: 12 });
    suspended = await insertWrite(gateway.database, 'suspended');
    await insertWrite(gateway.database, 'leased');
    await insertWrite(gateway.database, 'monitored');
    await insertFailedMessage(gateway.database);
    endpoint = await insertWebhook(gateway);
    disabled = await insertWebhook(gateway, 'gone');
    await createClientWithOldGrants(gateway);
    await call(gateway);
    browser = await startBrowser(`http://127.0.0.1:${gateway.port}`);
    page = await browser.context.newPage();
    page.on('console', (message) => problems.push(message.text()));
    page.on('request', (request) => {
      const { hostname, protocol } = new URL(request.url());
      if (hostname !== '127.0.0.1' && protocol !== 'data:') problems.push(`a request to ${hostname}`);
    });
    if (screenshots) await mkdir(screenshots, { recursive: true });
  }, manyPages.timeout);
  afterAll(async () => {
    await browser?.close();
    await gateway?.close();
  });

  /** Clicks what leads to another page, and waits for that. */
  async function follow(selector: string): Promise<void> {
    await Promise.all([page.waitForEvent('load'), page.click(selector)]);
  }

  async function photograph(name: string): Promise<void> {
    if (screenshots) await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true });
  }

  test('meets WCAG 2.2 AA on every page, in both themes, and fits 320 pixels and text at 200 %', async () => {
    const found: string[] = [];
    const look = async (name: string) => {
      await page.setViewportSize({ width: 1280, height: 1000 });
      await page.evaluate(axe.source);
      for (const theme of themes) {
        await page.emulateMedia({ colorScheme: theme });
        for (const width of [1280, 320]) {
          await page.setViewportSize({ width, height: 1000 });
          const rules = theme === 'light' ? standards : contrast;
          found.push(...(await violationsIn(page, rules)).map((it) => `${name} ${theme} ${width}: ${it}`));
          found.push(...(await tooWide(page)).map((it) => `${name} ${theme} ${width} too wide: ${it}`));
          await photograph(`${name}-${theme}-${width}`);
        }
      }
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize({ width: 640, height: 1000 });
      await page.evaluate(`document.documentElement.style.fontSize = '200%'`);
      found.push(...(await tooWide(page)).map((it) => `${name} 200 % too wide: ${it}`));
      await page.setViewportSize({ width: 1280, height: 1000 });
    };

    await page.goto('/console/sign-in');
    await look('sign-in');
    await page.fill('#name', 'nobody');
    await page.fill('#password', 'wrong');
    await page.fill('#code', '000000');
    await follow('main button');
    await look('sign-in-rejected');
    await signIn(page, operator);
    const pages = {
      overview: '',
      operations: '/operations',
      'operation-not-found': '/operations?id=x',
      operation: `/operations/${suspended}`,
      drop: `/operations/${suspended}/drop`,
      messages: '/messages',
      webhooks: '/webhooks',
      webhook: `/webhooks/${endpoint}`,
      'webhook-disabled': `/webhooks/${disabled}`,
      'webhook-secret': `/webhooks/${endpoint}/secret`,
      'webhook-replay': `/webhooks/${endpoint}/replay`,
      'webhook-delete': `/webhooks/${endpoint}/delete`,
      connections: '/connections',
      'connection-stopped': '/connections/sandbox-se',
      accounts: '/accounts',
      account: '/accounts/ola.nordmann',
      'account-own': '/accounts/kari.nordmann',
      clients: '/clients',
      client: '/clients/booking.site',
      'client-of-file': '/clients/everything',
      'client-new': '/new-client',
      'client-edit': '/clients/booking.site/edit',
      'client-rotate': '/clients/booking.site/rotate',
      'client-revoke': '/clients/booking.site/revoke',
      audit: '/audit',
      activity: '/activity',
      'your-account': '/your-account',
      'no-page': '/nothing',
    };
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(`/console${path}`);
      await look(name);
    }
    await page.goto('/console/new-webhook');
    await page.selectOption('#client', gateway.credentials('everything').id);
    await page.fill('#url', 'https://127.0.0.1');
    await follow('main button');
    await look('webhook-rejected');
    await page.fill('#url', 'https://example.org');
    await follow('main button');
    await look('webhook-created');
    await page.goto('/console/new-account');
    await page.fill('#name', 'KARI');
    await follow('main button');
    await look('account-rejected');
    await page.fill('#name', 'per.nordmann');
    await follow('main button');
    await look('account-created');
    await page.goto('/console/your-account');
    await page.fill('#codes_password', 'wrong');
    await follow('text=Set up new codes >> nth=-1');
    await look('your-account-rejected');
    await page.fill('#codes_password', operator.password);
    await follow('text=Set up new codes >> nth=-1');
    await page.waitForSelector('text=Then enter a code');
    await look('your-account-codes');
    await page.goto('/console/connections');
    await follow('text=Check >> nth=-1');
    await page.waitForSelector('text=The connector opens.');
    await look('connection');
    await page.goto('/console/connections/sandbox-no');
    await follow('text=Report to hand over');
    await look('connection-report');
    await page.goto('/console/audit');
    await page.fill('#patient', 'emr_id:p-1');
    await page.press('#patient', 'Enter');
    await page.waitForSelector('text=A search by patient needs an EHR.');
    await look('audit-rejected');
    for (let count = 0; count < 51; count++) await gateway.request('GET', `${oslo}/patients/p-1`);
    await page.selectOption('#emr', 'sandbox-no');
    await page.fill('#patient', 'emr_id:p-1');
    await page.press('#patient', 'Enter');
    await page.waitForSelector('text=get patient');
    await look('audit-found');
    await follow('text=Older');
    await page.waitForSelector('text=get patient');
    expect(await page.locator('tbody tr').count()).toBe(1);
    expect(page.url()).not.toContain('p-1');
    await page.goto('/console/new-client');
    await page.fill('#id', 'a site');
    await page.fill('#return_urls', 'example.org');
    await follow('text=Create the client');
    await page.waitForSelector('text=The client was not created.');
    await look('client-rejected');
    await page.goto('/console/clients/booking.site/rotate');
    await follow('button:has-text("Rotate the secret")');
    await page.waitForSelector('text=Copy the secret now');
    await look('client-secret');
    expect(found).toEqual([]);
    // Chromium reports the status of a rejected sign-in and of a page that does not exist.
    expect(problems.filter((it) => !it.startsWith('Failed to load resource'))).toEqual([]);
  });

  test('keeps the menu, the cards and the zeros in line', async () => {
    const tops = (selector: string) =>
      page.evaluate<number[]>(
        `[...document.querySelectorAll('${selector}')].map((it) => Math.round(it.getBoundingClientRect().top))`,
      );
    const menu = () =>
      page.evaluate<number[]>(
        `[...document.querySelectorAll('nav a')].map((it) => Math.round(it.getBoundingClientRect().left * 10))`,
      );
    await page.setViewportSize({ width: 1280, height: 1000 });
    await page.goto('/console/activity');
    const places = await menu();
    await page.goto('/console');
    expect(await menu()).toEqual(places);
    await page.evaluate(
      `document.querySelector('.card h3').textContent = 'A name that is too long for a line of a card'`,
    );
    for (const part of ['.card > p:nth-child(2)', '.card table', '.card > p:last-child']) {
      expect([part, new Set(await tops(part)).size]).toEqual([part, 1]);
    }
    await page.setViewportSize({ width: 360, height: 1000 });
    const heights = await page.evaluate<number[]>(
      `[...document.querySelectorAll('.tile.zero')].map((it) => it.getBoundingClientRect().height)`,
    );
    expect(heights.length).toBeGreaterThan(0);
    // A line of 24 pixels, with its padding and border.
    for (const height of heights) expect(height).toBeLessThan(48);
    // Two tiles side by side, as at 200 %: a zero is as large as its neighbour.
    await page.setViewportSize({ width: 640, height: 1000 });
    const sizes = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.tile strong')].map((it) => getComputedStyle(it).fontSize)`,
    );
    expect(new Set(sizes).size).toBe(1);
    await page.setViewportSize({ width: 1280, height: 1000 });
  });

  test('keeps the fields of a search in line with their labels', async () => {
    await page.goto('/console/audit');
    const gaps = await page.evaluate<number[]>(
      `[...document.querySelectorAll('.columns .field')].map((it) =>
        it.querySelector('input, select').getBoundingClientRect().top - it.querySelector('label').getBoundingClientRect().bottom)`,
    );
    expect(gaps.length).toBeGreaterThan(4);
    expect(new Set(gaps).size).toBe(1);
  });

  test('works with the keyboard alone, shows the focus, and ends with the sign-out', async () => {
    const focused = () => page.evaluate<string>(`document.activeElement.textContent.trim()`);
    await page.goto('/console');
    const order: string[] = [];
    for (let count = 0; count < 13; count++) {
      await page.keyboard.press('Tab');
      order.push(await focused());
      expect(await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    }
    expect(order).toEqual([
      'Skip to the content',
      'Crossward',
      'Your account',
      'Sign out',
      ...['Overview', 'Operations', 'Messages', 'Webhooks'],
      ...['Connections', 'Clients', 'Accounts', 'Audit', 'Activity'],
    ]);

    await page.goto(`/console/operations/${suspended}/drop`);
    await page.focus('input[name=checked]');
    await page.keyboard.press('Space');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(/result=dropped/);
    await expect.poll(focused).toContain('The operation is dropped.');
    // A reload sends no form again.
    await page.reload();

    await page.goto('/console');
    await page.focus('text=Sign out');
    await page.keyboard.press('Enter');
    await page.waitForURL(/sign-in/);
    await page.goto('/console/messages');
    expect(await page.textContent('h1')).toBe('Sign in');
  });
});
