import { PermanentFailure, TemporaryFailure } from '../sender.ts';
import { connectionFailure } from './connection-failure.ts';

interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | URLSearchParams;
  readonly signal: AbortSignal;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** JSON, or `undefined` when it is none. */
  readonly body: unknown;
}

const longestAnswer = 64 * 1024;

/** Posts once and follows no redirect: it would carry the message to where nobody configured. */
export async function post({ url, headers, body, signal }: Post): Promise<Answer> {
  try {
    const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' });
    return { status: response.status, headers: response.headers, body: parse(await readBounded(response)) };
  } catch (error) {
    // What fetch throws can name the address.
    const { code } = ((error as Error).cause ?? {}) as { code?: unknown };
    throw new TemporaryFailure(signal.aborted ? 'timeout' : connectionFailure(code));
  }
}

/** The beginning of a longer answer: the status has said what matters. */
async function readBounded(response: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > longestAnswer) break;
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

/** The statuses that may pass by themselves: RFC 9110 section 15, RFC 8470 (425), RFC 6585 (429). */
const passing = new Set([408, 425, 429]);

/** `reason` where the provider says more than the status. */
export function assertAccepted({ status, headers }: Answer, reason = `http_${status}`): void {
  if (status >= 200 && status < 300) return;
  if (status >= 500 || passing.has(status)) throw new TemporaryFailure(reason, retryAfter(headers));
  throw new PermanentFailure(reason);
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
