import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import type { OidcSettings } from '../../config/console-settings.ts';
import type { Role } from '../accounts/roles.ts';
import { type Claims, claimAt, roleOf } from './claims.ts';
import { subjectHash } from './sessions.ts';

/** Seconds for each request to the provider. */
const timeout = 10;

/** What the browser keeps, encrypted, while the provider signs the operator in. */
export interface OidcState {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The metadata of the providers, read once. */
const known = new WeakMap<OidcSettings, Promise<Configuration>>();

function providerOf(settings: OidcSettings): Promise<Configuration> {
  const found = known.get(settings);
  if (found) return found;
  const { issuer, client_id, client_secret } = settings;
  const isPlain = new URL(issuer).protocol === 'http:';
  const loading = discovery(
    new URL(issuer),
    client_id,
    client_secret?.reveal(),
    // Without a secret it is a public client. The configuration allows http:// for loopback addresses only.
    client_secret ? undefined : None(),
    {
      timeout,
      // The signature of the ID token too, not only the TLS connection that it comes over.
      execute: [enableNonRepudiationChecks, ...(isPlain ? [allowInsecureRequests] : [])],
    },
  );
  known.set(settings, loading);
  // The next sign-in tries again.
  loading.catch(() => known.delete(settings));
  return loading;
}

/** The URL of the provider where the operator signs in: authorization code flow with PKCE (RFC 7636), state and nonce. */
export async function beginOidc(
  settings: OidcSettings,
  redirectUri: string,
): Promise<{ readonly url: string; readonly state: OidcState }> {
  const provider = await providerOf(settings);
  const state = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
  const url = buildAuthorizationUrl(provider, {
    redirect_uri: redirectUri,
    scope: settings.scopes.join(' '),
    state: state.state,
    nonce: state.nonce,
    code_challenge: await calculatePKCECodeChallenge(state.verifier),
    code_challenge_method: 'S256',
  });
  return { url: url.href, state };
}

interface OidcOperator {
  /** Begins with `oidc:`, which no account's name does. */
  readonly name: string;
  readonly subjectHash: Buffer;
  /** `undefined`: no claim gives one. */
  readonly role: Role | undefined;
}

/**
 * Returns the operator that the provider has signed in.
 *
 * @param callback the URL to which the provider has sent the browser
 * @throws when the provider rejects the sign-in, does not respond, or its response is not valid
 */
export async function finishOidc(
  settings: OidcSettings,
  callback: URL,
  { state, nonce, verifier }: OidcState,
): Promise<OidcOperator> {
  const provider = await providerOf(settings);
  const tokens = await authorizationCodeGrant(provider, callback, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  });
  const idToken = tokens.claims();
  if (!idToken) throw new Error('The provider sent no ID token');
  // Many providers keep the ID token small.
  const more = provider.serverMetadata().userinfo_endpoint
    ? await fetchUserInfo(provider, tokens.access_token, idToken.sub)
    : {};
  const claims: Claims = { ...idToken, ...more };
  return {
    name: operatorNameOf(claimAt(claims, settings.name_claim ?? 'preferred_username'), idToken.sub),
    subjectHash: subjectHash(idToken.iss, idToken.sub),
    role: roleOf(settings, claims),
  };
}

/** Begins the name of each operator by OpenID Connect, and of no account. */
export const oidcPrefix = 'oidc:';

/** The first of these texts that has visible characters, as the name of an operator. */
function operatorNameOf(...texts: readonly unknown[]): string {
  const [name] = texts
    .filter((it) => typeof it === 'string')
    .map((it) => it.replace(/[\p{C}\u2028\u2029]/gu, '').trim())
    .filter((it) => it !== '');
  return `${oidcPrefix}${[...(name ?? 'unnamed')].slice(0, 100).join('')}`;
}
