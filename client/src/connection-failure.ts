/** By code: of the system (Node.js), of its `fetch` (undici), or of OpenSSL. Browsers tell none. */
const causes: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'connection refused'],
  [/^ENOTFOUND$/, 'unknown host name'],
  [/^EAI_/, 'the host name was not resolved'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'connection closed by the server'],
  [/^(EHOSTUNREACH|ENETUNREACH)$/, 'no route to the server'],
  [/TIMEDOUT|TIMEOUT/, 'no response in time'],
  [/^CERT_HAS_EXPIRED$/, 'its certificate has expired'],
  [/CERT|LEAF_SIGNATURE|ALTNAME/, 'its certificate was not accepted'],
  [/^(ERR_SSL_|EPROTO)/, 'the TLS handshake failed'],
];

/** Why a request got no response, with the origin of the gateway. Contains nothing else of the request. */
export function describeFailure(origin: string, error: unknown): string {
  const code = codeOf(error);
  const known = causes.find(([pattern]) => pattern.test(code))?.[1];
  const text = `The connection to ${origin} failed`;
  if (known !== undefined) return `${text}: ${known} (${code})`;
  return code === '' ? text : `${text} (${code})`;
}

/** `fetch` of Node.js has the code in the `cause`. */
function codeOf(error: unknown): string {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth += 1) {
    if ('code' in current && typeof current.code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(current.code))
      return current.code;
  }
  return '';
}
