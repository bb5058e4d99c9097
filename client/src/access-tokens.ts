import type { CryptoKey, JWK } from 'jose';
import type { Fetch } from './attempt.ts';
import { TokenRejected } from './token-rejected.ts';

/** A private key with which the client signs, instead of a secret. */
export interface PrivateKey {
  /** PKCS #8 in PEM, or a JWK: P-384 (`ES384`), RSA (`RS384`) or Ed25519 (`EdDSA`). */
  readonly key: string | JWK;
  /** The `kid` of the public key, as the gateway knows it. Default: that of the JWK. */
  readonly keyId?: string;
}

/** Where tokens come from, and who asks for them. */
interface TokenSource {
  readonly clientId: string;
  readonly privateKey: PrivateKey;
  readonly tokenUrl: string;
  readonly fetch: Fetch;
}

interface Token {
  readonly text: string;
  /** By `performance.now()`. */
  readonly renewAt: number;
}

/** Seconds. Clocks may differ by some seconds, and a retry signs anew. */
const assertionSeconds = 120;
/** Milliseconds before its end when a token is replaced, so that none ends on its way. */
const margin = 30_000;

/** Milliseconds. */
const longestWait = 30_000;

const algorithms = { EC: 'ES384', RSA: 'RS384', OKP: 'EdDSA' } as const;

/**
 * Sends requests with an access token, which is kept and replaced before it ends. If the gateway does not accept a kept token,
 * the request is sent again with a new one. If the gateway gives no token for now, its response is that of the request.
 *
 * @returns a `fetch`, which rejects with `TokenRejected`
 */
export function withAccessToken({ fetch, ...source }: TokenSource): Fetch {
  const signing = once(() => importKey(source.privateKey));
  let known: Token | undefined;
  let asking: Promise<Token | Response> | undefined;

  async function ask(): Promise<Token | Response> {
    const askedAt = performance.now();
    const response = await fetch(await tokenRequest(source, await signing()));
    if (!response.ok) return rejection(response);
    const { access_token: text, expires_in: seconds } = (await response.json()) as Record<string, unknown>;
    if (typeof text !== 'string' || typeof seconds !== 'number')
      throw new TypeError('The response has no access token');
    known = { text, renewAt: askedAt + Math.max(seconds * 500, seconds * 1000 - margin) };
    return known;
  }

  /** All requests wait for one token. */
  function newToken(): Promise<Token | Response> {
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  }

  return async (request) => {
    const kept = known && performance.now() < known.renewAt ? known : undefined;
    const spare = kept ? request.clone() : undefined;
    const token = kept ?? (await unlessAborted(newToken(), request.signal));
    if (token instanceof Response) return token.clone();
    const response = await fetch(authorized(request, token));
    if (response.status !== 401 || !spare) return response;
    if (known === kept) known = undefined;
    const renewed = known ?? (await unlessAborted(newToken(), request.signal));
    return renewed instanceof Response ? renewed.clone() : fetch(authorized(spare, renewed));
  };
}

/** A request that is given up does not wait for the token, which others may still need. */
function unlessAborted<Result>(result: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    result.finally(() => signal.removeEventListener('abort', abort)).then(resolve, reject);
  });
}

function authorized(request: Request, { text }: Token): Request {
  request.headers.set('authorization', `Bearer ${text}`);
  return request;
}

/** Only clients with a private key load it. Browsers, which have none, need no import map. */
const jose = () => import('jose');

interface SigningKey {
  readonly key: CryptoKey | Uint8Array;
  readonly algorithm: string;
  readonly keyId: string;
}

async function tokenRequest(
  { clientId, tokenUrl }: Pick<TokenSource, 'clientId' | 'tokenUrl'>,
  { key, algorithm, keyId }: SigningKey,
): Promise<Request> {
  const { SignJWT } = await jose();
  const assertion = await new SignJWT()
    .setProtectedHeader({ alg: algorithm, kid: keyId, typ: 'JWT' })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(tokenUrl)
    .setIssuedAt()
    .setExpirationTime(`${assertionSeconds}s`)
    .setJti(crypto.randomUUID())
    .sign(key);
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
  });
  return new Request(tokenUrl, { method: 'POST', body, redirect: 'manual', signal: AbortSignal.timeout(longestWait) });
}

/** Problems are left to the caller, as those of any other request. */
async function rejection(response: Response): Promise<Response> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  const { error, error_description: description } = (body ?? {}) as Record<string, unknown>;
  if (typeof error !== 'string') return response;
  throw new TokenRejected(error, String(description ?? error));
}

async function importKey({ key, keyId }: PrivateKey): Promise<SigningKey> {
  const { importPKCS8, importJWK } = await jose();
  const possible =
    typeof key === 'string' ? Object.values(algorithms) : [algorithms[key.kty as keyof typeof algorithms]];
  for (const algorithm of possible) {
    const importing = typeof key === 'string' ? importPKCS8(key, algorithm) : importJWK(key, algorithm);
    // The error can quote the key.
    const imported = await importing.catch(() => undefined);
    const kid = typeof key === 'string' ? '' : (key.kid ?? '');
    if (imported) return { key: imported, algorithm, keyId: keyId ?? kid };
  }
  throw new TokenRejected('invalid_key', 'privateKey.key must be P-384, RSA or Ed25519, in PKCS #8 or as a JWK');
}

function once<Result>(make: () => Promise<Result>): () => Promise<Result> {
  let made: Promise<Result> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
