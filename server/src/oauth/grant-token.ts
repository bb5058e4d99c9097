import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import { type AccessTokens, tokenSeconds } from '../clients/access-tokens.ts';
import type { Client, ClientRegistry } from '../clients/client-registry.ts';
import { grantedScopes } from '../clients/smart-scopes.ts';
import { assertionAlgorithms } from '../config/rules/client-keys.ts';
import type { Db } from '../db/kysely.ts';
import { type KeySets, KeysUnreadable } from './key-sets.ts';
import { TokenError } from './token-error.ts';
import { useAssertion } from './used-assertions.ts';

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const algorithms = Object.values(assertionAlgorithms).flat();
/** Seconds that an assertion may live (SMART App Launch 2.2), and by which the clock of the client may be wrong. */
const longestLife = 300;
const clockTolerance = 10;
const longestJti = 255;
/** Not which: unknown clients get the same answer as wrong keys. */
const notSigned =
  'The client is unknown, has no such key, or did not sign the assertion with it. If it has several, the header must have the kid.';
const wrongAudience =
  'aud must be the URL of the token endpoint or the issuer in its metadata, which the operator of the gateway sets, and nothing else.';

export interface TokenServices {
  readonly clients: ClientRegistry;
  readonly db: Db;
  readonly keySets: KeySets;
  readonly tokens: AccessTokens;
  tokenUrl(): string;
  /** The address of the gateway that access tokens name. */
  issuer(): string;
  /** The time of the database. */
  now(): Date;
}

/** RFC 6749, section 5.1. */
export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly scope: string;
}

/**
 * Gives a client an access token for an assertion that it has signed: the grant `client_credentials` (RFC 6749, section 4.4) with
 * `private_key_jwt` (RFC 7523, SMART Backend Services).
 *
 * @param begin counts the request of the client, before anything is stored for it
 * @throws {TokenError}
 * @throws the errors of the database, and of `begin`
 */
export async function grantToken(
  services: TokenServices,
  form: URLSearchParams,
  begin: (client: Client) => Promise<void>,
): Promise<TokenResponse> {
  assertSentOnce(form);
  const grant = form.get('grant_type');
  if (grant === null || grant === '') throw new TokenError('invalid_request', 'grant_type is missing.');
  if (grant !== 'client_credentials')
    throw new TokenError('unsupported_grant_type', 'The only grant type is client_credentials.');
  const client = await authenticate(services, form, begin);
  const scopes = grantedScopes(form.get('scope') || undefined, client);
  if (scopes.length === 0) {
    const text = 'The client may have none of the scopes that it asks for. The guide to clients lists them.';
    throw new TokenError('invalid_scope', text, client.id);
  }
  return {
    access_token: await services.tokens.issue(client, scopes),
    token_type: 'Bearer',
    expires_in: tokenSeconds,
    scope: scopes.join(' '),
  };
}

/** RFC 6749, section 3.2: parameters must not be included more than once. */
function assertSentOnce(form: URLSearchParams): void {
  for (const name of ['grant_type', 'scope', 'client_id', 'client_assertion_type', 'client_assertion']) {
    if (form.getAll(name).length > 1) throw new TokenError('invalid_request', `${name} is sent more than once.`);
  }
}

async function authenticate(
  services: TokenServices,
  form: URLSearchParams,
  begin: (client: Client) => Promise<void>,
): Promise<Client> {
  const assertion = form.get('client_assertion') ?? '';
  if (form.get('client_assertion_type') !== assertionType)
    throw new TokenError('invalid_request', `client_assertion_type must be ${assertionType}.`);
  if (assertion === '') throw new TokenError('invalid_request', 'client_assertion is missing.');
  const { clientId, kid } = readUnverified(assertion);
  const invalid = (text: string) => new TokenError('invalid_client', text, clientId);
  const named = form.get('client_id');
  if (named !== null && named !== clientId) throw invalid('client_id is not the issuer of the assertion.');
  const client = services.clients.find(clientId);
  if (!client?.keys) throw invalid(notSigned);
  const payload = await verify(services, client, assertion, kid).catch((error) => {
    const failure = invalid(textOf(error));
    if (error instanceof KeysUnreadable) failure.forOperators = error.message;
    throw failure;
  });
  if (Array.isArray(payload.aud) && payload.aud.length !== 1) throw invalid(wrongAudience);
  const { exp = 0, jti } = payload;
  if (exp > services.now().getTime() / 1000 + longestLife + clockTolerance)
    throw invalid(`exp must be at most ${longestLife} seconds ahead.`);
  if (typeof jti !== 'string' || jti === '' || jti.length > longestJti)
    throw invalid(`jti must be text of 1 to ${longestJti} characters.`);
  await begin(client);
  const expiresAt = new Date((exp + clockTolerance) * 1000);
  if (!(await useAssertion(services.db, { clientId, jti, expiresAt })))
    throw invalid('An assertion with this jti was used before. Sign a new one for each token.');
  return client;
}

/** What says which key to verify with. Nothing else is read before. */
function readUnverified(assertion: string): { readonly clientId: string; readonly kid: string | undefined } {
  const invalid = (text: string) => new TokenError('invalid_client', text);
  let header: ReturnType<typeof decodeProtectedHeader>;
  let payload: JWTPayload;
  try {
    header = decodeProtectedHeader(assertion);
    payload = decodeJwt(assertion);
  } catch {
    throw invalid('client_assertion is no JWT.');
  }
  if (!(algorithms as readonly unknown[]).includes(header.alg))
    throw invalid(`The assertion must be signed with ${algorithms.join(', ')}.`);
  // SMART requires it, RFC 7523 does not.
  if (header.kid !== undefined && (typeof header.kid !== 'string' || header.kid === ''))
    throw invalid('kid in the header of the assertion must be that of the key.');
  const { iss, sub } = payload;
  if (typeof iss !== 'string' || iss !== sub) throw invalid('iss and sub must be the id of the client.');
  return { clientId: iss, kid: header.kid };
}

async function verify(
  { keySets, tokenUrl, issuer, now }: TokenServices,
  { id, keys }: Client,
  assertion: string,
  kid: string | undefined,
): Promise<JWTPayload> {
  if (!keys) throw new errors.JWKSNoMatchingKey();
  const { payload } = await jwtVerify(assertion, await keySets.of(keys, kid), {
    algorithms,
    issuer: id,
    subject: id,
    // The URL for SMART, the issuer for draft-ietf-oauth-rfc7523bis, section 4, as hosts of assistants send it.
    audience: [tokenUrl(), issuer()],
    requiredClaims: ['exp', 'jti'],
    currentDate: now(),
    clockTolerance,
  });
  return payload;
}

/** What is wrong, once the signature is right. */
function textOf(error: unknown): string {
  // Whether such a client exists, and what its host answers, is for operators.
  if (error instanceof KeysUnreadable) return notSigned;
  if (error instanceof errors.JWTExpired) return 'The assertion has expired.';
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud') return wrongAudience;
    return `The claim ${error.claim} of the assertion is missing or wrong.`;
  }
  if (error instanceof errors.JOSEError) return notSigned;
  throw error;
}
