import type { KeyRing } from '../secrets/key-ring.ts';
import type { AuditPosition, AuditSearch } from './search.ts';

/** A page of the result of a search. */
export interface AuditPage {
  readonly search: AuditSearch;
  /** The last entry of the page before. Absent: the first page. */
  readonly before?: AuditPosition;
}

const contextOf = (operator: string) => `audit search of ${operator}`;

/** Encrypts a search and where its page begins, because a search contains an identifier. Only this operator can use it. */
export function sealPage(keys: KeyRing, operator: string, { search, before }: AuditPage): string {
  const position = before && { at: before.at, key: before.key };
  return keys.seal('cursor', JSON.stringify({ search, before: position }), contextOf(operator)).toString('base64url');
}

/** Returns the page, or the mistake as a sentence. */
export function openPage(keys: KeyRing, operator: string, sealed: string): AuditPage | string {
  const text = keys.open('cursor', Buffer.from(sealed, 'base64url'), contextOf(operator));
  if (text === undefined) return 'This page can no longer be shown. Search again.';
  const { search, before } = JSON.parse(text, (key, value) => (isTime(key, value) ? new Date(value) : value));
  return { search, ...(before && { before }) };
}

function isTime(key: string, value: unknown): value is string {
  return typeof value === 'string' && ['at', 'from', 'to'].includes(key);
}
