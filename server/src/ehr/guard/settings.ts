import type { Connector } from '@crossward/connector-kit';
import type { ConnectionSettings } from '../../config/schema/connection.ts';
import type { EhrHttpSettings } from './ehr-http.ts';
import type { EhrTls } from './ehr-tls.ts';
import type { GuardSettings } from './guard.ts';
import type { Pace } from './pace.ts';

/** Milliseconds without progress after which a download ends. Longer than a caller's network is likely to pause. */
const idleDownloadMs = 30_000;

export function guardSettings(connection: ConnectionSettings): GuardSettings {
  return {
    timeoutMs: connection.timeout_ms,
    concurrency: connection.concurrency,
    queue: connection.queue,
    queueTimeoutMs: connection.queue_timeout_ms,
    streams: { idleMs: idleDownloadMs, totalMs: connection.transfer_timeout_ms },
    breaker: { failures: connection.breaker.failures, resetSeconds: connection.breaker.reset_seconds },
  };
}

export function httpSettings(connection: ConnectionSettings, tls: EhrTls | undefined): EhrHttpSettings {
  return {
    connectTimeoutMs: connection.connect_timeout_ms,
    requestTimeoutMs: connection.request_timeout_ms,
    connections: connection.concurrency,
    retries: connection.retries,
    maxResponseBytes: connection.max_response_bytes,
    requestsPerSecond: connection.requests_per_second,
    allowPrivateAddresses: connection.allow_private_addresses,
    allowPlainText: connection.allow_plain_text,
    tls,
  };
}

/** Sets the rate that the connector says the EHR allows, unless the configuration has one. */
export function limitRate(pace: Pace, connection: ConnectionSettings, { capabilities }: Connector): void {
  if (connection.requests_per_second === undefined) pace.limit(capabilities.requestsPerSecond);
}
