import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../config/environment/secret.ts';
import { addressOf } from '../../log/connection-fault.ts';
import { type Provider, type ReceiptRequest, TemporaryFailure } from '../sender.ts';
import { assertAccepted, assertJson, basicAuthorization, below, post, send } from './http-post.ts';

interface TwilioSettings {
  readonly account_sid: string;
  readonly auth_token: Secret;
  /** Either this or `messaging_service_sid`. */
  readonly from?: string;
  readonly messaging_service_sid?: string;
  readonly base_url?: string;
}

/**
 * Temporary errors with status 400: the sender's queue is full (https://www.twilio.com/docs/api/errors/21611), too many
 * requests (…/20429), too many messages (…/14107).
 */
const passingCodes = new Set([14107, 20429, 21611]);

/** Final statuses of a message that did not arrive: https://www.twilio.com/docs/messaging/api/message-resource */
const lost = new Set(['undelivered', 'failed', 'canceled']);

/** Twilio: https://www.twilio.com/docs/messaging/api/message-resource#create-a-message-resource */
export function twilio(settings: TwilioSettings): Provider {
  const { account_sid, auth_token, from, messaging_service_sid, base_url } = settings;
  const account = `/2010-04-01/Accounts/${encodeURIComponent(account_sid)}`;
  const sender =
    messaging_service_sid === undefined ? { From: from ?? '' } : { MessagingServiceSid: messaging_service_sid };
  const base = base_url ?? 'https://api.twilio.com';
  return {
    address: addressOf(base),
    async send({ to, text, receiptUrl }, signal) {
      const response = await post({
        url: below(base, `${account}/Messages.json`),
        headers: { authorization: basicAuthorization(account_sid, auth_token.reveal()) },
        body: new URLSearchParams({
          ...sender,
          To: to,
          Body: text,
          ...(receiptUrl === undefined ? {} : { StatusCallback: receiptUrl }),
        }),
        signal,
      });
      const code = errorCode(response.body);
      if (response.status >= 400 && code !== undefined && passingCodes.has(code)) {
        throw new TemporaryFailure(`twilio_${code}`);
      }
      assertAccepted(response, code === undefined ? undefined : `twilio_${code}`);
      assertJson(response);
    },
    /** https://www.twilio.com/docs/messaging/guides/track-outbound-message-status */
    readReceipt(request) {
      if (!isSigned(request, auth_token)) return 'rejected';
      const status = request.form.get('MessageStatus') ?? '';
      if (status === 'delivered' || status === 'read') return 'delivered';
      if (!lost.has(status)) return 'interim';
      const code = request.form.get('ErrorCode') ?? '';
      return { failure: /^[1-9]\d{0,5}$/.test(code) ? `twilio_${code}` : 'undelivered' };
    },
    /** https://www.twilio.com/docs/iam/api/account#fetch-an-account-resource */
    async greet(signal) {
      const headers = { authorization: basicAuthorization(account_sid, auth_token.reveal()) };
      assertAccepted(await send({ method: 'GET', url: below(base, `${account}.json`), headers, signal }));
      return 'accepts the account and its token';
    },
  };
}

/**
 * HMAC-SHA1 over the URL and the sorted parameters (https://www.twilio.com/docs/usage/security#validating-requests). Twilio
 * signs the URL that it was given, with the port or without.
 */
function isSigned({ url, header, form }: ReceiptRequest, authToken: Secret): boolean {
  const sent = Buffer.from(header('x-twilio-signature') ?? '', 'base64');
  const names = [...new Set(form.keys())].sort();
  const parameters = names
    .flatMap((name) => [...new Set(form.getAll(name))].sort().map((value) => name + value))
    .join('');
  return [url, url.replace(/^(https:\/\/[^/:]+)(?=\/)/, '$1:443')].some((signed) => {
    const expected = createHmac('sha1', authToken.reveal()).update(`${signed}${parameters}`, 'utf8').digest();
    return sent.length === expected.length && timingSafeEqual(sent, expected);
  });
}

/** `{ "code": 21211, "message": …, "more_info": …, "status": 400 }`: https://www.twilio.com/docs/usage/twilios-response */
function errorCode(body: unknown): number | undefined {
  if (typeof body !== 'object' || body === null || !('code' in body)) return undefined;
  return Number.isInteger(body.code) ? Number(body.code) : undefined;
}
