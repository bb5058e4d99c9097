-- The queue of messages. Gateways of version 0.1.0 know neither column, and send what they queue by jobs of pg-boss.
-- When the next attempt is due; while one is under way, when another process may claim the message. NULL if the message is not
-- queued, or was queued by version 0.1.0.
ALTER TABLE messages ADD COLUMN next_attempt_at timestamptz;
-- Attempts that were started since it was queued. NULL: version 0.1.0 has queued it, and no gateway has taken it over.
ALTER TABLE messages ADD COLUMN attempts integer;
CREATE INDEX messages_due ON messages (next_attempt_at) WHERE state = 'queued';
