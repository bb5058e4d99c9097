-- What the plots of the console show for 30 days. Quarters of an hour, because hours and days begin on one in every time zone.

-- What happened in each quarter of an hour, in all gateways. No row: nothing did.
CREATE TABLE history_counts (
  quarter timestamptz NOT NULL,
  kind text NOT NULL,
  count integer NOT NULL,
  PRIMARY KEY (quarter, kind)
);
-- One row. The quarters before `counted_until` are in `history_counts`. One gateway at a time moves it on.
CREATE TABLE history_progress (counted_until timestamptz NOT NULL);
INSERT INTO history_progress VALUES (date_bin('15 minutes', now() - interval '31 days', '2000-01-01 00:00Z'));

-- State and latency of an EHR in a quarter of an hour, as one process saw them. Only that process writes the row.
CREATE TABLE ehr_history (
  quarter timestamptz NOT NULL,
  emr text NOT NULL,
  process uuid NOT NULL,
  -- Minutes, bit 0 for the first: in which the process ran, knew the state, and found the EHR unavailable.
  running smallint NOT NULL,
  known smallint NOT NULL,
  unavailable smallint NOT NULL,
  calls integer NOT NULL,
  failures integer NOT NULL,
  -- Served calls by class of latency: up to 1 ms, each further class up to 1.5 times as long, the last one without a limit.
  latencies integer[] NOT NULL,
  PRIMARY KEY (quarter, emr, process)
);

-- Find what is counted. What has ended stays as it is.
CREATE INDEX messages_sent_by_time ON messages (completed_at) WHERE state = 'sent';
CREATE INDEX confirmations_by_time ON confirmations (confirmed_at) WHERE confirmed_at IS NOT NULL;
CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries (completed_at) WHERE completed_at IS NOT NULL;
