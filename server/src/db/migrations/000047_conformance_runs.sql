-- The last run of the conformance kit at each EHR, begun in the console. Names no patient, and has no value of a record.
CREATE TABLE conformance_runs (
  emr text PRIMARY KEY,
  -- Which run the row is about: one that another has replaced writes nothing.
  run uuid NOT NULL,
  care_unit_id text NOT NULL,
  -- Whether it books and cancels for a patient whom the operator has named.
  books boolean NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  -- When its process was last heard of. One that has not ended and is silent was interrupted.
  heard_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  -- How long the run before took, if it did the same.
  expected_seconds double precision,
  results jsonb NOT NULL DEFAULT '[]',
  left_behind jsonb NOT NULL DEFAULT '[]',
  -- Why it ended early.
  failure text
);
