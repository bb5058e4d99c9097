import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomFillSync,
} from 'node:crypto';

const nonceBytes = 12;
const tagBytes = 16;
const keyIdBytes = 4;

/** Purposes of derived keys. Separate keys limit the effect of a leaked key. */
export type Purpose =
  | 'cursor'
  | 'message'
  | 'write'
  | 'confirmation'
  | 'event'
  | 'idempotency'
  | 'upload'
  | 'webhook'
  | 'operator'
  | 'emr'
  | 'audit'
  | 'assistant'
  | 'watch'
  | 'identifier';
/** Purposes of keys with which the gateway signs what only gateways verify (HMAC-SHA-256). */
type SigningPurpose = 'access-token' | 'proof';
/** Purposes of texts that are encrypted to the same bytes each time. */
type AlikePurpose = 'patient-token';
export type HashPurpose =
  | 'code'
  | 'page'
  | 'patient'
  | 'idempotency-key'
  | 'request'
  | 'identifier-hash'
  | 'sign-in'
  | 'failed-credentials'
  | 'wrong-name'
  | 'reload'
  | 'ehr-configuration'
  | 'key-check';

/** Encrypts with the newest secret key, decrypts with any (AES-256-GCM, a key per purpose: RFC 5869). Sealed text names its key. */
export interface KeyRing {
  /** Encrypts. `context` is authenticated but not stored; opening requires the same one. */
  seal(purpose: Purpose, plain: string | Uint8Array, context: string): Buffer;
  /**
   * Encrypts the same text in the same context to the same bytes while the newest key stays: whoever sees two of them knows
   * whether they are of the same text. The nonce is a keyed hash of text and context.
   */
  sealAlike(purpose: AlikePurpose, plain: string, context: string): Buffer;
  /** Decrypts text. Returns `undefined` if it was not sealed with a known key for this purpose and context. */
  open(purpose: Purpose | AlikePurpose, sealed: Buffer, context: string): string | undefined;
  /** Whether a sealed text was encrypted with the newest key. */
  isUnderNewest(sealed: Buffer): boolean;
  /** Decrypts bytes, otherwise as `open`. */
  openBytes(purpose: Purpose, sealed: Buffer, context: string): Buffer | undefined;
  /** Keyed hashes of a text (HMAC-SHA-256, RFC 2104), one per key. Store the first, of the newest; find older data by the others. */
  hashes(purpose: HashPurpose, text: string): [Buffer, ...Buffer[]];
  /** The key to sign with first; the others verify what was signed with older secret keys. */
  signingKeys(purpose: SigningPurpose): readonly [SigningKey, ...SigningKey[]];
}

export interface SigningKey {
  /** 8 hexadecimal digits, which reveal nothing about the key. */
  readonly id: string;
  readonly key: KeyObject;
}

/** Random bytes for nonces, drawn in advance, because each draw costs more than the rest of the encryption. */
const drawn = Buffer.alloc(256 * nonceBytes);
let used = drawn.length;

function newNonce(): Buffer {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  used += nonceBytes;
  return Buffer.from(drawn.subarray(used - nonceBytes, used));
}

/** @param keys 32 bytes each, the newest first. */
export function createKeyRing([first, ...older]: readonly [Buffer, ...Buffer[]]): KeyRing {
  const newest = keyOf(first);
  const keys = [newest, ...older.map(keyOf)];
  const byId = new Map(keys.map((key) => [key.id.toString('hex'), key]));

  function openBytes(purpose: Purpose | AlikePurpose, sealed: Buffer, context: string): Buffer | undefined {
    const key = byId.get(sealed.subarray(0, keyIdBytes).toString('hex'));
    if (!key || sealed.length < keyIdBytes + nonceBytes + tagBytes) return undefined;
    const rest = sealed.subarray(keyIdBytes);
    try {
      const nonce = rest.subarray(0, nonceBytes);
      const decipher = createDecipheriv('aes-256-gcm', key.of(purpose), nonce, { authTagLength: tagBytes })
        .setAAD(Buffer.from(context))
        .setAuthTag(rest.subarray(nonceBytes, nonceBytes + tagBytes));
      return Buffer.concat([decipher.update(rest.subarray(nonceBytes + tagBytes)), decipher.final()]);
    } catch {
      return undefined;
    }
  }

  function sealWith(
    nonce: Buffer,
    purpose: Purpose | AlikePurpose,
    plain: string | Uint8Array,
    context: string,
  ): Buffer {
    const cipher = createCipheriv('aes-256-gcm', newest.of(purpose), nonce).setAAD(Buffer.from(context));
    const begun = typeof plain === 'string' ? cipher.update(plain, 'utf8') : cipher.update(plain);
    const rest = cipher.final();
    return Buffer.concat([newest.id, nonce, cipher.getAuthTag(), begun, rest]);
  }

  return {
    seal: (purpose, plain, context) => sealWith(newNonce(), purpose, plain, context),
    sealAlike(purpose, plain, context) {
      const hash = createHmac('sha256', newest.of(`${purpose}-nonce`))
        .update(JSON.stringify([context, plain]))
        .digest();
      return sealWith(hash.subarray(0, nonceBytes), purpose, plain, context);
    },
    open: (purpose, sealed, context) => openBytes(purpose, sealed, context)?.toString('utf8'),
    openBytes,
    isUnderNewest: (sealed) => sealed.subarray(0, keyIdBytes).equals(newest.id),
    hashes(purpose, text) {
      const hash = (key: RingKey) => createHmac('sha256', key.of(purpose)).update(text).digest();
      return [hash(newest), ...keys.slice(1).map(hash)];
    },
    signingKeys(purpose) {
      const signing = (key: RingKey): SigningKey => ({ id: key.id.toString('hex'), key: key.of(purpose) });
      return [signing(newest), ...keys.slice(1).map(signing)];
    },
  };
}

/** The values that identify a secret key in the database without revealing it. */
export interface KeyIdentity {
  /** 8 hexadecimal digits. Text sealed with the key starts with it. */
  readonly id: string;
  /** A keyed hash (HMAC-SHA-256) with its own purpose. */
  readonly checkValue: Buffer;
}

/** @param key 32 bytes. */
export function keyIdentity(key: Buffer): KeyIdentity {
  const ring = keyOf(key);
  const checkValue = createHmac('sha256', ring.of('key-check')).update('crossward key check').digest();
  return { id: ring.id.toString('hex'), checkValue };
}

type DerivedFor = Purpose | SigningPurpose | AlikePurpose | `${AlikePurpose}-nonce` | HashPurpose;

interface RingKey {
  readonly id: Buffer;
  /** The key for a purpose, derived from this one. */
  of(purpose: DerivedFor): KeyObject;
}

function keyOf(key: Buffer): RingKey {
  const derived = new Map<DerivedFor, KeyObject>();
  return {
    id: keyId(key),
    of(purpose) {
      const known = derived.get(purpose);
      if (known) return known;
      const made = createSecretKey(Buffer.from(hkdfSync('sha256', key, '', `crossward ${purpose}`, 32)));
      derived.set(purpose, made);
      return made;
    },
  };
}

/** Id of the key, which reveals nothing about it. */
function keyId(key: Buffer): Buffer {
  return createHash('sha256').update('crossward key id').update(key).digest().subarray(0, keyIdBytes);
}
