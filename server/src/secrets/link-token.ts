import { hash, randomBytes } from 'node:crypto';

/** 144 bits: 24 characters in base64url. */
export const linkTokenBytes = 18;
const form = /^[A-Za-z0-9_-]{24}$/;

/** A new token for a URL whose holder needs no other credential. */
export function newLinkToken(): string {
  return randomBytes(linkTokenBytes).toString('base64url');
}

/** Whether the text can be a token. */
export function isLinkToken(text: string): boolean {
  return form.test(text);
}

/** SHA-256: a token has too many bits to be guessed from a fast hash. */
export function hashOfToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
