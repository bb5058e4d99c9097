import { createHmac } from 'node:crypto';
import type { Secret } from '../../config/environment/secret.ts';
import { addressOf } from '../../log/connection-fault.ts';
import { type Provider, TemporaryFailure } from '../sender.ts';
import { assertAccepted, post, send } from './http-post.ts';

interface WebhookSettings {
  readonly url: string;
  readonly secret: Secret;
}

/**
 * Posts `{ "channel": "sms", "to": …, "text": … }`, signed according to Standard Webhooks
 * (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md). `webhook-id` is the same
 * on every attempt, so that the receiver recognises duplicates. Any 2xx status counts as accepted.
 *
 * @param now the time in the signatures
 */
export function webhook({ url, secret }: WebhookSettings, now: () => Date = () => new Date()): Provider {
  return {
    address: addressOf(url),
    async send({ id, channel, to, text }, signal) {
      const body = JSON.stringify({ channel, to, text });
      const timestamp = String(Math.floor(now().getTime() / 1000));
      const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
      const headers = {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      };
      assertAccepted(await post({ url, headers, body, signal }));
    },
    /** A receiver may know POST alone, so that only a status of a server that is down counts as a failure. */
    async greet(signal) {
      const { status } = await send({ method: 'HEAD', url, signal });
      if (status >= 500) throw new TemporaryFailure(`http_${status}`);
      return 'responds; whether it accepts the signature shows with the first message';
    },
  };
}

/** A key in the format of the specification is `whsec_` and Base64. Any other text is the key itself. */
function keyOf(secret: Secret): Buffer {
  const text = secret.reveal();
  const prefix = 'whsec_';
  return text.startsWith(prefix) ? Buffer.from(text.slice(prefix.length), 'base64') : Buffer.from(text, 'utf8');
}
