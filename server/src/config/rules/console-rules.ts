import type { Mistake, Path } from '../mistakes/mistake.ts';
import { isLoopbackHost } from './loopback.ts';
import type { PartialFile } from './partial-file.ts';

/** Checks the URLs of the console, and that operators can sign in. */
export function consoleMistakes({ console }: PartialFile): Mistake[] {
  if (!console) return [];
  const { oidc } = console;
  return [
    ...unusableUrl(console.url, ['console', 'url'], 'because operators enter passwords there'),
    ...unusableUrl(oidc?.issuer, ['console', 'oidc', 'issuer'], 'because it decides who is an operator'),
    ...noWayIn(console),
    ...noOpenId(oidc?.scopes),
  ];
}

function unusableUrl(address: string | undefined, path: Path, why: string): Mistake[] {
  if (address === undefined || !URL.canParse(address)) return [];
  const { protocol, hostname, search, hash } = new URL(address);
  if (search || hash) return [{ path, at: 'value', text: 'must not contain a query or fragment' }];
  if (protocol === 'https:' || isLoopbackHost(hostname)) return [];
  return [{ path, at: 'value', text: `must start with https://, ${why}; http:// is allowed for loopback only` }];
}

function noWayIn(console: NonNullable<PartialFile['console']>): Mistake[] {
  // A value of the wrong type has its own mistake.
  if ('oidc' in console || console.local_accounts) return [];
  if ('local_accounts' in console && console.local_accounts === undefined) return [];
  return [
    { path: ['console'], at: 'value', text: 'needs a way to sign in: set local_accounts: true, or oidc, or both' },
  ];
}

function noOpenId(scopes: readonly (string | undefined)[] | undefined): Mistake[] {
  if (!scopes || scopes.includes('openid') || scopes.includes(undefined)) return [];
  return [{ path: ['console', 'oidc', 'scopes'], at: 'value', text: 'must contain openid' }];
}
