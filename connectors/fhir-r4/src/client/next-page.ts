import { ConnectorError } from '@crossward/connector-kit';
import type { Bundle } from '../fhir.ts';

/**
 * The URL of the next page, always at the configured origin, so that the token is sent to no other host. A server
 * behind a proxy may use another origin in its links.
 */
export function nextPage(bundle: Bundle, base: string): string | undefined {
  const link = bundle.link?.find(({ relation }) => relation === 'next')?.url;
  if (link === undefined) return undefined;
  const url = URL.parse(link, `${base}/`);
  if (!url) throw new ConnectorError('rejected', 'The EHR sent an invalid URL for the next page');
  const { origin, pathname } = new URL(base);
  if (url.origin === origin) return url.href;
  const isFhir = url.pathname === pathname || url.pathname.startsWith(`${pathname.replace(/\/$/, '')}/`);
  if (isFhir) return `${origin}${url.pathname}${url.search}`;
  throw new ConnectorError('rejected', 'The EHR sent a URL of another server for the next page');
}
