import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { Endpoint } from './endpoint.ts';

/** A new signing secret: 256 random bits, as `whsec_` and base64. */
export function makeSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/**
 * The headers of a delivery, signed with each valid secret. Receivers compare `now` with their clocks.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signedHeaders(
  { secret, previousSecrets }: Pick<Endpoint, 'secret' | 'previousSecrets'>,
  eventId: string,
  payload: string,
  now: Date,
): Record<string, string> {
  const secrets = [secret, ...previousSecrets.map((it) => it.secret)];
  return {
    'webhook-id': eventId,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': secrets.map((it) => new Webhook(it).sign(eventId, now, payload)).join(' '),
  };
}
