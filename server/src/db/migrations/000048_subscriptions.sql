-- Subscriptions of FHIR: webhook endpoints of one care unit, which get notifications in FHIR.
ALTER TABLE webhook_endpoints
  -- Criteria, content and headers, encrypted: a header can have a token. Null: not a Subscription.
  ADD COLUMN sealed_subscription bytea,
  ADD COLUMN emr text,
  ADD COLUMN care_unit_id text,
  -- Of the events: `statuses` and `resource_ids`, each a list. Null or absent: any.
  ADD COLUMN event_filter jsonb,
  -- The event that has to be delivered before any other. Null: it was.
  ADD COLUMN handshake_id uuid,
  ADD COLUMN heartbeat_seconds integer,
  ADD COLUMN next_heartbeat_at timestamptz,
  -- The event of the last heartbeat.
  ADD COLUMN heartbeat_id uuid,
  -- Afterwards it gets no events.
  ADD COLUMN ends_at timestamptz,
  DROP CONSTRAINT webhook_endpoints_disabled_reason_check,
  -- `failed`: a Subscription whose handshake has failed, or the last attempt of a delivery.
  ADD CONSTRAINT webhook_endpoints_disabled_reason_check CHECK (disabled_reason IN ('client', 'gone', 'failed'));
CREATE INDEX webhook_endpoints_by_heartbeat ON webhook_endpoints (next_heartbeat_at) WHERE next_heartbeat_at IS NOT NULL;

-- How many events each Subscription has had. Not in webhook_endpoints: whoever changes one must not hold up the publishing of events.
CREATE TABLE subscription_counts (
  endpoint_id uuid PRIMARY KEY REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
  events bigint NOT NULL DEFAULT 0
);
-- The events of each Subscription with their numbers, delivered or not.
CREATE TABLE subscription_events (
  endpoint_id uuid NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
  number bigint NOT NULL,
  event_id uuid NOT NULL REFERENCES events (id) ON DELETE CASCADE,
  PRIMARY KEY (endpoint_id, number)
);
CREATE UNIQUE INDEX subscription_events_by_event ON subscription_events (event_id, endpoint_id);
