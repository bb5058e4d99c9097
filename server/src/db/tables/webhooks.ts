import type { Generated } from 'kysely';

export type DisabledReason = 'client' | 'gone';
export type WebhookDeliveryState = 'pending' | 'delivered' | 'failed';

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

export interface WebhookTables {
  webhook_endpoints: WebhookEndpointRow;
  webhook_deliveries: WebhookDeliveryRow;
}
