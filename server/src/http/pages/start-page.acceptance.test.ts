/** @module-tag any-database */
import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gateway, type GatewayResponse, startGateway } from '../../../../test/gateway/gateway.ts';
import { consoleBrowser } from '../../../../test/requests/console.ts';
import { demoConsole } from '../../config/console-settings.ts';
import { Secret } from '../../config/secret.ts';

const operatorPassword = 'password-of-the-demo';
let gateway: Gateway;
let production: Gateway;
beforeAll(async () => {
  gateway = await startGateway({
    isDemo: true,
    configure: (demo) => ({ ...demo, console: demoConsole({ name: 'demo', password: new Secret(operatorPassword) }) }),
  });
  production = await startGateway({ beside: gateway });
});
afterAll(async () => {
  await production?.close();
  await gateway?.close();
});

const get = (path: string, from = gateway, host = `127.0.0.1:${from.port}`): Promise<GatewayResponse> =>
  from.request('GET', path, { client: null, headers: { host } });
const secret = () => gateway.credentials('everything').secret;

function plain(text: string): string {
  const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return text.replace(/&(\w+);/g, (entity, name) => characters[name] ?? entity);
}

describe('the start page of the demo', () => {
  test('has a command that books a free time with the credentials of the demo', async () => {
    const { text } = await get('/');
    const command = plain(/<pre><code>(.*?)<\/code><\/pre>/s.exec(text)?.[1] ?? '');
    const [, path = ''] = /^curl http:\/\/127\.0\.0\.1:\d+(\S+) \\\n/.exec(command) ?? [];
    const [, body = ''] = / -d '(.*)'$/s.exec(command) ?? [];
    const headers = [...command.matchAll(/-H ["'](.*?): (.*?)["']/g)].map(([, name, value]) => [name, value]);
    const booked = await gateway.request('POST', path, { client: null, headers: Object.fromEntries(headers), body });
    expect([booked.status, booked.body]).toMatchObject([201, { status: 'booked' }]);
    // It shows the next free time.
    expect(plain((await get('/')).text)).not.toContain(body);
  });

  test('links to pages that exist', async () => {
    const { text } = await get('/');
    const paths = [...text.matchAll(/href="(.*?)"/g)].map(([, path = '']) => path);
    expect(paths).toEqual(expect.arrayContaining(['/docs/', '/demo/messages', '/console', '/api/openapi.json']));
    // The console asks for a sign-in.
    for (const path of paths) expect((await get(path)).status, path).toBe(path === '/console' ? 303 : 200);
  });

  test('signs the operator of the demo in to the console', async () => {
    const { text } = await get('/');
    expect(plain(text)).toContain(`<dt>Password</dt><dd><code>${operatorPassword}</code></dd>`);
    const url = `http://127.0.0.1:${gateway.port}`;
    const browser = consoleBrowser(gateway, url);
    const form = await browser.open('/console');
    expect(form.html).not.toContain('id="code"');
    const page = await browser.submit('/console/sign-in', { name: 'demo', password: operatorPassword });
    expect(page.text).toContain('demo (admin)');
    expect([...browser.cookies.keys()]).toEqual(['crossward-console', 'crossward-browser']);
    // Its password comes from the data directory with each start, unless it has one-time codes.
    const own = await browser.open('/console/your-account');
    expect(own.text).toContain('Set up codes to change the password of this account of the demo.');
    expect(own.html).not.toContain('id="new_password"');
    const change = { password: operatorPassword, new_password: 'a new password', repeated_password: 'a new password' };
    expect((await browser.submit('/console/your-account/password', change)).path).toBe('/console/your-account');
  });

  test('names the EHRs, and what the patient confirms with a code', async () => {
    const { text } = await get('/');
    const items = [...text.matchAll(/<li><code>(.*?)<\/li>/gs)].map(([item]) => item.replace(/<.*?>/g, '').trim());
    expect(items).toEqual([
      'sandbox-no with oslo-sentrum, bergen-nord: without a code',
      'sandbox-se with sodermalm, lund: booking with a code',
      'sandbox-uk with riverside, hillview: cancelling with a code',
    ]);
  });

  test('allows its own style sheet only', async () => {
    const { headers, text } = await get('/');
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(text) ?? [];
    expect(String(headers['content-security-policy']).split(';')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'none'",
        `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
      ]),
    );
  });
});

describe('the credentials of the demo', () => {
  test.each(['/', '/docs/'])('are in %s', async (path) => {
    expect((await get(path)).text).toContain(secret());
  });

  test.each(['/', '/docs/'])('are not in %s under a name of another machine', async (path) => {
    for (const host of ['example.org', '127.0.0.1.nip.io', '0.0.0.0']) {
      const { status, text } = await get(path, gateway, host);
      expect([status, text.includes(secret())], host).toEqual([200, false]);
    }
  });

  test.each(['/', '/docs/'])('are not in %s of another gateway', async (path) => {
    const { status, text } = await get(path, production);
    expect([status, text.includes(secret()), text.includes('curl')]).toEqual([200, false, false]);
  });
});

test('the start page of another gateway says what it is, and nothing about its EHRs and clients', async () => {
  const { text } = await get('/', production);
  expect(text).toContain('Crossward is a gateway');
  expect(text).not.toMatch(/sandbox|oslo|everything/i);
});
