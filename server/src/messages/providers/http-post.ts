import { connectionFault } from '../../log/connection-fault.ts';
import { PermanentFailure, TemporaryFailure } from '../sender.ts';

interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | URLSearchParams;
  readonly signal: AbortSignal;
}

interface ProviderResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON, or `undefined` if the body is not JSON. */
  readonly body: unknown;
}

const longestBody = 64 * 1024;

export function post(request: Omit<HttpRequest, 'method'>): Promise<ProviderResponse> {
  return send({ ...request, method: 'POST' });
}

/** Sends a request once. Does not follow redirects, which would send the message to a host that is not configured. */
export async function send({ url, signal, ...request }: HttpRequest): Promise<ProviderResponse> {
  try {
    const response = await fetch(url, { ...request, signal, redirect: 'manual' });
    return { status: response.status, headers: response.headers, body: parse(await readBounded(response)) };
  } catch (error) {
    // Errors of fetch can contain the URL, so only the kind of fault is used.
    throw new TemporaryFailure(signal.aborted ? 'timeout' : (connectionFault(error)?.kind ?? 'connection'));
  }
}

/** Reads the body up to a limit. The status says what matters. */
async function readBounded(response: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > longestBody) break;
  }
  return text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** 4xx statuses that are temporary: RFC 9110 section 15, RFC 8470 (425), RFC 6585 (429). */
const passing = new Set([408, 425, 429]);

/** @param reason set if the provider's body says more than the status */
export function assertAccepted({ status, headers }: ProviderResponse, reason = `http_${status}`): void {
  if (status >= 200 && status < 300) return;
  if (status >= 500 || passing.has(status)) throw new TemporaryFailure(reason, retryAfter(headers));
  throw new PermanentFailure(reason);
}

/**
 * A provider that answers with JSON has accepted nothing if its answer is something else, such as the page of a proxy or of a sign-in.
 */
export function assertJson({ body }: ProviderResponse): void {
  if (typeof body !== 'object' || body === null) throw new TemporaryFailure('response_malformed');
}

/** Seconds, or a date: RFC 9110 section 10.2.3. */
function retryAfter(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const date = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - Date.now()) / 1000));
}

export function basicAuthorization(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}

/** A path below a base that may or may not end with a slash. */
export function below(base: string, path: string): string {
  return `${base.replace(/\/+$/, '')}${path}`;
}
