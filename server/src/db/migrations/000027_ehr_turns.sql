-- When the next HTTP request may go to an EHR whose rate is never exceeded. All processes of all gateways take their turns from
-- this row. Unlogged: after a crash of the database, the next turn is at once.
CREATE UNLOGGED TABLE ehr_turns (
  emr text PRIMARY KEY,
  next_at timestamptz NOT NULL
);
