import { type Selectable, sql } from 'kysely';
import type { WebhookTables } from '../db/tables/webhooks.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { Subscription, SubscriptionDetails } from './endpoint.ts';

export const subscriptionColumns = [
  ...(['sealed_subscription', 'emr', 'care_unit_id', 'event_filter', 'handshake_id', 'heartbeat_seconds'] as const),
  'ends_at',
] as const;

type Row = Pick<Selectable<WebhookTables['webhook_endpoints']>, 'id' | (typeof subscriptionColumns)[number]> & {
  /** By the clock of the database. */
  readonly read_at: Date;
};

const contextOf = (id: string) => `webhook endpoint ${id} subscription`;

export function sealSubscription(keys: KeyRing, id: string, details: SubscriptionDetails): Buffer {
  return keys.seal('webhook', JSON.stringify(details), contextOf(id));
}

/** `undefined`: the endpoint is none, or was encrypted with an unknown secret key. */
export function openSubscription(keys: KeyRing, row: Row): Subscription | undefined {
  const details = row.sealed_subscription && keys.open('webhook', row.sealed_subscription, contextOf(row.id));
  if (!details) return undefined;
  return {
    details: JSON.parse(details),
    emr: row.emr ?? '',
    careUnitId: row.care_unit_id ?? '',
    filter: row.event_filter ?? {},
    isRequested: row.handshake_id !== null,
    heartbeatSeconds: row.heartbeat_seconds,
    endsAt: row.ends_at,
    hasEnded: row.ends_at !== null && row.ends_at <= row.read_at,
  };
}

export type NewSubscription = Omit<Subscription, 'isRequested' | 'hasEnded'>;

/** What its client can change. */
export function changedColumns(keys: KeyRing, id: string, changed: NewSubscription) {
  const { details, filter, heartbeatSeconds, endsAt } = changed;
  return {
    sealed_subscription: sealSubscription(keys, id, details),
    event_filter: sql<typeof filter>`${JSON.stringify(filter)}::jsonb`,
    heartbeat_seconds: heartbeatSeconds,
    next_heartbeat_at: heartbeatSeconds === null ? null : sql<Date>`now() + make_interval(secs => ${heartbeatSeconds})`,
    ends_at: endsAt,
  };
}
