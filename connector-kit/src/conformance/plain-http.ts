import { ConnectorError } from '../errors.ts';
import type { EhrHttp, EhrRequest, EhrResponse } from '../http.ts';

/** A way to an EHR for tests, which can be ended in the middle of anything, as if its process were killed. */
export interface PlainHttp extends EhrHttp {
  /** From now on nothing is sent and nothing comes back. */
  cut(): void;
}

/** Sends each request once and tells a failure in the port's words. A gateway gives connectors one that does far more. */
export function plainHttp(timeoutMilliseconds = 10_000): PlainHttp {
  const end = new AbortController();
  return {
    async send(request) {
      if (end.signal.aborted) throw new ConnectorError('unavailable', 'The connection was cut off');
      const signal = AbortSignal.any([end.signal, AbortSignal.timeout(timeoutMilliseconds)]);
      try {
        return await exchange(request, signal);
      } catch (cause) {
        if (isRefusedConnection(cause)) {
          throw new ConnectorError('unavailable', 'The EHR cannot be reached', { cause });
        }
        const kind = request.repeatable ? 'timeout' : 'outcome_unknown';
        throw new ConnectorError(kind, 'The EHR did not answer', { cause });
      }
    },
    cut: () => end.abort(),
  };
}

async function exchange({ method, url, headers, body }: EhrRequest, signal: AbortSignal): Promise<EhrResponse> {
  const response = await fetch(url, {
    method,
    redirect: 'error',
    signal,
    ...(headers && { headers }),
    ...(body !== undefined && { body: typeof body === 'string' ? body : Buffer.from(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: Object.fromEntries(response.headers), text };
}

/** Then nothing has been sent. */
function isRefusedConnection(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && ['ECONNREFUSED', 'ENOTFOUND'].includes(String(cause.code));
}
