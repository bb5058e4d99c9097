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
