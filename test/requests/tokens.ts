import { randomUUID } from 'node:crypto';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import type { Configuration } from '../../server/src/config/configuration.ts';
import type { ClientKey } from '../../server/src/config/rules/client-keys.ts';
import type { Gateway, GatewayResponse } from '../gateway/gateway.ts';

/** The public address of gateways in tests, which is not where they listen. */
export const apiUrl = 'https://api.gateway.example';
export const tokenUrl = `${apiUrl}/api/oauth/token`;

/** A key pair of a client. */
export interface TestKey {
  readonly algorithm: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: ClientKey;
}

export async function newKey(kid: string, algorithm = 'ES384'): Promise<TestKey> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  return { algorithm, privateKey, publicKey: { ...(await exportJWK(publicKey)), kid } as ClientKey };
}

/** Gives gateways the public address, and the client `id` the keys. It may do what `everything` may. */
export function withKeyClient(
  configuration: Configuration,
  id: string,
  keys: Pick<Configuration['clients'][number], 'jwks' | 'jwks_uri'>,
): Configuration {
  const model = configuration.clients.find((client) => client.id === 'everything');
  if (!model) throw new Error('The configuration has no client `everything`');
  const client = { ...model, id, name: id, secrets: [], ...keys };
  return {
    ...configuration,
    clients: [...configuration.clients, client],
    http: { ...configuration.http, api_url: apiUrl },
  };
}

interface AssertionChange {
  readonly claims?: { readonly [Claim in keyof JWTPayload]?: JWTPayload[Claim] | undefined };
  readonly header?: Readonly<Record<string, unknown>>;
}

/** An assertion that is right, but for the changes. */
export function signAssertion(id: string, key: TestKey, { claims, header }: AssertionChange = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const payload = { iss: id, sub: id, aud: tokenUrl, exp: now + 240, jti: randomUUID(), ...claims };
  return new SignJWT(payload as JWTPayload)
    .setProtectedHeader({ alg: key.algorithm, kid: key.publicKey.kid, typ: 'JWT', ...header })
    .sign(key.privateKey);
}

interface TokenBody {
  readonly access_token: string;
  readonly token_type: string;
  readonly expires_in: number;
  readonly scope: string;
  readonly error?: string;
  readonly error_description?: string;
  readonly reason?: string;
}

/** Asks for a token with an assertion. */
export function requestToken(
  gateway: Gateway,
  assertion: string,
  more: Readonly<Record<string, string>> = {},
): Promise<GatewayResponse<TokenBody>> {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
    ...more,
  });
  return gateway.request('POST', '/api/oauth/token', {
    client: null,
    body: form.toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
}

/** Options of a request with an access token. */
export function withToken(token: string): { client: null; headers: { authorization: string } } {
  return { client: null, headers: { authorization: `Bearer ${token}` } };
}
