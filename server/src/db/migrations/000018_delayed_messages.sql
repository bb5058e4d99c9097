-- When the gateways noticed that the message had not left within a minute: from then on its delivery is `delayed`. Set
-- once, together with the event.
ALTER TABLE messages ADD COLUMN delayed_at timestamptz;
-- When an operator last queued it again after it had failed. The minute begins anew.
ALTER TABLE messages ADD COLUMN queued_again_at timestamptz;
CREATE INDEX messages_not_yet_delayed ON messages (created_at) WHERE state = 'queued' AND delayed_at IS NULL;
