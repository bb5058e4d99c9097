/** @module-tag any-database */
import { afterAll, expect, test } from 'vitest';
import { insertOperation } from '../../../test/database/stuck-rows.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { browserWith, newOperator, withConsole } from '../../../test/requests/console.ts';
import { insertEndpoint } from '../webhooks/endpoint-store.ts';
import { makeSecret } from '../webhooks/signing.ts';
import { createClient } from './client-actions.ts';

const gateway = await startGateway({ configure: withConsole });
afterAll(() => gateway.close());
const { db, keys } = gateway.deps.services;

const made = { clientId: 'clinic', url: 'https://hooks.clinic.example', secret: makeSecret(), eventTypes: null };
const endpoint = (await db.transaction().execute((tx) => insertEndpoint(tx, keys, made, 1000)))?.id ?? '';
const operation = await insertOperation(gateway.database, 'suspended');
await newOperator(gateway, 'ola.nordmann', 'view');
const facts = { id: 'site', scopes: ['resources:read' as const], grants: [{ emr: 'sandbox-no' }] };
await createClient({ db, configured: gateway.deps.console?.configured ?? { emrs: [], clients: [] } }, facts);
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

test('the search for an operation links to its field', async () => {
  const { html } = await browser.open('/console/operations?id=x');
  expect(html).toMatch(/role="alert"[\s\S]*href="#id"[\s\S]*<input id="id"/);
});
