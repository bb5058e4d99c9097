const keyBytes = 32;

/** How to write a secret key, for messages about one that is missing or cannot be read. */
export const secretKeyForm = `${keyBytes} random bytes in base64 or hexadecimal; make it with: openssl rand -base64 ${keyBytes}`;

/** Reads base64, base64url or hexadecimal of exactly 32 bytes. `undefined`: the text is nothing of the kind. */
export function parseSecretKey(text: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  if (/^[0-9a-z+/_-]{43}=?$/i.test(text)) return Buffer.from(text, 'base64');
  return undefined;
}
