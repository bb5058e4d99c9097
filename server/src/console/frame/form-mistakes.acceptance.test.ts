/** @module-tag any-database */
import { afterAll, expect, test } from 'vitest';
import { insertWrite } from '../../../../test/database/stuck-rows.ts';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { browserWith, consoleBrowser, newOperator, withConsole } from '../../../../test/requests/console.ts';
import { insertEndpoint } from '../../webhooks/endpoint-store.ts';
import { makeSecret } from '../../webhooks/signing.ts';
import { createClient } from '../clients/client-actions.ts';

const gateway = await startGateway({ configure: withConsole });
afterAll(() => gateway.close());
const { db, keys } = gateway.deps.services;

const made = { clientId: 'clinic', url: 'https://hooks.clinic.example', secret: makeSecret(), eventTypes: null };
const endpoint = (await db.transaction().execute((tx) => insertEndpoint(tx, keys, made, 1000)))?.id ?? '';
const operation = await insertWrite(gateway.database, 'suspended');
await newOperator(gateway, 'ola.nordmann', 'view');
const facts = { id: 'site', scopes: ['resources:read' as const], grants: [{ emr: 'sandbox-no' }] };
await createClient(
  { db, keys, configured: gateway.deps.console?.configuration().configured ?? { emrs: [], clients: [] } },
  facts,
);
const { browser } = await browserWith(gateway, 'kari.nordmann', 'admin');

test.each([
  ['new-account', { name: 'KARI', role: 'view' }, ['name']],
  ['new-account', { name: 'kari', role: 'all' }, ['role']],
  ['new-webhook', { client: 'nobody', url: '' }, ['client']],
  ['new-webhook', { client: gateway.credentials('everything').id, url: 'x' }, ['url']],
  [`webhooks/${endpoint}/change`, { url: 'x' }, ['url']],
  [`webhooks/${endpoint}/replay`, { from: 'x' }, ['from']],
  [`webhooks/${endpoint}/secret`, { hours: 'x' }, ['hours']],
  ['new-client', { id: 'a site', return_urls: 'x' }, ['id', 'scopes', 'grants', 'return_urls']],
  ['clients/site/edit', { name: '', return_urls: '' }, ['name', 'scopes', 'grants']],
  ['clients/site/rotate', { overlap_hours: 'x' }, ['overlap']],
  ['clients/site/revoke', {}, ['checked']],
  [`operations/${operation}/drop`, {}, ['checked']],
] as const)('the summary of mistakes in %s links to each field', async (path, fields, expected) => {
  await browser.open(`/console/${path}`);
  const { html } = await browser.submit(`/console/${path}`, fields);
  const summary = /<div class="notice bad" role="alert"[\s\S]*?<\/div>/.exec(html)?.[0] ?? '';
  expect([...summary.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id)).toEqual(expected);
  for (const id of expected) expect(html.match(new RegExp(` id="${id}"`, 'g'))).toHaveLength(1);
  expect(html).toContain('<title>Error: ');
});

/** What the summary of a page links to. */
const linked = (html: string) => [...html.matchAll(/href="#(?!content)([^"]+)"/g)].map(([, id]) => id);

test('the summary of mistakes in the form to sign in, and in that of new one-time codes, links to the field', async () => {
  const operator = await newOperator(gateway, 'eva.nordmann', 'view');
  const own = consoleBrowser(gateway);
  await own.open('/console/sign-in');
  const rejected = await own.submit('/console/sign-in', { ...operator, totp: '', password: 'another', code: '000000' });
  expect(rejected.html).toContain('<title>Error: Sign in');
  const [field] = linked(rejected.html);
  expect(rejected.html).toMatch(new RegExp(`<input id="${field}"`));
  await own.signIn(operator);
  await own.open('/console/your-account');
  const wrong = await own.submit('/console/your-account/codes', { codes_password: 'another' });
  expect(linked(wrong.html)).toEqual(['codes_password']);
  await own.submit('/console/your-account/codes', { codes_password: operator.password });
  const { html } = await own.submit('/console/your-account/new-codes', { code: '000000' });
  expect(html).toContain('<title>Error: New one-time codes');
  expect(linked(html)).toEqual(['code']);
  expect(html).toMatch(/<input id="code"/);
});

test('the search for an operation links to its field', async () => {
  const { html } = await browser.open('/console/operations?id=x');
  expect(html).toMatch(/role="alert"[\s\S]*href="#id"[\s\S]*<input id="id"/);
});
