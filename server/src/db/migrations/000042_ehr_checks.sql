-- What the daily check of each EHR has seen, to tell when the EHR becomes another. Names no patient.
CREATE TABLE ehr_checks (
  emr text PRIMARY KEY,
  due_at timestamptz NOT NULL,
  -- Keyed hash of the configuration and the version of the gateway: what they change, the EHR has not changed.
  configured bytea,
  seen jsonb,
  -- What was seen when an operator last noted the changes, or first.
  noted jsonb,
  changed_at timestamptz,
  -- Another offer, until the next check sees it too: the failure of a moment is no change.
  unproven jsonb
);
