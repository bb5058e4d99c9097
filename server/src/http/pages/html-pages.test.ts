import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { type Allowances, addHtmlPages } from './html-pages.ts';

const page = '<!doctype html><script>1</script><style>p{}</style>';

async function policyWith(allowances: Allowances): Promise<string[]> {
  const app = Fastify();
  await addHtmlPages(app, allowances, (pages) => {
    pages.get('/', async (_request, reply) => reply.type('text/html; charset=utf-8').send(page));
  });
  const { headers } = await app.inject('/');
  await app.close();
  return String(headers['content-security-policy']).split(';');
}

test('allows only the inline scripts and styles of the page itself, and the allowances', async () => {
  const policy = await policyWith({ 'img-src': ['data:'] });
  expect(policy.sort()).toEqual([
    "base-uri 'none'",
    "default-src 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    'img-src data:',
    expect.stringMatching(/^script-src 'sha256-[\w+/=]{44}'$/),
    expect.stringMatching(/^style-src 'sha256-[\w+/=]{44}'$/),
  ]);
});

test('does not allow an inline script on pages without scripts', async () => {
  const policy = await policyWith({ 'script-src': ["'none'"] });
  expect(policy).toContain("script-src 'none'");
});
