-- Deletes what has served, a bounded number of rows at a time: each look finds its rows through an index of its own.

-- When all was deleted that only the code needed. What is left says which appointment of the EHR an id of ours stands
-- for, and is kept for good.
ALTER TABLE confirmations ADD COLUMN reduced_at timestamptz;
-- Null: reduced.
ALTER TABLE confirmations ALTER COLUMN patient_hash DROP NOT NULL;
CREATE INDEX confirmations_to_reduce ON confirmations (expires_at) WHERE reduced_at IS NULL;

-- Confirmed: a repetition of the right code is recognised for a while. Null: awaited, or over without it.
CREATE INDEX confirmations_with_a_code ON confirmations (confirmed_at) WHERE code_hash IS NOT NULL;

CREATE INDEX messages_by_expiry ON messages (expires_at);

-- A message that failed for good keeps its content while its code lasts, so that an operator can have it sent again.
ALTER TABLE messages
  -- A word of ours or a provider's number.
  ADD COLUMN failure text,
  -- Queued again from outside the gateway, which makes the job in its next round.
  ADD COLUMN awaits_job boolean NOT NULL DEFAULT false,
  DROP CONSTRAINT messages_check,
  ADD CONSTRAINT messages_content CHECK (
    CASE state WHEN 'queued' THEN sealed IS NOT NULL WHEN 'failed' THEN true ELSE sealed IS NULL END
  );
CREATE INDEX messages_to_send_again ON messages (expires_at) WHERE state = 'failed' AND sealed IS NOT NULL;
CREATE INDEX messages_without_a_job ON messages (id) WHERE awaits_job;
