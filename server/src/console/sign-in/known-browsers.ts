import { randomBytes } from 'node:crypto';
import type { KeyRing } from '../../secrets/key-ring.ts';

/**
 * A browser in which an operator has signed in before has a cookie that says so (OWASP, "Slow Down Online Guessing Attacks
 * with Device Cookies"). It is no credential: the browser only gets its own count of failures, which nobody else can fill.
 */
interface KnownBrowser {
  readonly name: string;
  /** Random, one for each browser and account. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly signedInAt: number;
}

/** Seconds. */
export const knownFor = 90 * 24 * 60 * 60;
/** Accounts of one browser: a clinic may share a computer. Keeps the cookie below a kilobyte. */
const mostAccounts = 5;
/** What the encrypted cookie is bound to. */
const sealContext = 'console browser that has signed in';

/** The id of the browser for this account, or `undefined` if the account has not signed in there in the last 90 days. */
export function knownBrowser(keys: KeyRing, cookie: string | undefined, name: string): string | undefined {
  return read(keys, cookie).find((it) => it.name === name)?.id;
}

/** The new value of the cookie after a sign-in. */
export function rememberBrowser(keys: KeyRing, cookie: string | undefined, name: string): string {
  const known = read(keys, cookie);
  const id = known.find((it) => it.name === name)?.id ?? randomBytes(16).toString('base64url');
  const others = known.filter((it) => it.name !== name);
  const all: readonly KnownBrowser[] = [{ name, id, signedInAt: Date.now() }, ...others].slice(0, mostAccounts);
  return keys.seal('operator', JSON.stringify(all), sealContext).toString('base64url');
}

function read(keys: KeyRing, cookie = ''): readonly KnownBrowser[] {
  const text = keys.open('operator', Buffer.from(cookie, 'base64url'), sealContext);
  if (text === undefined) return [];
  const all: readonly KnownBrowser[] = JSON.parse(text);
  return all.filter(({ signedInAt }) => Date.now() - signedInAt < knownFor * 1000);
}
