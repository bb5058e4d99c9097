import type { KeyRing } from '../secrets/key-ring.ts';
import { hashOfToken, linkTokenBytes } from '../secrets/link-token.ts';

/** Links to the pages on which patients enter codes. A link is valid for all codes of its confirmation. */
export interface PageLinks {
  /** The hash to store with a new confirmation, or null if there are no pages. */
  hashFor(confirmationId: string): Buffer | null;
  /** The link of a confirmation, or null if it has none. `tokenHash` is what was stored with it. */
  urlOf(confirmationId: string, tokenHash: Buffer | null): string | null;
  /** Whether a token is that of a confirmation. A hash in the database alone does not say so: others may have written it. */
  isTokenOf(confirmationId: string, token: string): boolean;
}

/**
 * A token is a keyed hash of the confirmation's id. So the database stores only a hash of the token, and each response
 * can still show the link.
 *
 * @param publicUrl without a slash at the end. `undefined`: there are no pages.
 */
export function createPageLinks(keys: KeyRing, publicUrl: string | undefined): PageLinks {
  const tokens = (confirmationId: string) =>
    keys.hashes('page', confirmationId).map((it) => it.subarray(0, linkTokenBytes).toString('base64url'));
  return {
    hashFor(confirmationId) {
      const [newest] = tokens(confirmationId);
      return publicUrl === undefined || newest === undefined ? null : hashOfToken(newest);
    },
    urlOf(confirmationId, tokenHash) {
      if (publicUrl === undefined || tokenHash === null) return null;
      const token = tokens(confirmationId).find((it) => hashOfToken(it).equals(tokenHash));
      return token === undefined ? null : `${publicUrl}/c/${token}`;
    },
    // What was given is compared by its hash, whose parts an attacker cannot choose.
    isTokenOf: (confirmationId, token) =>
      tokens(confirmationId).some((it) => hashOfToken(it).equals(hashOfToken(token))),
  };
}
