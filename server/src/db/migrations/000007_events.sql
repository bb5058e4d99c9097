-- Events: one row for each change that other systems may want to hear of. Written by the statement that makes the change.
-- Ids, times and statuses only, never personal data.

CREATE TABLE events (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- Order of writing. Transactions commit in another order, so no reader goes by it.
  sequence bigint GENERATED ALWAYS AS IDENTITY,
  -- Order of reading, without gaps. Assigned after the commit, by one process at a time. Null: not published yet.
  position bigint,
  type text NOT NULL,
  emr text NOT NULL,
  -- Null: concerns the whole EHR.
  care_unit_id text,
  -- What it is about, such as the id of an appointment. Events of one subject are delivered in order.
  subject text,
  data jsonb NOT NULL,
  -- A test event: for one webhook endpoint only.
  endpoint_id uuid,
  -- Seen in the EHR, where somebody made the change directly.
  is_observed boolean NOT NULL DEFAULT false,
  occurred_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- When that began which made the change: the operation, or the wait for the code.
  began_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- `published`: the last position that was assigned. `deleted`: the last one whose event was deleted. No sequence: a
-- transaction that is rolled back must leave no gap, which a reader would take for deleted events.
CREATE TABLE event_positions (
  name text PRIMARY KEY CHECK (name IN ('published', 'deleted')),
  position bigint NOT NULL DEFAULT 0
);
INSERT INTO event_positions (name) VALUES ('published'), ('deleted');
CREATE UNIQUE INDEX events_by_position ON events (position);
CREATE INDEX events_by_time ON events (occurred_at);
CREATE INDEX events_to_publish ON events (sequence) WHERE position IS NULL;
-- Finds the last event of a subject.
CREATE INDEX events_of_a_subject ON events (emr, subject, sequence);

-- Where a client wants its events. URL and secrets are encrypted (AES-256-GCM): a URL can contain a token.
CREATE TABLE webhook_endpoints (
  id uuid PRIMARY KEY,
  client_id text NOT NULL,
  sealed_url bytea NOT NULL,
  sealed_secret bytea NOT NULL,
  -- Signs too, until it expires.
  sealed_previous_secret bytea,
  previous_secret_expires_at timestamptz,
  -- Null: all.
  event_types text[],
  -- Null: enabled. `client`: the client has disabled it. `gone`: it responded with 410.
  disabled_reason text CHECK (disabled_reason IN ('client', 'gone')),
  -- When attempts have ended that were in progress while it was disabled. Until then nothing else is delivered.
  paused_until timestamptz,
  -- A replay in progress: events after the first position, up to the second.
  replay_after bigint,
  replay_until bigint,
  -- When the client started replays, in the last hour.
  replays_started_at timestamptz[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhook_endpoints_of_a_client ON webhook_endpoints (client_id, id);

CREATE TABLE webhook_deliveries (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  sequence bigint GENERATED ALWAYS AS IDENTITY,
  endpoint_id uuid NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
  event_id uuid NOT NULL REFERENCES events (id) ON DELETE CASCADE,
  event_position bigint NOT NULL,
  -- Deliveries of one subject are made in the order of their events, each after the earlier one has ended.
  subject text,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
  -- Attempts that were started. One whose process was killed counts too.
  attempts integer NOT NULL DEFAULT 0,
  -- Attempts that failed. Determines the pause before the next one.
  failures integer NOT NULL DEFAULT 0,
  -- While a process is making an attempt: when another one may.
  next_attempt_at timestamptz NOT NULL DEFAULT now(),
  last_attempt_at timestamptz,
  -- Of the last attempt.
  response_status integer,
  failure_reason text,
  created_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, next_attempt_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_in_order ON webhook_deliveries (endpoint_id, subject, event_position)
  WHERE state = 'pending';
CREATE INDEX webhook_deliveries_of_an_endpoint ON webhook_deliveries (endpoint_id, sequence);
CREATE INDEX webhook_deliveries_of_an_event ON webhook_deliveries (event_id);
