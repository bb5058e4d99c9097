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
import type { Authorizer } from './authorizer.ts';
import { discoverTokenEndpoint } from './smart-configuration.ts';

/** A token is renewed this long before it ends, or after half its life where that is shorter. */
const renewalMarginMilliseconds = 60_000;
/** For a server that does not say: https://www.rfc-editor.org/rfc/rfc6749#section-5.1 only recommends `expires_in`. */
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

/** Tokens of the client credentials grant: kept until shortly before they end, and fetched one at a time. */
export function createTokenSource(settings: TokenSettings, baseUrl: string, http: EhrHttp): Authorizer {
  let token: Token | undefined;
  let renewal: Promise<Token> | undefined;

  /** Whoever comes while one is on its way waits for that one. */
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
      // Somebody else may have renewed it while this answer was on its way.
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
      // Whether plain HTTP is allowed is for whoever made `http` to say.
      [allowInsecureRequests]: true,
    });
    const answer = await processClientCredentialsResponse(server, client, await withoutIdToken(response));
    const lifetime = (answer.expires_in ?? assumedSeconds) * 1000;
    const margin = Math.min(renewalMarginMilliseconds, lifetime / 2);
    return { value: answer.access_token, renewAt: Date.now() + lifetime - margin };
  } catch (error) {
    throw asConnectorError(error);
  }
}

/**
 * There is nobody whom an ID token could be about, yet Medplum and others send one, which the library would refuse for
 * an issuer and a signature that it knows nothing of.
 */
async function withoutIdToken(response: Response): Promise<Response> {
  if (!response.ok) return response;
  const text = await response.text();
  const { status, headers } = response;
  try {
    const { id_token: _, ...answer } = JSON.parse(text);
    return new Response(JSON.stringify(answer), { status, headers });
  } catch {
    return new Response(text, { status, headers });
  }
}

/** A wrong secret is 401 by the standard and 400 on some servers. The server's own words stay out. */
function asConnectorError(error: unknown): unknown {
  if (error instanceof ConnectorError) {
    // The lost answer to a request for a token leaves nothing behind: whatever was to be sent with it was not sent.
    const lost = error.kind === 'timeout' || error.kind === 'outcome_unknown';
    return lost ? new ConnectorError('unavailable', 'The token endpoint did not answer', { cause: error }) : error;
  }
  if (error instanceof ResponseBodyError) {
    const code = /^[a-z_]{1,40}$/.test(error.error) ? ` (${error.error})` : '';
    return new ConnectorError('rejected', `The token endpoint answered ${error.status}${code}`);
  }
  if (error instanceof WWWAuthenticateChallengeError) {
    return new ConnectorError('rejected', `The token endpoint answered ${error.status}`);
  }
  return new ConnectorError('rejected', 'The token endpoint gave an answer that is none');
}

interface FetchInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>> | Headers;
  readonly body?: unknown;
}

/** What `oauth4webapi` takes for `fetch`, by way of the gateway's own HTTP. */
async function fetchOver(http: EhrHttp, url: string, init: FetchInit): Promise<Response> {
  const response = await http.send({
    method: (init.method ?? 'GET') as EhrRequest['method'],
    url,
    headers: Object.fromEntries(new Headers(init.headers)),
    // A signed assertion is taken once only, so the request must not be sent again as it is.
    repeatable: false,
    ...(init.body === undefined || init.body === null ? {} : { body: String(init.body) }),
  });
  const isEmpty = response.status === 204 || response.status === 304;
  return new Response(isEmpty ? null : response.text, { status: response.status, headers: { ...response.headers } });
}
