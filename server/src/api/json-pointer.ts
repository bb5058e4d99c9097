/** Whether a name chosen by the caller may be echoed: only if it cannot be a personal number, an identifier or a secret. */
export function isEchoable(name: string): boolean {
  return /^[A-Za-z_-]{1,40}$/.test(name);
}

/** Escapes one segment of a JSON Pointer (RFC 6901 section 3). */
export function escapedToken(property: string): string {
  return property.replaceAll('~', '~0').replaceAll('/', '~1');
}
