const kinds: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(ENOTFOUND|EAI_.*|EDNS)$/, 'host_unknown'],
  [/TIMEDOUT|TIMEOUT/, 'timeout'],
  // What OpenSSL says of a certificate (X509_V_ERR_…), and Node of the name in it.
  [/CERT|LEAF_SIGNATURE|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|HOSTNAME_MISMATCH/, 'certificate'],
  [/^(ERR_SSL_.*|EPROTO|ETLS)$/, 'tls'],
];

/**
 * Why a provider could not be reached, in a word that names nobody: `connection_refused`, `host_unknown`, `timeout`,
 * `certificate`, `tls`, or `connection` for anything else.
 *
 * @param code of the error, as the system, OpenSSL or Node gives it
 */
export function connectionFailure(code: unknown): string {
  if (typeof code !== 'string') return 'connection';
  return kinds.find(([pattern]) => pattern.test(code))?.[1] ?? 'connection';
}
