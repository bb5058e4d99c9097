import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** With at least one letter: a bare number could be somebody's, and request ids are logged. */
const usable = /^(?=.*[A-Za-z])[A-Za-z0-9._-]{1,64}$/;

/** The caller's `x-request-id` where it can be taken, else a new one. */
export function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && usable.test(given) ? given : randomUUID();
}
