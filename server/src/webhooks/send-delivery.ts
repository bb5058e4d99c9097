import { Agent } from 'undici';
import packageJson from '../../package.json' with { type: 'json' };
import { type AddressRules, urlMistake } from '../ehr/guard/address-rules.ts';
import { addressRejected, createConnect } from '../ehr/guard/connect.ts';
import { retryAfterSeconds } from '../ehr/guard/retry-after.ts';
import { connectionFault } from '../log/connection-fault.ts';
import { traceHeaders, tracing } from '../telemetry/tracing.ts';
import type { Endpoint } from './endpoint.ts';
import { signedHeaders } from './signing.ts';

export interface SendSettings extends AddressRules {
  readonly timeout_ms: number;
}

/** Why an attempt failed. */
export const attemptFailures = [
  'status',
  'timeout',
  'address_rejected',
  'connection_refused',
  'host_unknown',
  'certificate',
  'tls',
  'connection_failed',
] as const;

export interface AttemptResult {
  /** `undefined`: delivered. */
  readonly failure?: (typeof attemptFailures)[number];
  readonly status?: number;
  /** The endpoint asked to wait this long. */
  readonly retryAfterSeconds?: number;
}

/** What a request to an endpoint contains. */
export interface SentBody {
  readonly payload: string;
  /** Absent: `application/json`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: as it is set for all endpoints. Not longer than that. */
  readonly timeoutMs?: number | undefined;
}

export interface DeliverySender {
  send(
    endpoint: Pick<Endpoint, 'url' | 'secret' | 'previousSecrets'>,
    eventId: string,
    sent: SentBody,
  ): Promise<AttemptResult>;
  close(): Promise<void>;
}

/** Bytes of a response that are read so that its connection can be used again. They are discarded. */
const longestResponse = 16_384;

/**
 * Posts events to endpoints. Checks the resolved address of every connection, which prevents DNS rebinding. Does not follow
 * redirects: they could lead anywhere. The body of a response is never stored.
 *
 * @param now the time in the signatures
 */
export function createDeliverySender(settings: SendSettings, now: () => Date = () => new Date()): DeliverySender {
  const { timeout_ms, allow_private_addresses, allow_http } = settings;
  const agent = new Agent({
    connect: createConnect({
      connectTimeoutMs: timeout_ms,
      allowPrivateAddresses: allow_private_addresses,
      allowPlainText: allow_http,
    }),
    // No limit of connections to a host: the dispatcher limits attempts. A request that waits for a connection cannot be
    // aborted, so slow endpoints would hold up others on their host for longer than the claims of their deliveries last.
    allowH2: false,
    headersTimeout: timeout_ms,
    bodyTimeout: timeout_ms,
  });
  const attempt: DeliverySender['send'] = async (
    endpoint,
    eventId,
    { payload, headers: own, timeoutMs = timeout_ms },
  ) => {
    // The operator may have changed the rules since the endpoint was created.
    if (urlMistake(endpoint.url, settings) !== undefined) return { failure: 'address_rejected' };
    const signal = AbortSignal.timeout(Math.min(timeoutMs, timeout_ms));
    const { origin, pathname, search } = new URL(endpoint.url);
    try {
      const { statusCode, headers, body } = await agent.request({
        origin,
        path: pathname + search,
        method: 'POST',
        headers: {
          ...(own ?? { 'content-type': 'application/json' }),
          ...signedHeaders(endpoint, eventId, payload, now()),
          'user-agent': `Crossward/${packageJson.version}`,
          ...traceHeaders(),
        },
        body: payload,
        signal,
      });
      // The status decides. A body that breaks off does not matter.
      await body.dump({ limit: longestResponse, signal }).catch(() => undefined);
      if (statusCode >= 200 && statusCode < 300) return { status: statusCode };
      return { failure: 'status', status: statusCode, ...retryAfter(headers['retry-after']) };
    } catch (error) {
      return { failure: failureOf(error) };
    }
  };
  return {
    async send(...delivery) {
      const span = tracing?.call('deliver webhook', {});
      if (!span) return await attempt(...delivery);
      const result = await span.within(() => attempt(...delivery));
      span.end(result.failure ?? 'ok');
      return result;
    },
    close: () => agent.destroy(),
  };
}

function retryAfter(header: string | string[] | undefined): Pick<AttemptResult, 'retryAfterSeconds'> {
  const seconds = typeof header === 'string' ? retryAfterSeconds(header) : undefined;
  return seconds === undefined ? {} : { retryAfterSeconds: seconds };
}

function failureOf(error: unknown): AttemptResult['failure'] & string {
  const { code = '', name = '' } = error as { readonly code?: unknown; readonly name?: string };
  if (code === addressRejected) return 'address_rejected';
  if (name === 'TimeoutError') return 'timeout';
  const kind = connectionFault(error)?.kind ?? 'connection';
  return kind === 'connection' ? 'connection_failed' : kind;
}
