import type { Generated } from 'kysely';

export type DisabledReason = 'client' | 'gone' | 'failed';
export type WebhookDeliveryState = 'pending' | 'delivered' | 'failed';

/** Which events of its types a Subscription gets. Absent: any. */
export interface EventFilter {
  /** Native statuses. */
  readonly statuses?: readonly string[];
  /** As `emr_id:{value}`. */
  readonly resource_ids?: readonly string[];
}

interface WebhookEndpointRow {
  id: string;
  client_id: string;
  sealed_url: Buffer;
  sealed_secret: Buffer;
  sealed_previous_secret: Generated<Buffer | null>;
  previous_secret_expires_at: Generated<Date | null>;
  sealed_earlier_secrets: Generated<Buffer | null>;
  sealed_proof: Generated<Buffer | null>;
  event_types: string[] | null;
  disabled_reason: Generated<DisabledReason | null>;
  paused_until: Generated<Date | null>;
  replay_after: Generated<number | null>;
  replay_until: Generated<number | null>;
  replays_started_at: Generated<Date[]>;
  sealed_subscription: Generated<Buffer | null>;
  emr: Generated<string | null>;
  care_unit_id: Generated<string | null>;
  event_filter: Generated<EventFilter | null>;
  handshake_id: Generated<string | null>;
  heartbeat_seconds: Generated<number | null>;
  next_heartbeat_at: Generated<Date | null>;
  heartbeat_id: Generated<string | null>;
  ends_at: Generated<Date | null>;
  created_at: Generated<Date>;
}

interface WebhookDeliveryRow {
  id: Generated<string>;
  sequence: Generated<number>;
  endpoint_id: string;
  event_id: string;
  event_position: number;
  subject: string | null;
  state: Generated<WebhookDeliveryState>;
  attempts: Generated<number>;
  failures: Generated<number>;
  next_attempt_at: Generated<Date>;
  last_attempt_at: Generated<Date | null>;
  response_status: Generated<number | null>;
  failure_reason: Generated<string | null>;
  created_at: Generated<Date>;
  completed_at: Generated<Date | null>;
}

interface SubscriptionCountRow {
  endpoint_id: string;
  events: Generated<number>;
}

interface SubscriptionEventRow {
  endpoint_id: string;
  number: number;
  event_id: string;
}

export interface WebhookTables {
  subscription_counts: SubscriptionCountRow;
  subscription_events: SubscriptionEventRow;
  webhook_endpoints: WebhookEndpointRow;
  webhook_deliveries: WebhookDeliveryRow;
}
