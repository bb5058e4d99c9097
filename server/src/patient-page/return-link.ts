import { confirmationContext } from '../confirmations/issue.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { type PageState, type PageView, shownIds } from './view.ts';

type Outcome = 'confirmed' | 'cancelled' | 'expired';

const outcomes: Partial<Record<PageState, Record<'booking' | 'cancellation', Outcome>>> = {
  confirmed: { booking: 'confirmed', cancellation: 'cancelled' },
  cancelled: { booking: 'cancelled', cancellation: 'cancelled' },
  expired: { booking: 'expired', cancellation: 'expired' },
  // No code is accepted any more, and the confirmation will expire.
  locked: { booking: 'expired', cancellation: 'expired' },
};

/** The caller's `return_url` with the outcome and the ids of the appointments, once there is an outcome. */
export function returnLink(keys: KeyRing, { confirmation, state }: PageView): string | undefined {
  const { id, kind, sealedReturnUrl } = confirmation;
  const outcome = outcomes[state]?.[kind];
  const text = sealedReturnUrl && keys.open('confirmation', sealedReturnUrl, confirmationContext(id));
  if (!text || !outcome) return undefined;
  const url = new URL(text);
  url.searchParams.set('outcome', outcome);
  url.searchParams.delete('appointment_id');
  for (const it of shownIds(confirmation, state)) url.searchParams.append('appointment_id', it);
  return url.href;
}
