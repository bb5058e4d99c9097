/** @module-tag any-database */
import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../../test/gateway/gateway.ts';
import { fixedHeaders } from './headers.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const get = (path: string, headers = {}) => gateway.request('GET', path, { client: null, headers });
const sha256 = (text: string | undefined) => `'sha256-${hash('sha256', text ?? '', 'base64')}'`;

describe('pages', () => {
  test('redirects /docs to /docs/ without authentication', async () => {
    const { status, headers } = await get('/docs?from=elsewhere');
    expect([status, headers.location]).toEqual([301, '/docs/']);
    expect((await get('/docs/')).text).toContain('"url": "/docs/reference.json"');
  });

  test('the content security policy of the API reference allows its own scripts only', async () => {
    const { headers, text } = await get('/docs/');
    const [, script] = /<script type="text\/javascript">(.*?)<\/script>/s.exec(text) ?? [];
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain(`default-src 'none'`);
    expect(policy).toContain(`;script-src ${sha256(script)} 'self';`);
    expect(policy).not.toContain('https:');
  });

  test('the content security policy of a problem page allows its own style sheet only', async () => {
    const { headers, text } = await get('/problems/ehr_timeout');
    const [, style] = /<style>(.*?)<\/style>/s.exec(text) ?? [];
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(String(headers['content-security-policy']).split(';').sort()).toEqual([
      "base-uri 'none'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "script-src 'none'",
      `style-src ${sha256(style)}`,
    ]);
    expect(headers).toMatchObject({ 'x-frame-options': 'DENY', 'cache-control': 'no-store' });
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
