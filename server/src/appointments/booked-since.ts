import type { Appointment } from '@crossward/connector-kit';
import type { Item } from '../confirmations/items.ts';

/**
 * Whether a hold was confirmed after it was read: the EHR is read before the gateway's tables. Without this, it would be taken
 * for a hold whose code has expired, and shown as cancelled although it is booked.
 */
export function isBookedSince({ state }: Pick<Appointment, 'state'>, item: Item | undefined): boolean {
  return state === 'held' && item?.state === 'confirmed';
}
