import { type FaultKind, faultText, statusText } from '../log/connection-fault.ts';

/** Attempts that failed before there was a response. */
const faults: ReadonlyMap<string, FaultKind> = new Map<string, FaultKind>([
  ['connection_refused', 'connection_refused'],
  ['host_unknown', 'host_unknown'],
  ['timeout', 'timeout'],
  ['certificate', 'certificate'],
  ['tls', 'tls'],
  ['connection_failed', 'connection'],
]);

const words: Readonly<Record<string, (server: string) => string>> = {
  address_rejected: (server) => `the address of ${server} is not allowed`,
  endpoint_disabled: () => 'the endpoint was disabled',
  not_granted: () => 'the client is no longer granted the care unit',
};

/**
 * The stored reason of a failed delivery in words for operators, without a full stop. Contains host and port of the endpoint
 * alone.
 *
 * @param status of the response, if the reason is `status`
 * @param address host and port of the endpoint, if its URL can be decrypted
 */
export function failureText(reason: string, status: number | null, address = 'the endpoint'): string {
  if (reason === 'status') return statusText(status ?? 0, address);
  const fault = faults.get(reason);
  return fault ? faultText(fault, address) : (words[reason]?.(address) ?? reason);
}
