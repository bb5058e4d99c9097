import { ConnectorError, type EhrHttp, type EhrRequest } from '@crossward/connector-kit';
import {
  allowInsecureRequests,
  type ClientAuth,
  clientCredentialsGrantRequest,
  customFetch,
  processClientCredentialsResponse,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'oauth4webapi';
import { parse } from '../messages.ts';
import type { Authorizer } from './authorizer.ts';

/** How long before its expiry a token is renewed. A token with a short lifetime is renewed after half of it. */
const renewalMarginMilliseconds = 60_000;
/** Used without `expires_in`, which https://www.rfc-editor.org/rfc/rfc6749#section-5.1 only recommends. */
const assumedSeconds = 300;

export interface TokenSettings {
  readonly client_id: string;
  readonly token_url?: string;
  readonly scope?: string;
  readonly authentication: ClientAuth;
}

interface Token {
  readonly value: string;
  readonly renewAt: number;
}

/**
 * Tokens of the client credentials grant. Uses a token until shortly before it expires, and sends one token request at
 * a time.
 */
export function createTokenSource(settings: TokenSettings, baseUrl: string, http: EhrHttp): Authorizer {
  let token: Token | undefined;
  let renewal: Promise<Token> | undefined;

  /** Concurrent callers share one request. */
  function fetchOnce(): Promise<Token> {
    renewal ??= fetchToken(settings, baseUrl, http)
      .then((fresh) => {
        token = fresh;
        return fresh;
      })
      .finally(() => {
        renewal = undefined;
      });
    return renewal;
  }

  return {
    async headers() {
      const current = token && token.renewAt > Date.now() ? token : await fetchOnce();
      return { authorization: `Bearer ${current.value}` };
    },
    async renew({ authorization }) {
      // Another request may have renewed it already.
      if (token === undefined || authorization === `Bearer ${token.value}`) await fetchOnce();
    },
  };
}

async function fetchToken(settings: TokenSettings, baseUrl: string, http: EhrHttp): Promise<Token> {
  const endpoint = settings.token_url ?? (await discoverTokenEndpoint(baseUrl, http));
  const server = { issuer: new URL(endpoint).origin, token_endpoint: endpoint };
  const client = { client_id: settings.client_id };
  const parameters = new URLSearchParams(settings.scope === undefined ? {} : { scope: settings.scope });
  try {
    const response = await clientCredentialsGrantRequest(server, client, settings.authentication, parameters, {
      [customFetch]: (url, init) => fetchOver(http, url, init),
      // `http` decides whether plain HTTP is allowed.
      [allowInsecureRequests]: true,
    });
    const token = await processClientCredentialsResponse(server, client, await withoutIdToken(response));
    const lifetime = (token.expires_in ?? assumedSeconds) * 1000;
    const margin = Math.min(renewalMarginMilliseconds, lifetime / 2);
    return { value: token.access_token, renewAt: Date.now() + lifetime - margin };
  } catch (error) {
    throw asConnectorError(error);
  }
}

/**
 * Removes an ID token. Medplum and others send one although no user signs in, and the library would reject it for its
 * unknown issuer and signature.
 */
async function withoutIdToken(response: Response): Promise<Response> {
  if (!response.ok) return response;
  const text = await response.text();
  const { status, headers } = response;
  try {
    const { id_token: _, ...rest } = JSON.parse(text);
    return new Response(JSON.stringify(rest), { status, headers });
  } catch {
    return new Response(text, { status, headers });
  }
}

/** An incorrect secret is 401 in the standard and 400 on some servers. The server's own text is left out. */
function asConnectorError(error: unknown): unknown {
  if (error instanceof ConnectorError) {
    // The request that needed the token was not sent, so its outcome is known.
    const lost = ['timeout', 'connection_closed', 'outcome_unknown'].includes(error.kind);
    return lost ? new ConnectorError('unavailable', 'The token endpoint did not respond', { cause: error }) : error;
  }
  if (error instanceof ResponseBodyError) {
    const code = /^[a-z_]{1,40}$/.test(error.error) ? ` (${error.error})` : '';
    return noSignIn(`The token endpoint responded with ${error.status}${code}`);
  }
  if (error instanceof WWWAuthenticateChallengeError) {
    return noSignIn(`The token endpoint responded with ${error.status}`);
  }
  return noSignIn('The token endpoint sent an invalid response');
}

/** Without a token, no request succeeds. */
function noSignIn(message: string): ConnectorError {
  return new ConnectorError('rejected', message, { fault: true });
}

interface FetchInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>> | Headers;
  readonly body?: unknown;
}

/** A `fetch` for `oauth4webapi` that uses the gateway's own HTTP. */
async function fetchOver(http: EhrHttp, url: string, init: FetchInit): Promise<Response> {
  const response = await http.send({
    method: (init.method ?? 'GET') as EhrRequest['method'],
    url,
    headers: Object.fromEntries(new Headers(init.headers)),
    // A server accepts a signed assertion once, so the request must not be sent again.
    repeatable: false,
    writes: false,
    ...(init.body === undefined || init.body === null ? {} : { body: String(init.body) }),
  });
  const isEmpty = response.status === 204 || response.status === 304;
  return new Response(isEmpty ? null : response.text, { status: response.status, headers: { ...response.headers } });
}

/** https://hl7.org/fhir/smart-app-launch/conformance.html#using-well-known */
async function discoverTokenEndpoint(baseUrl: string, http: EhrHttp): Promise<string> {
  const url = `${baseUrl.replace(/\/+$/, '')}/.well-known/smart-configuration`;
  const response = await http.send({ method: 'GET', url, headers: { accept: 'application/json' }, repeatable: true });
  const endpoint = response.status === 200 ? tokenEndpoint(response.text) : undefined;
  if (endpoint !== undefined) return endpoint;
  throw new ConnectorError('rejected', 'The SMART configuration of the EHR names no token endpoint; set token_url');
}

function tokenEndpoint(text: string): string | undefined {
  const { token_endpoint } = (parse(text) ?? {}) as { readonly token_endpoint?: unknown };
  return typeof token_endpoint === 'string' && URL.canParse(token_endpoint) ? token_endpoint : undefined;
}
