-- Codes on their way to patients. Jobs of pg-boss (schema `pgboss`) hold the id of a row here, and nothing else.
CREATE TABLE messages (
  id uuid PRIMARY KEY,
  confirmation_id uuid NOT NULL,
  -- 1, 2, 3, … within the confirmation.
  sequence integer NOT NULL,
  emr text NOT NULL,
  care_unit_id text NOT NULL,
  channel text NOT NULL CHECK (channel IN ('sms', 'email')),
  first_appointment_id text NOT NULL,
  -- Address, code and whatever else the text is made of (AES-256-GCM). Null as soon as it has served.
  sealed bytea,
  -- `superseded`: a newer message or a withdrawal came before it was sent.
  state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'sent', 'failed', 'superseded')),
  -- The provider asked not to be asked again before.
  not_before timestamptz,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  settled_at timestamptz,
  UNIQUE (confirmation_id, sequence),
  CHECK ((sealed IS NOT NULL) = (state = 'queued')),
  CHECK ((settled_at IS NULL) = (state = 'queued'))
);
-- A message that waits is the newest of its confirmation.
CREATE UNIQUE INDEX one_queued_message ON messages (confirmation_id) WHERE state = 'queued';
CREATE INDEX messages_by_age ON messages (created_at);

-- Where a demonstration delivers instead.
CREATE TABLE demo_mailbox (
  -- The message's: what is delivered twice is shown once.
  id uuid PRIMARY KEY,
  emr text NOT NULL,
  care_unit_id text NOT NULL,
  channel text NOT NULL CHECK (channel IN ('sms', 'email')),
  appointment_id text NOT NULL,
  sealed bytea NOT NULL,
  sent_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX demo_mailbox_by_age ON demo_mailbox (sent_at);
