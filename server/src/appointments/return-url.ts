import type { Client } from '../clients/client-registry.ts';
import { isLoopbackHost } from '../config/rules/loopback.ts';
import { inBody } from '../problems/places.ts';
import { problemAt } from '../problems/problem.ts';

/**
 * Where the page for the patient links back to. The configuration of the client lists the URLs that are allowed.
 *
 * @throws Problem `return_url_not_allowed`
 */
export function readReturnUrl(text: string | undefined, { returnUrls }: Pick<Client, 'returnUrls'>) {
  if (text === undefined) return undefined;
  const wanted = URL.canParse(text) ? new URL(text) : undefined;
  if (wanted && !wanted.username && !wanted.password && returnUrls.some((it) => covers(new URL(it), wanted))) {
    return wanted.href;
  }
  throw problemAt(
    inBody('return_url'),
    'return_url_not_allowed',
    'The URL does not begin with a URL that the configuration of this client allows.',
  );
}

/** Same origin, and the same path or one below it. The port of a loopback address may differ (RFC 8252 section 7.3). */
function covers(allowed: URL, wanted: URL): boolean {
  const isSameHost = allowed.protocol === wanted.protocol && allowed.hostname === wanted.hostname;
  if (!isSameHost || (allowed.port !== wanted.port && !isLoopbackHost(allowed.hostname))) return false;
  const folder = allowed.pathname.endsWith('/') ? allowed.pathname : `${allowed.pathname}/`;
  return wanted.pathname === allowed.pathname || wanted.pathname.startsWith(folder);
}
