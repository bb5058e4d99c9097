import type { Channel } from '../db/tables/messages.ts';
import { hashOfToken, newLinkToken } from '../secrets/link-token.ts';
import type { Senders } from './sender.ts';

/** Below the path of the page for patients, since proxies let the public reach that one only. */
export const receiptPath = '/c/receipts/:token';

/** The URL to which a provider reports what becomes of one attempt. */
interface ReceiptUrl {
  /** Contains a secret token. */
  readonly url: string;
  /** What is stored of the token. */
  readonly hash: Buffer;
}

/** The URLs for receipts of this gateway. */
export interface ReceiptUrls {
  /** Channels whose providers send receipts. */
  readonly channels: ReadonlySet<Channel>;
  create(): ReceiptUrl;
  /** The URL with this token. */
  of(token: string): string;
}

/**
 * Returns `undefined` if no provider sends receipts, or if none can reach the gateway: providers refuse messages that name a
 * URL which is not public.
 *
 * @param publicUrl without a slash at the end
 */
export function createReceiptUrls(senders: Senders, publicUrl: string | undefined): ReceiptUrls | undefined {
  const channels = (['sms', 'email'] as const).filter((channel) => senders[channel]?.readReceipt);
  if (channels.length === 0 || !publicUrl?.startsWith('https://')) return undefined;
  const of = (token: string) => `${publicUrl}${receiptPath.replace(':token', token)}`;
  return {
    channels: new Set(channels),
    create() {
      const token = newLinkToken();
      return { url: of(token), hash: hashOfToken(token) };
    },
    of,
  };
}
