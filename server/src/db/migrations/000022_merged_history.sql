-- The quarters before it have one row for each EHR in `ehr_history`, that of no process.
ALTER TABLE history_progress ADD COLUMN merged_until timestamptz;
UPDATE history_progress SET merged_until = date_bin('15 minutes', now() - interval '31 days', '2000-01-01 00:00Z');
ALTER TABLE history_progress ALTER COLUMN merged_until SET NOT NULL;

-- A sent message is found by the time at which its code expires.
DROP INDEX messages_sent_by_time;
