import { hash } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { LruMap } from 'toad-cache';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { Client } from './client-registry.ts';
import { permissionsOf } from './smart-scopes.ts';

/** Seconds that a token lives: the most that SMART App Launch 2.2 recommends for Backend Services. */
export const tokenSeconds = 300;

const algorithm = 'HS256';
/** RFC 9068: no other token of the gateway is taken for an access token. */
const type = 'at+jwt';
/** Verified tokens that are remembered. A token is verified once, not with each request. */
const remembered = 10_000;

/** What a valid token says. What its client may still do is another question. */
export interface AccessToken {
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** The client with what is left of its scopes, for as long as `of` is the client. */
  narrowed?: { readonly of: Client; readonly client: Client };
}

export interface AccessTokens {
  issue(client: Client, scopes: readonly string[]): Promise<string>;
  /** The token, at once if it has been verified before. */
  read(text: string): AccessToken | Promise<AccessToken | 'invalid' | 'expired'> | 'expired';
}

interface Options {
  readonly keys: KeyRing;
  /** The public address of the gateways, without a slash at the end. */
  publicUrl(): string;
  /** The time of the database, which all gateways share. */
  now(): Date;
}

/**
 * Access tokens are JWTs that only gateways issue and verify, with a key derived from the secret key (HMAC-SHA-256). They contain
 * the id of the client and the scopes that were granted.
 */
export function createAccessTokens({ keys, publicUrl, now }: Options): AccessTokens {
  const [newest, ...older] = keys.signingKeys('access-token');
  const byId = new Map([newest, ...older].map(({ id, key }) => [id, key]));
  const known = new LruMap<AccessToken>(remembered, tokenSeconds * 1000);

  async function verify(text: string, digest: string): Promise<AccessToken | 'invalid' | 'expired'> {
    const keyOf = ({ kid }: { kid?: string }) => {
      const key = byId.get(kid ?? '');
      if (!key) throw new errors.JWKSNoMatchingKey();
      return key;
    };
    try {
      const { payload } = await jwtVerify(text, keyOf, {
        algorithms: [algorithm],
        typ: type,
        issuer: publicUrl(),
        audience: `${publicUrl()}/api`,
        requiredClaims: ['sub', 'exp', 'scope'],
        currentDate: now(),
      });
      const { sub = '', exp = 0, scope } = payload;
      const token = { clientId: sub, scopes: String(scope).split(' '), expiresAt: exp * 1000 };
      known.set(digest, token);
      return token;
    } catch (error) {
      return error instanceof errors.JWTExpired ? 'expired' : 'invalid';
    }
  }

  return {
    issue: (client, scopes) =>
      new SignJWT({ scope: scopes.join(' ') })
        .setProtectedHeader({ alg: algorithm, typ: type, kid: newest.id })
        .setIssuer(publicUrl())
        .setAudience(`${publicUrl()}/api`)
        .setSubject(client.id)
        .setIssuedAt(now())
        .setExpirationTime(Math.floor(now().getTime() / 1000) + tokenSeconds)
        .sign(newest.key),
    read(text) {
      // The memory of a process then holds no token that could be used.
      const digest = hash('sha256', text, 'base64');
      const found = known.get(digest);
      if (!found) return verify(text, digest);
      return now().getTime() < found.expiresAt ? found : 'expired';
    },
  };
}

/** The client with those of its scopes that the token gives, so that a scope which it has lost since counts at once. */
export function narrowed(token: AccessToken, client: Client): Client {
  if (token.narrowed?.of !== client) {
    token.narrowed = { of: client, client: { ...client, ...permissionsOf(token.scopes, client) } };
  }
  return token.narrowed.client;
}
