-- What a client may have in total: held times, and messages in a day.
ALTER TABLE clients
  -- {"held_times": …, "sms_per_day": …, "emails_per_day": …}. What is absent is that of the configuration file.
  ADD COLUMN budgets jsonb NOT NULL DEFAULT '{}';

-- Codes that were queued for a client on a day in UTC. Several slots, so that concurrent writes do not wait for one row.
CREATE TABLE client_messages (
  client_id text NOT NULL,
  channel text NOT NULL CHECK (channel IN ('sms', 'email')),
  day date NOT NULL,
  slot smallint NOT NULL,
  sent integer NOT NULL,
  PRIMARY KEY (client_id, channel, day, slot)
);
CREATE INDEX client_messages_by_day ON client_messages (day);

CREATE INDEX confirmations_of_a_client ON confirmations (client_id, expires_at) WHERE purged_at IS NULL;
-- Finds codes that are about to be sent for a client.
CREATE INDEX operations_making_codes_of_a_client ON operations (client_id)
  WHERE state = 'pending' AND patient_hashes <> '{}';
