import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';

/** Seconds for which a code is shown. RFC 6238 section 5.2 recommends 30. */
const period = 30;
/** Steps by which the clock of a phone may differ. */
const window = 1;

/** A new secret of 160 bits, as RFC 4226 section 4 recommends. */
export function newTotpSecret(): Buffer {
  return randomBytes(20);
}

/** The URI that an authenticator app reads: https://github.com/google/google-authenticator/wiki/Key-Uri-Format */
export function enrolmentUri(secret: Buffer, name: string): string {
  return totpOf(secret, name).toString();
}

/**
 * The time step of a code (RFC 6238), if it is correct at this time and later than the last used step.
 *
 * @param now milliseconds since 1970
 */
export function stepOfCode(secret: Buffer, code: string, lastStep: number, now: number): number | undefined {
  // The library compares bytes, and throws for six characters that are more of them.
  if (!/^[0-9]{6}$/.test(code)) return undefined;
  const delta = totpOf(secret, '').validate({ token: code, timestamp: now, window });
  if (delta === null) return undefined;
  const step = Math.floor(now / 1000 / period) + delta;
  return step > lastStep ? step : undefined;
}

function totpOf(secret: Buffer, label: string): TOTP {
  return new TOTP({
    issuer: 'Crossward',
    label,
    period,
    secret: new Secret({ buffer: new Uint8Array(secret).buffer }),
  });
}

/** What the encrypted secret of an account's one-time codes is bound to. */
export function totpContext(id: string): string {
  return `operator ${id}`;
}
