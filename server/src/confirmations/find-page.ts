import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import type { ConfirmationKind, ItemState } from '../db/tables/confirmations.ts';
import type { Channel } from '../db/tables/messages.ts';
import { type DeliveryState, deliveryStateOf } from '../messages/delivery-state.ts';
import type { PageLinks } from '../messages/page-links.ts';
import { hashOfToken, isLinkToken } from '../secrets/link-token.ts';
import { repeatLifetime } from './decide-code.ts';
import { mostCodes } from './resend.ts';

/** A confirmation as its page needs it. */
export interface PageConfirmation {
  readonly id: string;
  /** The client that started it. */
  readonly clientId: string;
  readonly emr: string;
  readonly careUnitId: string;
  readonly kind: ConfirmationKind;
  readonly channel: Channel;
  readonly expiresAt: Date;
  readonly isExpired: boolean;
  readonly attemptsRemaining: number;
  /** Whether the limit of codes allows another one. */
  readonly mayResend: boolean;
  readonly delivery: DeliveryState;
  readonly sealedReturnUrl: Buffer | null;
  /** In the order of the request. */
  readonly items: readonly { readonly id: string; readonly state: ItemState }[];
}

/**
 * The confirmation that a link to a page belongs to. A link ends a day after its confirmation: from then on it is unknown,
 * and shows nothing about the appointment.
 */
export async function findPage(
  { db, pages }: { readonly db: Db; readonly pages: Pick<PageLinks, 'isTokenOf'> },
  token: string,
): Promise<PageConfirmation | undefined> {
  if (!isLinkToken(token)) return undefined;
  const row = await db
    .selectFrom('confirmations as confirmation')
    .select([
      'id',
      'client_id as clientId',
      'emr',
      'care_unit_id as careUnitId',
      'kind',
      'channel',
      'expires_at as expiresAt',
      'sealed_return_url as sealedReturnUrl',
    ])
    .select(sql<boolean>`expires_at <= clock_timestamp()`.as('isExpired'))
    .select(sql<number>`greatest(max_attempts - failed_attempts, 0)`.as('attemptsRemaining'))
    .select(sql<boolean>`codes_sent < ${mostCodes}`.as('mayResend'))
    .select(sql<DeliveryState>`coalesce(${deliveryStateOf('confirmation.id')}, 'sent')`.as('delivery'))
    .where('page_token_hash', '=', hashOfToken(token))
    .where('purged_at', 'is', null)
    .where(sql<boolean>`greatest(expires_at, confirmed_at) > clock_timestamp() - ${repeatLifetime}`)
    .executeTakeFirst();
  if (!row || !pages.isTokenOf(row.id, token)) return undefined;
  const items = await db
    .selectFrom('confirmation_items')
    .select(['appointment_id as id', 'state'])
    .where('confirmation_id', '=', row.id)
    .orderBy('position')
    .execute();
  return { ...row, items };
}
