import type { FastifyInstance } from 'fastify';
import { Problem, problemAt } from '../problems/problem.ts';
import { longestUrl } from './headers.ts';

/**
 * Headers that mean one thing or nothing. Of two, readers take the first, the last or both: a proxy may have judged the
 * other one (RFC 9110, section 5.3; for `host` RFC 9112, section 3.2). Credentials that are sent twice are wrong ones.
 */
const sentOnce: ReadonlySet<string> = new Set(['host', 'content-type', 'idempotency-key']);

/** Refuses a request that could be read in two ways, before anything of it is heeded. */
export function addRequestSyntax(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw }) => {
    assertAddress(raw.url ?? '');
    assertSentOnce(raw.rawHeaders);
  });
}

function assertAddress(url: string): void {
  if (url.length > longestUrl) throw new Problem('uri_too_long');
  // What is not ASCII node has refused; the path is decoded by the router, the query by nobody who would mind.
  const query = url.indexOf('?');
  if (query !== -1 && !isPercentEncoded(url.slice(query))) {
    throw new Problem('request_invalid', { detail: 'The query is not percent-encoded UTF-8.' });
  }
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** @param rawHeaders names and values in turn */
function assertSentOnce(rawHeaders: readonly string[]): void {
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (!sentOnce.has(name)) continue;
    if (seen.has(name)) {
      throw problemAt({ in: 'header', header: name }, 'request_invalid', `The header ${name} is sent more than once.`);
    }
    seen.add(name);
  }
}
