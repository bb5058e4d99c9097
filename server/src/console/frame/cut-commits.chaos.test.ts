import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../../../test/gateway/gateway.ts';
import { type PostgresProxy, startPostgresProxy } from '../../../../test/postgres-proxy/postgres-proxy.ts';
import type { Way } from '../../../../test/postgres-proxy/ways.ts';
import { eventually } from '../../../../test/requests/codes.ts';
import { browserWith, type ConsoleBrowser, type ConsolePage, withConsole } from '../../../../test/requests/console.ts';
import { withQuickWebhooks } from '../../../../test/requests/webhook-receiver.ts';

const ways: readonly [Way, number][] = [
  [{ kind: 'before' }, 0],
  [{ kind: 'after' }, 1],
];

describe('an action whose connection breaks at COMMIT', () => {
  let gateway: Gateway;
  let proxy: PostgresProxy;
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    gateway = await startGateway({
      configure: (it) => withConsole(withQuickWebhooks(it)),
      through: async (url) => {
        proxy = await startPostgresProxy(url);
        return proxy.url;
      },
    });
    ({ browser } = await browserWith(gateway, 'cutter', 'admin'));
  });
  afterEach(() => proxy.heal());
  afterAll(async () => {
    await gateway.close();
    await proxy.close();
  });

  const cut = (way: Way) =>
    proxy.cutNext(
      way,
      ({ kind, statements }) => kind === 'commit' && statements.some((text) => text.includes('operator_activity')),
    );
  const unknown = [504, expect.stringContaining('Outcome unknown')];
  const seen = ({ status, text }: { readonly status: number; readonly text: string }) => [status, text];

  const hiddenIn = ({ html }: ConsolePage): Record<string, string> =>
    Object.fromEntries(
      [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)].map(([, name = '', value = '']) => [
        name,
        value,
      ]),
    );
  const idsIn = (table: 'webhook_endpoints' | 'clients', id: string) =>
    gateway.deps.services.db.selectFrom(table).select('id').where('id', '=', id).execute();

  test.each(ways)('%o: a new endpoint is told as unknown, and its form makes one when sent again', async (way) => {
    const form = hiddenIn(await browser.open('/console/new-webhook'));
    const url = `https://hooks.clinic.example/${way.kind}`;
    const fields = { ...form, client: gateway.credentials('everything').id, url };
    const failed = cut(way);
    expect(seen(await browser.submit('/console/new-webhook', fields))).toEqual(unknown);
    await failed.settled;
    await browser.submit('/console/new-webhook', fields);
    expect(await idsIn('webhook_endpoints', form.id ?? '')).toHaveLength(1);
  });

  test.each(ways)(
    '%o: a pause of an EHR is told as unknown, and the page says whether it is in effect',
    async (way, made) => {
      const path = '/console/connections/sandbox-no';
      await browser.open(path);
      const failed = cut(way);
      expect(seen(await browser.submit(`${path}/pause`, { duration: '60' }))).toEqual(unknown);
      await failed.settled;
      // The process looks every two seconds.
      await eventually(async () => {
        expect((await browser.open(path)).text.includes('Operators have paused the EHR')).toBe(made === 1);
      });
      expect((await browser.submit(`${path}/pause`, { duration: '60' })).text).toContain('The EHR is paused.');
      await browser.submit(`${path}/resume`);
    },
  );

  test.each(ways)('%o: a new client is told as unknown, and exists once when it is sent again', async (way, made) => {
    const id = `cut-${way.kind}`;
    const form = hiddenIn(await browser.open('/console/new-client'));
    const fields = { ...form, id, scope: 'appointments:read', grant: 'sandbox-no' };
    const failed = cut(way);
    expect(seen(await browser.submit('/console/new-client', fields))).toEqual(unknown);
    await failed.settled;
    expect(await idsIn('clients', id)).toHaveLength(made);
    expect((await browser.submit('/console/new-client', fields)).status).toBe(made === 1 ? 400 : 200);
    expect(await idsIn('clients', id)).toHaveLength(1);
  });
});
