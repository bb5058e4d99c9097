import type { Appointment, Resource } from '@crossward/connector-kit';
import type { PageConfirmation } from '../confirmations/find-page.ts';
import { isGatewayId } from '../confirmations/items.ts';

/**
 * What a page shows.
 *
 * - `waiting`: the form for the code
 * - `checking`: the code was correct, and the EHR has not confirmed it yet
 * - `locked`: too many incorrect codes were entered
 * - `unavailable`: the EHR does not respond, so the code cannot be confirmed now
 */
export type PageState = 'waiting' | 'checking' | 'confirmed' | 'expired' | 'locked' | 'cancelled' | 'unavailable';

/** An appointment as shown to the patient. */
export interface ShownAppointment {
  /** The EHR's id. Not shown. */
  readonly id: string;
  /** The id that callers use, which a draft has from the gateway. Not shown. */
  readonly callersId: string;
  readonly isCancelled: boolean;
  readonly start: Date;
  readonly end: Date | null;
  readonly resource: Pick<Resource, 'kind' | 'name'> | undefined;
}

/** A page without its wording. */
export interface PageView {
  readonly confirmation: PageConfirmation;
  readonly state: PageState;
  readonly appointments: readonly ShownAppointment[];
}

/** The item states that a page is about. */
const relevant: Partial<Record<PageState, readonly string[]>> = {
  waiting: ['pending', 'confirming'],
  checking: ['pending', 'confirming'],
  confirmed: ['confirmed'],
};

/** The ids of the appointments that a page in this state shows. */
export function shownIds({ items }: PageConfirmation, state: PageState): string[] {
  const states = relevant[state];
  return items.filter((it) => states?.includes(it.state) ?? true).map(({ id }) => id);
}

/** The state according to the gateway's records. */
export function recordedState(confirmation: PageConfirmation): PageState {
  const { items, isExpired, attemptsRemaining } = confirmation;
  const has = (...states: readonly string[]) => items.some(({ state }) => states.includes(state));
  if (has('confirming')) return 'checking';
  if (has('pending')) {
    if (attemptsRemaining === 0) return 'locked';
    return isExpired ? 'expired' : 'waiting';
  }
  if (has('confirmed')) return 'confirmed';
  if (!has('expired', 'expiring')) return 'cancelled';
  return attemptsRemaining === 0 ? 'locked' : 'expired';
}

/**
 * The state according to the EHR too.
 *
 * @param appointments of the shown ids. `undefined`: the EHR does not respond
 */
export function shownState(
  { kind }: Pick<PageConfirmation, 'kind'>,
  recorded: PageState,
  appointments: readonly Pick<Appointment, 'state'>[] | undefined,
): PageState {
  if (!appointments) return recorded === 'waiting' ? 'unavailable' : recorded;
  // Staff can cancel a booking, before it is confirmed or after.
  const isCancelled = kind === 'booking' && appointments.every(({ state }) => state === 'cancelled');
  return isCancelled && (recorded === 'waiting' || recorded === 'confirmed') ? 'cancelled' : recorded;
}

/** Whether there is a file for calendars: of confirmed bookings, also of those that were cancelled since. */
export function isInCalendar({ confirmation, state, appointments }: PageView): boolean {
  const isShown = state === 'confirmed' || state === 'cancelled';
  return (
    isShown && confirmation.kind === 'booking' && recordedState(confirmation) === 'confirmed' && appointments.length > 0
  );
}

/** A booking that awaits its code can be cancelled without one. */
export function canCancel({ confirmation, state }: Pick<PageView, 'confirmation' | 'state'>): boolean {
  return confirmation.kind === 'booking' && (state === 'waiting' || (state === 'locked' && !confirmation.isExpired));
}

/** Whether the EHR still holds a time that can no longer be confirmed. A draft holds none. */
export function isHeld({ confirmation, state }: Pick<PageView, 'confirmation' | 'state'>): boolean {
  return (
    state === 'locked' && canCancel({ confirmation, state }) && !confirmation.items.some(({ id }) => isGatewayId(id))
  );
}
