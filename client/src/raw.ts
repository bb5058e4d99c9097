import createClient, { type Client } from 'openapi-fetch';
import type { PrivateKey } from './access-tokens.ts';
import { withHeaderReferences } from './header-references.ts';
import type { paths } from './schema.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** `GET`, `POST`, … by path, as in the OpenAPI description. Each resolves to `data`, or to the problem as `error`. */
export type RawClient = Pick<Client<paths>, (typeof methods)[number]>;

/** How the client reaches the gateway. */
export interface RawOptions {
  /** Base URL of the gateway, without `/api`: `https://gateway.example`. */
  readonly baseUrl: string;
  readonly clientId: string;
  /** The secret of the client. Or `privateKey`, or `accessToken`. */
  readonly clientSecret?: string;
  /** Signs for access tokens, which the client gets and replaces by itself. */
  readonly privateKey?: PrivateKey;
  /** An access token that you have got. It is sent until it ends, and not replaced. */
  readonly accessToken?: string;
  /** URL of the token endpoint, by the public address of the gateway. Default: `/api/oauth/token` of `baseUrl`. */
  readonly tokenUrl?: string;
  /** Default: the global `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>;
  /**
   * Where identifiers of patients and resources are sent: in headers (the default), so that no proxy logs them, or in the
   * URL, for networks that remove unknown headers. Bodies are sent as they are.
   */
  readonly identifiers?: 'headers' | 'url';
}

interface Init {
  readonly params?: { readonly path?: Record<string, unknown>; readonly query?: Record<string, unknown> };
  readonly headers?: Record<string, string>;
}
type Send = (path: string, init?: Init) => Promise<unknown>;

/**
 * Creates the client below the methods: typed by path, with the credentials, without retries.
 */
export function createRawClient(options: RawOptions): RawClient {
  const { baseUrl, fetch, identifiers } = options;
  const base = createClient<paths>({
    baseUrl,
    headers: credentialHeaders(options),
    // A redirect would send the credentials to another address.
    redirect: 'manual',
    pathSerializer,
    ...(fetch ? { fetch } : {}),
  });
  if (identifiers === 'url') return base;
  const withReferences = (send: Send): Send => {
    return async (path, init = {}) => {
      const { params, headers } = withHeaderReferences(init.params ?? {});
      return send(path, { ...init, params, headers: { ...init.headers, ...headers } });
    };
  };
  return Object.fromEntries(methods.map((method) => [method, withReferences(base[method] as Send)])) as RawClient;
}

/** None with a private key: each request gets a token on its way. */
function credentialHeaders({ clientId, clientSecret, accessToken }: RawOptions): Record<string, string> {
  if (accessToken !== undefined) return { authorization: `Bearer ${accessToken}` };
  if (clientSecret === undefined) return {};
  return { 'x-service-client-id': clientId, 'x-service-client-secret': clientSecret };
}

/** @throws {TypeError} for `..` and the like, which would name another path */
function pathSerializer(path: string, values: Readonly<Record<string, unknown>>): string {
  return path.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => {
    const value = String(values[name] ?? '');
    if (value === '' || value === '.' || value === '..') throw new TypeError(`${name} must be an identifier`);
    return encodeURIComponent(value);
  });
}
