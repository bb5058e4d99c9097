/** The media type without its parameters, in lower case: `text/html` for `text/HTML; charset=utf-8`. */
export function mediaTypeOf(contentType: string | undefined): string {
  return (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

function charsetOf(contentType: string | undefined): string | undefined {
  return /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType ?? '')?.[1];
}

/**
 * Decodes text by the `charset` of its content type. Without one, or with an unknown one, by its byte order mark; then as
 * UTF-8; and if it is not that, as Windows-1252.
 */
export function decodeText(bytes: Uint8Array, contentType: string | undefined): string {
  const charset = charsetOf(contentType);
  const named = charset === undefined ? undefined : decoder(charset);
  if (named) return named.decode(bytes);
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** `undefined` for an unknown label: https://encoding.spec.whatwg.org/#names-and-labels */
export function decoder(label: string) {
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}
