-- Which process writes to a part of an EHR, such as the bookings of one resource, while others wait. `key` names no patient. A
-- turn that is not renewed ends by itself. Unlogged: after a crash of the database, nobody has a turn.
CREATE UNLOGGED TABLE ehr_exclusive_turns (
  emr text NOT NULL,
  key text NOT NULL,
  holder uuid NOT NULL,
  ends_at timestamptz NOT NULL,
  PRIMARY KEY (emr, key)
);
