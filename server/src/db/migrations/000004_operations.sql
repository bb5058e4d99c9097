-- Operations: one row for each write to an EHR, with its plan, the lease of the process that runs it, and its response.
CREATE TABLE operations (
  -- The connector sends this id to the EHR.
  id uuid PRIMARY KEY,
  client_id text NOT NULL,
  -- Null when the request has no Idempotency-Key.
  idempotency_key_hash bytea,
  request_hash bytea,
  emr text NOT NULL,
  care_unit_id text NOT NULL,
  -- Kind of plan. Null: no plan stored yet.
  kind text,
  -- `compensating`: changes already made in the EHR are being undone; it must not run again.
  -- `done` with a plan: it is monitored for late effects in the EHR.
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'compensating', 'done')),
  sealed_plan bytea,
  sealed_response bytea,
  -- The holder of the lease runs it. Every update names the token.
  lease_token uuid,
  lease_expires_at timestamptz,
  -- Times it was restarted after compensation. Part of the ids that the connector sends to the EHR.
  attempt integer NOT NULL DEFAULT 0,
  -- Failures of background recovery in a row, and the reason of the last one.
  consecutive_failures integer NOT NULL DEFAULT 0,
  last_failure text,
  -- When background recovery may take it; never before the lease expires. Null: not scheduled.
  next_attempt_at timestamptz,
  -- When it was first and last sent to the EHR.
  first_sent_at timestamptz,
  last_sent_at timestamptz,
  -- The caller got `outcome_unknown`.
  reported_unknown boolean NOT NULL DEFAULT false,
  -- It ended with effect, and is monitored because the EHR may do it a second time.
  had_effect boolean NOT NULL DEFAULT false,
  -- Patients who will get a code. Rate limits count it before it exists.
  patient_hashes bytea[] NOT NULL DEFAULT '{}',
  -- When its holds and codes expire.
  expires_at timestamptz,
  -- When background recovery gave up. An operator decides what happens next.
  suspended_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (client_id, idempotency_key_hash)
);
CREATE INDEX operations_due ON operations (emr, next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX operations_by_age ON operations (created_at);
CREATE INDEX operations_suspended ON operations (suspended_at) WHERE suspended_at IS NOT NULL;
-- Finds codes that are about to be sent to a patient.
CREATE INDEX operations_making_codes ON operations USING gin (patient_hashes)
  WHERE state = 'pending' AND patient_hashes <> '{}';
