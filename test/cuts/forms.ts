import { hash } from 'node:crypto';
import type { Response } from './response.ts';

/** A form of the console or of the page for patients. */
export interface Form {
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
  /** The token of an operator. Absent: the page for patients. */
  readonly session?: string;
  /** The results in the URL of the next page that say that it was done. A page with a new secret says so too. */
  readonly results: readonly string[];
  /** What the next page, or its URL, says of a form that was sent before. Absent: another one is made. */
  readonly sentBefore?: RegExp;
}

interface Page {
  readonly status: number;
  readonly location: string | undefined;
  readonly retryAfterSeconds: number;
  readonly html: string;
}

const secretIn = /(?:<code class="secret">|aria-label="Secret">)([^<]+)</;

export const hashOf = (secret: string): string => hash('sha256', secret);

/** Reads what people read. After "something went wrong" they do not know what was done. */
export function readPage(form: Form, { status, location = '', retryAfterSeconds, html }: Page): Response {
  const result = new URLSearchParams(location.split('?')[1]).get('result') ?? undefined;
  const secret = secretIn.exec(html)?.[1];
  const isSentBefore = form.sentBefore?.test(location || html) ?? false;
  const problem = (reason: string, retryable: boolean, as = status): Response => ({
    status: as,
    retryAfterSeconds,
    body: { reason, retryable, isSentBefore },
  });
  if (status === 500) return problem('internal_error', false);
  if (status > 500 || result === 'unknown') return problem('outcome_unknown', true, 504);
  if (status === 429 || result === 'unavailable') return problem(result ?? 'rate_limited', true, 503);
  const isDone = secret !== undefined || (result !== undefined && form.results.includes(result));
  if (isDone) return { status: 200, retryAfterSeconds, body: secret === undefined ? {} : { secret } };
  return problem(result ?? `a page with ${status}`, false, 409);
}

/** The hidden fields of a page. */
export function hiddenFields(html: string): Readonly<Record<string, string>> {
  const fields = html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g);
  return Object.fromEntries([...fields].map(([, field = '', value = '']) => [field, value]));
}
