import { isIP } from 'node:net';
import { mayConnectTo } from './addresses.ts';

export interface AddressRules {
  readonly allow_private_addresses: boolean;
  readonly allow_http: boolean;
}

/** Characters of a URL. */
export const longestEhrUrl = 2000;

/**
 * Returns why a URL of a client, such as a webhook endpoint, cannot be used, or `undefined` if it can. The address of a host name is checked later, for each
 * connection.
 */
export function urlMistake(text: string, { allow_private_addresses, allow_http }: AddressRules): string | undefined {
  if (text.length > longestEhrUrl) return `The URL has more than ${longestEhrUrl} characters.`;
  const url = URL.parse(text);
  if (!url) return 'The text is not a URL.';
  if (url.protocol !== 'https:' && !(allow_http && url.protocol === 'http:'))
    return 'The URL must begin with https://.';
  if (url.username !== '' || url.password !== '') return 'The URL must not contain a user name or a password.';
  if (url.hash !== '') return 'The URL must not have a fragment.';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isPrivate = isIP(host)
    ? !mayConnectTo(host, allow_private_addresses)
    : isLocalName(host) && !allow_private_addresses;
  return isPrivate ? 'The URL has a loopback, private or link-local address.' : undefined;
}

/** RFC 6761: these names are loopback addresses. */
function isLocalName(host: string): boolean {
  return /(^|\.)localhost\.?$/.test(host);
}
