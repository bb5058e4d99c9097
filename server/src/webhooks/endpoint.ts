import type { DisabledReason, EventFilter } from '../db/tables/webhooks.ts';

export interface PreviousSecret {
  readonly secret: string;
  readonly expiresAt: Date;
}

/** A webhook endpoint of a client, decrypted. */
export interface Endpoint {
  readonly id: string;
  readonly clientId: string;
  readonly url: string;
  readonly secret: string;
  /** Those that are still valid, the newest first. They sign too. */
  readonly previousSecrets: readonly PreviousSecret[];
  /** `null`: all. */
  readonly eventTypes: readonly string[] | null;
  readonly disabledReason: DisabledReason | null;
  readonly isReplaying: boolean;
  readonly createdAt: Date;
  /** Absent: it gets events in the gateway's own JSON. */
  readonly subscription?: Subscription;
}

/** What a Subscription asks for, with what only its client and its receiver may know. */
export interface SubscriptionDetails {
  readonly criteria: string;
  readonly filters: readonly string[];
  /** `none`: a request without a body. */
  readonly content: 'none' | 'empty' | 'id-only' | 'full-resource';
  readonly mediaType: string | null;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly reason: string;
  /** Under which its client reached the gateway: for a gateway whose configuration does not say its address. */
  readonly publicUrl: string;
  readonly timeoutSeconds: number | null;
  readonly maxCount: number | null;
}

/** A webhook endpoint in the words of FHIR: https://hl7.org/fhir/R4/subscription.html */
export interface Subscription {
  readonly details: SubscriptionDetails;
  readonly emr: string;
  readonly careUnitId: string;
  readonly filter: EventFilter;
  /** Its handshake has not been delivered yet. */
  readonly isRequested: boolean;
  readonly heartbeatSeconds: number | null;
  readonly endsAt: Date | null;
  /** By the clock of the database. */
  readonly hasEnded: boolean;
}

/** https://hl7.org/fhir/R4/valueset-subscription-status.html */
export const subscriptionStatuses = ['requested', 'active', 'error', 'off'] as const;
export type SubscriptionStatus = (typeof subscriptionStatuses)[number];

export function statusOfSubscription(
  disabledReason: DisabledReason | null,
  { isRequested, hasEnded }: Pick<Subscription, 'isRequested' | 'hasEnded'>,
): SubscriptionStatus {
  if (disabledReason === 'failed') return 'error';
  if (disabledReason !== null || hasEnded) return 'off';
  return isRequested ? 'requested' : 'active';
}

/** When the last of these secrets expires. `undefined`: there is none. */
export function lastEnd(secrets: readonly PreviousSecret[]): Date | undefined {
  return secrets.map(({ expiresAt }) => expiresAt).reduce<Date | undefined>((a, b) => (a && a > b ? a : b), undefined);
}
