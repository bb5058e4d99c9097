import type { Secret } from '../../config/environment/secret.ts';
import { addressOf } from '../../log/connection-fault.ts';
import { PermanentFailure, type Provider } from '../sender.ts';
import { assertAccepted, assertJson, basicAuthorization, below, post, send } from './http-post.ts';

interface ElksSettings {
  readonly username: string;
  readonly password: Secret;
  readonly from: string;
  readonly base_url?: string;
}

/**
 * 46elks: https://46elks.com/docs/send-sms. Errors are HTTP statuses with a line of text. Receipts
 * (https://46elks.com/docs/sms-delivery-reports) are not signed: the token in their URL is what makes them credible.
 */
export function elks({ username, password, from, base_url }: ElksSettings): Provider {
  const base = base_url ?? 'https://api.46elks.com';
  return {
    address: addressOf(base),
    async send({ to, text, receiptUrl }, signal) {
      const response = await post({
        url: below(base, '/a1/sms'),
        headers: { authorization: basicAuthorization(username, password.reveal()) },
        body: new URLSearchParams({
          from,
          to,
          message: text,
          // Keeps the text with the code out of the provider's history.
          dontlog: 'message',
          ...(receiptUrl === undefined ? {} : { whendelivered: receiptUrl }),
        }),
        signal,
      });
      assertAccepted(response);
      assertJson(response);
      if (hasFailed(response.body)) throw new PermanentFailure('elks_failed');
    },
    /** `status`: sent, then delivered or failed. */
    readReceipt({ form }) {
      const status = form.get('status');
      if (status === 'delivered') return 'delivered';
      return status === 'failed' ? { failure: 'elks_failed' } : 'interim';
    },
    /** https://46elks.com/docs/get-account */
    async greet(signal) {
      const headers = { authorization: basicAuthorization(username, password.reveal()) };
      assertAccepted(await send({ method: 'GET', url: below(base, '/a1/me'), headers, signal }));
      return 'accepts the user name and password';
    },
  };
}

/** `status`: created, sent, delivered or failed (https://46elks.com/docs/show-sms-id). */
function hasFailed(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'status' in body && body.status === 'failed';
}
