import { type FaultKind, faultText, statusText } from '../log/connection-fault.ts';

const connection: ReadonlySet<string> = new Set<FaultKind>([
  'connection_refused',
  'host_unknown',
  'timeout',
  'certificate',
  'tls',
  'connection',
]);

const words: Readonly<Record<string, string>> = {
  expired: 'the code expired before an attempt was made',
  no_sender: 'no provider is configured for this channel',
  unreadable: 'the message cannot be decrypted',
  configuration: 'the mail server’s settings are incorrect',
  address_invalid: 'the provider does not accept the address',
  elks_failed: 'the provider reports that it failed',
  undelivered: 'the provider reports that it did not arrive',
};

const replies: Readonly<Record<string, (server: string, code: string) => string>> = {
  http: (server, code) => statusText(Number(code), server),
  smtp: (server, code) => `reply ${code} from ${server}`,
  twilio: (_server, code) => `error ${code} of Twilio`,
  credentials_rejected: (server, code) => `${server} rejected the user name or password (${code})`,
  recipient_rejected: (server, code) => `${server} rejected the recipient (${code})`,
  sender_rejected: (server, code) => `${server} rejected the sender (${code})`,
  starttls_rejected: (server, code) => `${server} offers no STARTTLS (${code})`,
};

/**
 * The stored reason of a failed message in words for operators, without a full stop. Contains host and port of the provider
 * alone.
 *
 * @param address host and port of the provider, if it has any
 */
export function messageFailureText(reason: string, address = 'the provider'): string {
  if (isFault(reason)) return faultText(reason, address);
  if (reason === 'response_malformed') return `the answer of ${address} is not that of the provider`;
  if (reason === 'credentials_rejected') return `${address} rejected the user name or password`;
  const [, kind = '', code = ''] = /^([a-z_]+)_(\d+)$/.exec(reason) ?? [];
  return replies[kind]?.(address, code) ?? words[reason] ?? reason;
}

function isFault(reason: string): reason is FaultKind {
  return connection.has(reason);
}
