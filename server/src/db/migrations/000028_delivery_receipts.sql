-- SHA-256 of the token in the URL to which the provider reports what becomes of the latest attempt. Null: no report is
-- awaited, or it no longer counts.
ALTER TABLE messages ADD COLUMN receipt_hash bytea;
-- When the provider reported that the message has arrived.
ALTER TABLE messages ADD COLUMN delivered_at timestamptz;
CREATE UNIQUE INDEX messages_by_receipt ON messages (receipt_hash) WHERE receipt_hash IS NOT NULL;

-- A sent message keeps its content while it can still turn out to have failed, so that an operator can send it again.
ALTER TABLE messages DROP CONSTRAINT messages_content;
ALTER TABLE messages ADD CONSTRAINT messages_content CHECK (
  CASE state
    WHEN 'queued' THEN sealed_content IS NOT NULL
    WHEN 'failed' THEN true
    WHEN 'sent' THEN sealed_content IS NULL OR (receipt_hash IS NOT NULL AND delivered_at IS NULL)
    ELSE sealed_content IS NULL
  END
);
DROP INDEX messages_to_send_again;
CREATE INDEX messages_with_content ON messages (expires_at)
  WHERE state IN ('sent', 'failed') AND sealed_content IS NOT NULL;
