-- Messages that carry codes to patients. A pg-boss job (schema `pgboss`) holds the id of a row here and nothing else.
CREATE TABLE messages (
  id uuid PRIMARY KEY,
  confirmation_id uuid NOT NULL,
  -- 1, 2, 3, … within the confirmation.
  sequence integer NOT NULL,
  emr text NOT NULL,
  care_unit_id text NOT NULL,
  channel text NOT NULL CHECK (channel IN ('sms', 'email')),
  first_appointment_id text NOT NULL,
  -- Address, code and the rest of the text's parts (AES-256-GCM). Deleted once sent. A failed message keeps it until the
  -- code expires, so that an operator can send it again.
  sealed_content bytea,
  -- `superseded`: replaced by a newer message, or withdrawn, before it was sent.
  state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'sent', 'failed', 'superseded')),
  -- Why it failed: one of the gateway's reasons or the provider's status code.
  failure_reason text,
  -- Not sent earlier: the provider asked the gateway to wait.
  not_before timestamptz,
  -- Queued by the command line, without a job. The gateway creates the job in its next round.
  needs_job boolean NOT NULL DEFAULT false,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- When it left the state `queued`.
  completed_at timestamptz,
  UNIQUE (confirmation_id, sequence),
  CONSTRAINT messages_content CHECK (
    CASE state WHEN 'queued' THEN sealed_content IS NOT NULL WHEN 'failed' THEN true ELSE sealed_content IS NULL END
  ),
  CONSTRAINT messages_completion CHECK ((completed_at IS NULL) = (state = 'queued'))
);
-- Only the newest message of a confirmation is queued.
CREATE UNIQUE INDEX one_queued_message ON messages (confirmation_id) WHERE state = 'queued';
CREATE INDEX messages_by_age ON messages (created_at);
CREATE INDEX messages_by_expiry ON messages (expires_at);
CREATE INDEX messages_to_send_again ON messages (expires_at) WHERE state = 'failed' AND sealed_content IS NOT NULL;
CREATE INDEX messages_without_a_job ON messages (id) WHERE needs_job;

-- Receives the messages of the demo instead of a provider.
CREATE TABLE demo_mailbox (
  -- The message's id: a message that is delivered twice appears once.
  id uuid PRIMARY KEY,
  emr text NOT NULL,
  care_unit_id text NOT NULL,
  channel text NOT NULL CHECK (channel IN ('sms', 'email')),
  appointment_id text NOT NULL,
  sealed_content bytea NOT NULL,
  sent_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX demo_mailbox_by_age ON demo_mailbox (sent_at);
