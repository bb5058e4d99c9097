/** A name the caller made up may be told back only when it cannot be somebody's number, an identifier or a secret. */
export function isSpeakable(name: string): boolean {
  return /^[A-Za-z_-]{1,40}$/.test(name);
}

/** A part of a JSON Pointer (RFC 6901, section 3). */
export function escaped(property: string): string {
  return property.replaceAll('~', '~0').replaceAll('/', '~1');
}
