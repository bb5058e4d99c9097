import type { FastifyInstance } from 'fastify';
import { Problem, problemAt } from '../../problems/problem.ts';
import { longestUrl } from './headers.ts';

/**
 * Headers that must not be repeated (RFC 9110 section 5.3; for `host` RFC 9112 section 3.2). A proxy in front might use
 * the other one of two values. Repeated credentials are treated as incorrect credentials.
 */
const sentOnce: ReadonlySet<string> = new Set(['host', 'content-type', 'idempotency-key', 'authorization']);

/** Rejects ambiguous requests before any other processing. */
export function addRequestSyntax(app: FastifyInstance): void {
  // Asynchronous, so that a short body has arrived before a later hook rejects the request: `addUnreadBody` closes the
  // connection if it has not. The other hooks are not, because each promise costs time.
  app.addHook('onRequest', async ({ raw }) => {
    assertAddress(raw.url ?? '');
    assertHost(raw.headers.host ?? '');
    assertSentOnce(raw.rawHeaders);
  });
}

function assertAddress(url: string): void {
  if (url.length > longestUrl) throw new Problem('uri_too_long');
  // Node rejects non-ASCII, and the router checks the path. The query parser accepts invalid encoding, so check it
  // here.
  if (firstPart.exec(url)?.[1]?.includes('%')) {
    throw new Problem('route_not_found', { detail: 'No path has a percent sign in its first part.' });
  }
  const query = url.indexOf('?');
  if (query !== -1 && !isPercentEncoded(url.slice(query))) {
    throw new Problem('request_invalid', { detail: 'The query is not valid percent-encoded UTF-8.' });
  }
}

/** The first part of a path, which proxies compare as it is written. */
const firstPart = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/?#]*)?\/([^/?#]*)/i;

/** RFC 3986, section 3.2.2, and a port. */
const host = /^(?:\[[0-9A-Za-z:.]*\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/;

function assertHost(text: string): void {
  if (host.test(text)) return;
  throw problemAt({ in: 'header', header: 'host' }, 'request_invalid', 'The host header is not the name of a host.');
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** @param rawHeaders names and values, alternating */
function assertSentOnce(rawHeaders: readonly string[]): void {
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (!sentOnce.has(name)) continue;
    if (seen.has(name)) {
      throw problemAt({ in: 'header', header: name }, 'request_invalid', `The ${name} header is sent more than once.`);
    }
    seen.add(name);
  }
}
