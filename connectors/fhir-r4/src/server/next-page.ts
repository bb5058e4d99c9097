import { ConnectorError } from '@crossward/connector-kit';
import type { Bundle } from '../fhir.ts';
import { linksOf } from './bundle.ts';

/**
 * The URL of the next page, always at the configured origin, so that the token is sent to no other host. A server
 * behind a proxy may use another base in its links: one with the same path, or one that the settings name.
 *
 * @param otherBases base URLs by which the server names itself
 */
export function nextPage(bundle: Bundle, base: string, otherBases: readonly string[] = []): string | undefined {
  const link = linksOf(bundle).find(({ relation }) => relation === 'next')?.url;
  if (link === undefined) return undefined;
  const url = URL.parse(link, `${base}/`);
  if (!url) throw new ConnectorError('rejected', 'The EHR sent an invalid URL for the next page');
  const { origin, pathname } = new URL(base);
  if (url.origin === origin) return url.href;
  const known = otherBases.flatMap((it) => restAfter(url, it) ?? [])[0];
  if (known !== undefined) return `${base}${known}`;
  const rest = restAfter(url, `${url.origin}${pathname}`);
  if (rest !== undefined) return `${base}${rest}`;
  throw new ConnectorError(
    'rejected',
    'The EHR sent a URL of another server for the next page; if it is its own, add its base to own_base_urls',
  );
}

/** What follows a base in a URL. `undefined`: the URL is not under the base. */
function restAfter({ href }: URL, base: string): string | undefined {
  const start = new URL(base).href.replace(/\/+$/, '');
  const rest = href.slice(start.length);
  return href.startsWith(start) && /^([/?]|$)/.test(rest) ? rest : undefined;
}
