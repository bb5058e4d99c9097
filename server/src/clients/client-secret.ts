import { hash, randomBytes } from 'node:crypto';

/** A new secret: 256 random bits, in base64url. It is shown once, and only its hash is stored. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * SHA-256. Secrets are random with 256 bits, so a plain hash is enough: guessing them is infeasible even with a fast one.
 */
export function hashOfSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
