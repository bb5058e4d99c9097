import { hash } from 'node:crypto';
import helmet, { type FastifyHelmetOptions } from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';

/**
 * Sources that pages may load beyond their own inline scripts and styles, by content security policy directive. With
 * `script-src` `'none'`, not even an inline script runs.
 */
export type Allowances = Readonly<Record<string, readonly string[]>>;

const nothing = ["'none'"];

const headers: FastifyHelmetOptions = {
  // The gateway speaks plain HTTP. HSTS is up to the proxy that terminates TLS.
  strictTransportSecurity: false,
  xFrameOptions: { action: 'deny' },
};

/**
 * Adds routes that serve HTML. Their pages get the headers of `@fastify/helmet` and a content security policy that
 * allows only the page's own inline scripts and styles (by hash) and the allowances. Other responses keep the fixed
 * headers.
 */
export async function addHtmlPages(
  app: FastifyInstance,
  allowances: Allowances,
  addRoutes: (pages: FastifyInstance) => unknown,
): Promise<void> {
  await app.register(async (pages) => {
    await pages.register(helmet, { ...headers, global: false });
    const directivesOf = memoizeLast((html) => policy(html, allowances));
    pages.addHook('onSend', async (_request, reply, payload) => {
      if (typeof payload !== 'string' || !String(reply.getHeader('content-type')).startsWith('text/html')) return;
      // A request that was refused before the plugin began keeps the policy of all responses, which allows nothing.
      if (typeof reply.helmet !== 'function') return;
      reply.removeHeader('content-security-policy');
      reply.helmet({ contentSecurityPolicy: { useDefaults: false, directives: directivesOf(payload) } });
    });
    await addRoutes(pages);
  });
}

function policy(html: string, allowances: Allowances): Record<string, readonly string[]> {
  const sources = allowances['script-src'] ?? [];
  const scripts = sources.includes("'none'") ? [] : [...hashes(html, 'script'), ...sources];
  // Browsers ignore 'unsafe-inline' if a hash is present.
  const styles = allowances['style-src'] ?? hashes(html, 'style');
  return {
    'default-src': nothing,
    'base-uri': nothing,
    'form-action': nothing,
    'frame-ancestors': nothing,
    ...allowances,
    'script-src': scripts.length > 0 ? scripts : nothing,
    'style-src': styles.length > 0 ? styles : nothing,
  };
}

function hashes(html: string, element: 'script' | 'style'): string[] {
  const inline = new RegExp(`<${element}(?![^>]*\\ssrc=)[^>]*>(.*?)</${element}>`, 'gs');
  return [...html.matchAll(inline)].map(([, text = '']) => `'sha256-${hash('sha256', text, 'base64')}'`);
}

function memoizeLast<Result>(compute: (input: string) => Result): (input: string) => Result {
  let last: { readonly input: string; readonly result: Result } | undefined;
  return (input) => {
    if (last?.input !== input) last = { input, result: compute(input) };
    return last.result;
  };
}
