import { expect, it } from 'vitest';
import { connectionFailure } from './connection-failure.ts';

it.each([
  ['ECONNREFUSED', 'connection_refused'],
  ['ENOTFOUND', 'host_unknown'],
  ['EAI_AGAIN', 'host_unknown'],
  ['EDNS', 'host_unknown'],
  ['ETIMEDOUT', 'timeout'],
  ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate'],
  ['CERT_HAS_EXPIRED', 'certificate'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls'],
  ['ECONNRESET', 'connection'],
  ['anna@example.org', 'connection'],
  [undefined, 'connection'],
])('%s is %s', (code, word) => {
  expect(connectionFailure(code)).toBe(word);
});
