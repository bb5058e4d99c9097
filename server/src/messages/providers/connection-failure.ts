const kinds: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(ENOTFOUND|EAI_.*|EDNS)$/, 'host_unknown'],
  [/TIMEDOUT|TIMEOUT/, 'timeout'],
  // OpenSSL's codes for certificates (X509_V_ERR_…) and Node's for host names.
  [/CERT|LEAF_SIGNATURE|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|HOSTNAME_MISMATCH/, 'certificate'],
  [/^(ERR_SSL_.*|EPROTO|ETLS)$/, 'tls'],
];

/**
 * Why a provider could not be reached: `connection_refused`, `host_unknown`, `timeout`, `certificate`, `tls`, or
 * `connection` for anything else.
 *
 * @param code the error code of the system, OpenSSL or Node
 */
export function connectionFailure(code: unknown): string {
  if (typeof code !== 'string') return 'connection';
  return kinds.find(([pattern]) => pattern.test(code))?.[1] ?? 'connection';
}
