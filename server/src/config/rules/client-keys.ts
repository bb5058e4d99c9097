import { createPublicKey, type JsonWebKey } from 'node:crypto';
import Type from 'typebox';
import { hidesText } from '../../identifiers/hidden-text.ts';
import { isMapping, type Mistake, type Path, quoted } from '../mistakes/mistake.ts';

/** Algorithms (RFC 7518, RFC 8037) with which clients sign, by the type of the key. SMART App Launch 2.2 requires the first two. */
export const assertionAlgorithms = { EC: ['ES384'], RSA: ['RS384'], OKP: ['EdDSA', 'Ed25519'] } as const;
type KeyType = keyof typeof assertionAlgorithms;

const curves: Readonly<Record<string, string>> = { EC: 'P-384', OKP: 'Ed25519' };
/** Members of a JWK that only the owner of the key may have (RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1). */
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const leastRsaBits = 2048;
const longestKid = 200;
const mostKeys = 10;

/** A public key (RFC 7517). */
export interface ClientKey extends JsonWebKey {
  readonly kty: KeyType;
  readonly kid: string;
}

/** The public keys of a client (RFC 7517). The rules are in `keyMistakes`, whose texts never contain a value of a key. */
export const clientKeysSchema = Type.Unsafe<{ readonly keys: readonly ClientKey[] }>({
  type: 'object',
  description:
    'Public keys of the client as a JWK Set, each with a `kid`: RSA of 2048 bits or more, P-384 or Ed25519. Never a private key.',
});

interface Keys {
  readonly jwks?: unknown;
  readonly jwks_uri?: string | undefined;
}

/**
 * What is wrong with the keys of a client. It has at most one of `jwks` and `jwks_uri` (RFC 7591, section 2).
 *
 * @param path of the client
 * @param allowHttp whether `jwks_uri` may be without TLS
 */
export function keyMistakes({ jwks, jwks_uri }: Keys, path: Path, allowHttp: boolean): Mistake[] {
  const mistakes = jwks === undefined ? [] : setMistakes(jwks, [...path, 'jwks']);
  const at = [...path, 'jwks_uri'];
  if (jwks_uri?.startsWith('http:') && !allowHttp) {
    const text = 'must begin with https://, because whoever changes the keys on their way can act as the client';
    mistakes.push({ path: at, at: 'value', text });
  }
  if (jwks !== undefined && jwks_uri !== undefined) {
    mistakes.push({ path: at, at: 'value', text: 'cannot be used together with jwks; choose one' });
  }
  return mistakes;
}

/** Each key of a JWK Set must be a public one with a `kid` of its own. */
function setMistakes(jwks: unknown, path: Path): Mistake[] {
  const keys = isMapping(jwks) ? jwks.keys : undefined;
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > mostKeys) {
    return [{ path, at: 'value', text: `must be a JWK Set: { keys: […] } with 1 to ${mostKeys} public keys` }];
  }
  const kids = keys.map((key) => (isMapping(key) ? key.kid : undefined));
  return keys.flatMap((key: unknown, index): Mistake[] => {
    const text =
      keyMistake(key) ?? (kids.indexOf(kids[index]) < index ? 'has the "kid" of another key in the set' : undefined);
    return text === undefined ? [] : [{ path: [...path, 'keys', index], at: 'value', text }];
  });
}

/** The keys of a JWK Set that a client can sign with. Sets can have others, for other purposes (RFC 7517, section 5). */
export function usableKeys(jwks: unknown): ClientKey[] {
  const keys = isMapping(jwks) ? jwks.keys : undefined;
  if (!Array.isArray(keys)) return [];
  return keys.filter((key): key is ClientKey => keyMistake(key) === undefined);
}

function keyMistake(key: unknown): string | undefined {
  if (!isMapping(key)) return 'must be a JWK: an object with "kty" and "kid"';
  if (key.kty === 'oct') return 'is a symmetric key, which is a secret: use the public key of a key pair';
  const secret = secretMembers.find((member) => member in key);
  if (secret !== undefined)
    return `is a private key: it has the member "${secret}". Replace the key pair, because others may have read it, and give the public key only`;
  if (!isKeyType(key.kty)) return 'must have the "kty" RSA, EC or OKP';
  if (typeof key.kid !== 'string' || key.kid === '' || key.kid.length > longestKid)
    return `must have a "kid" of 1 to ${longestKid} characters, which assertions name`;
  if (key.use !== undefined && key.use !== 'sig') return 'has a "use" other than "sig"';
  // WebCrypto throws for a public key that says it can do more.
  if (key.key_ops !== undefined && JSON.stringify(key.key_ops) !== '["verify"]')
    return 'must have the "key_ops" ["verify"], or none';
  const algorithms: readonly unknown[] = assertionAlgorithms[key.kty];
  if (key.alg !== undefined && !algorithms.includes(key.alg))
    return `must have the "alg" ${algorithms.join(' or ')}, or none`;
  const curve = curves[key.kty];
  if (curve !== undefined && key.crv !== curve) return `must have the "crv" ${curve}`;
  return materialMistake(key);
}

function isKeyType(kty: unknown): kty is KeyType {
  return typeof kty === 'string' && Object.hasOwn(assertionAlgorithms, kty);
}

function materialMistake(key: JsonWebKey): string | undefined {
  const bits = bitsOf(key);
  if (bits === undefined)
    return `is no public key of the "kty" ${quoted(String(key.kty))}: its numbers are missing or wrong`;
  return key.kty === 'RSA' && bits < leastRsaBits ? `must have at least ${leastRsaBits} bits` : undefined;
}

/** `undefined`: it is no key. 0: of another type than RSA. */
function bitsOf(key: JsonWebKey): number | undefined {
  try {
    return createPublicKey({ key, format: 'jwk' }).asymmetricKeyDetails?.modulusLength ?? 0;
  } catch {
    return undefined;
  }
}

/** What is wrong with the name of a client. Operators tell clients apart by it, so that all of it must show as it is written. */
export function nameMistakes(name: string | undefined, path: Path): Mistake[] {
  if (name === undefined || !hidesText(name)) return [];
  const text = 'must not contain control characters, or characters that are invisible or change the direction of text';
  return [{ path, at: 'value', text }];
}
