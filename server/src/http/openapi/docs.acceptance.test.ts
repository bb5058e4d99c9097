/** @module-tag any-database */
import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../../../test/gateway/gateway.ts';
import { reasons } from '../../problems/reasons.ts';
import { fixedHeaders } from '../protocol/each-request.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const get = (path: string, headers = {}) => gateway.request('GET', path, { client: null, headers });
const sha256 = (text: string | undefined) => `'sha256-${hash('sha256', text ?? '', 'base64')}'`;

const inBrowser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

describe('what is not found', () => {
  test.each(['/nothing', '/problems/no_such_reason', '/docs/other', '/assets/none.css'])(
    'is a page for a browser, and a problem document otherwise: %s',
    async (path) => {
      const page = await get(path, inBrowser);
      expect([page.status, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
      expect(page.headers).toMatchObject({
        vary: 'accept',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      });
      expect(page.headers['content-security-policy']).toContain("default-src 'none'");
      expect(page.headers['content-security-policy']).not.toContain('unsafe');
      for (const link of ['/', '/docs/', '/problems/']) expect(page.text).toContain(`href="${link}"`);
      for (const accept of [
        undefined,
        '*/*',
        'application/json',
        'application/problem+json',
        'text/html;q=0.1, application/json',
      ]) {
        const { status, body } = await get(path, { accept });
        expect([status, body], accept).toMatchObject([404, { reason: 'route_not_found' }]);
      }
    },
  );

  test('stays a problem document for what a request names', async () => {
    const { status, body } = await gateway.request('GET', '/api/emrs/none', { headers: inBrowser });
    expect([status, body]).toMatchObject([404, { reason: 'emr_not_found' }]);
  });
});

describe('pages', () => {
  test('redirects /docs to /docs/ without authentication', async () => {
    const { status, headers } = await get('/docs?from=elsewhere');
    expect([status, headers.location]).toEqual([301, '/docs/']);
    expect((await get('/docs/')).text).toContain('"url": "/docs/reference.json"');
  });

  test('the content security policy of the API reference allows its own scripts only', async () => {
    const { headers, text } = await get('/docs/');
    const scripts = [...text.matchAll(/<script(?: type="text\/javascript")?>(.*?)<\/script>/gs)];
    expect(scripts).toHaveLength(2);
    const hashes = scripts.map(([, script]) => sha256(script)).join(' ');
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain(`default-src 'none'`);
    expect(policy).toContain(`;script-src ${hashes} 'self';`);
    expect(policy).not.toContain('https:');
  });

  test('the content security policy of a problem page allows the style sheet of the gateway only', async () => {
    for (const path of ['/problems/', '/problems/ehr_timeout', '/demo/messages']) {
      const { headers } = await get(path);
      expect(headers['content-type'], path).toBe('text/html; charset=utf-8');
      expect(String(headers['content-security-policy']).split(';').sort(), path).toEqual([
        "base-uri 'none'",
        "default-src 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        'img-src data:',
        "script-src 'none'",
        "style-src 'self'",
      ]);
      expect(headers).toMatchObject({ 'x-frame-options': 'DENY', 'cache-control': 'no-store' });
    }
  });

  test('the list of problems links to every reason, and each page to the start, the list and its neighbours', async () => {
    expect((await get('/problems')).headers.location).toBe('/problems/');
    const list = (await get('/problems/')).text;
    const names = Object.keys(reasons);
    for (const [index, reason] of names.entries()) {
      expect(list).toContain(`href="/problems/${reason}"`);
      const { text } = await get(`/problems/${reason}`);
      const near = [names[index - 1], names[index + 1]].filter((it) => it !== undefined);
      for (const path of ['/', '/docs/', '/problems/', ...near.map((it) => `/problems/${it}`)]) {
        expect(text, reason).toContain(`href="${path}"`);
      }
    }
  });

  test('the list of problems links to the first error of each origin and status, and back', async () => {
    const { text } = await get('/problems/');
    const targets = [...text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    const all = Object.values(reasons).flatMap(({ origin, status }) => [origin, `${origin}-${status}`]);
    expect(new Set(targets)).toEqual(new Set([...all, 'statuses', 'content']));
    for (const id of new Set(targets)) expect(text.match(new RegExp(` id="${id}"`, 'g')), id).toHaveLength(1);
    expect(text).toMatch(
      /id="caller-404"><a href="[^"]+"><code>[^<]+<\/code><\/a><\/span><\/span><\/td><td[^>]*><span>404/,
    );
  });

  test('time_slot_unavailable says that the same request can succeed later', async () => {
    const { text } = await get('/problems/time_slot_unavailable');
    expect(text).toContain('<dt>Can the same request succeed later?</dt><dd>Once the time is free again.</dd>');
  });

  test.each(['a[b', '%zz', 'a b:80'])('responds with 400 to the invalid host %s', async (host) => {
    for (const path of ['/docs', '/docs/', '/docs/js/scalar.js']) {
      const { status, body } = await get(path, { host });
      expect([status, body]).toMatchObject([400, { reason: 'request_invalid' }]);
    }
  });

  test.each(['/problems/no_such_reason', '/api/emrs', '/health/live'])('%s keeps the fixed headers', async (path) => {
    const { headers } = await get(path);
    expect(headers).toMatchObject(fixedHeaders);
    expect(headers).not.toHaveProperty('x-frame-options');
  });

  test('serves the OpenAPI description at one path only', async () => {
    expect((await get('/docs/openapi.json')).status).toBe(404);
  });
});
