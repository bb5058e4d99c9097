import { describe, expect, test } from 'vitest';
import type { PageConfirmation } from '../confirmations/find-page.ts';
import { recordedState, shownIds, shownState } from './view.ts';

type ItemState = PageConfirmation['items'][number]['state'];

function confirmation(states: readonly ItemState[], facts: Partial<PageConfirmation> = {}): PageConfirmation {
  return {
    id: 'c-1',
    clientId: 'app',
    emr: 'ehr',
    careUnitId: 'unit',
    kind: 'booking',
    channel: 'sms',
    expiresAt: new Date('2026-03-20T08:00:00Z'),
    isExpired: false,
    attemptsRemaining: 5,
    mayResend: true,
    delivery: 'sent',
    sealedReturnUrl: null,
    items: states.map((state, index) => ({ id: `a-${index}`, state })),
    ...facts,
  };
}

test.each<[readonly ItemState[], Partial<PageConfirmation>, string]>([
  [['pending'], {}, 'waiting'],
  [['pending', 'released'], {}, 'waiting'],
  [['pending', 'confirmed'], {}, 'waiting'],
  [['pending'], { attemptsRemaining: 0 }, 'locked'],
  [['pending'], { isExpired: true }, 'expired'],
  [['pending'], { isExpired: true, attemptsRemaining: 0 }, 'locked'],
  [['confirming'], { isExpired: true }, 'checking'],
  [['confirming', 'pending'], {}, 'checking'],
  [['confirmed', 'released'], {}, 'confirmed'],
  [['confirmed', 'expired'], { isExpired: true }, 'confirmed'],
  [['released'], {}, 'cancelled'],
  [['expiring'], { isExpired: true }, 'expired'],
  [['expired'], { isExpired: true, attemptsRemaining: 0 }, 'locked'],
])('%j with %j is %s', (states, facts, state) => {
  expect(recordedState(confirmation(states, facts))).toBe(state);
});

test('the page is about the appointments that its heading speaks of', () => {
  const mixed = confirmation(['confirmed', 'pending', 'released']);
  expect(shownIds(mixed, 'waiting')).toEqual(['a-1']);
  expect(shownIds(mixed, 'confirmed')).toEqual(['a-0']);
  expect(shownIds(mixed, 'expired')).toEqual(['a-0', 'a-1', 'a-2']);
});

describe('the EHR', () => {
  const booking = { kind: 'booking' } as const;

  test('is needed for entering a code alone', () => {
    expect(shownState(booking, 'waiting', undefined)).toBe('unavailable');
    for (const state of ['checking', 'confirmed', 'expired', 'locked', 'cancelled'] as const) {
      expect(shownState(booking, state, undefined)).toBe(state);
    }
  });

  test('may have cancelled a booking, or deleted it', () => {
    expect(shownState(booking, 'waiting', [{ state: 'cancelled' }])).toBe('cancelled');
    expect(shownState(booking, 'confirmed', [{ state: 'cancelled' }])).toBe('cancelled');
    expect(shownState(booking, 'waiting', [])).toBe('cancelled');
    expect(shownState(booking, 'waiting', [{ state: 'cancelled' }, { state: 'held' }])).toBe('waiting');
    expect(shownState(booking, 'expired', [{ state: 'cancelled' }])).toBe('expired');
    expect(shownState({ kind: 'cancellation' }, 'confirmed', [{ state: 'cancelled' }])).toBe('confirmed');
  });
});
