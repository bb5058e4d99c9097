-- EHRs that operators have paused. All processes read it every two seconds.
CREATE TABLE ehr_pauses (
  emr text PRIMARY KEY,
  paused_at timestamptz NOT NULL DEFAULT now(),
  -- When it ends by itself. NULL: when an operator ends it.
  paused_until timestamptz
);
