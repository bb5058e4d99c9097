-- One row for every write: what is to be done, who works on it, and what was answered. It takes the place of `writes`,
-- `idempotency_keys` and `gateways`.

-- A plan of the version before cannot be read by this one.
DO $$
BEGIN
  IF EXISTS (SELECT FROM writes) THEN
    RAISE EXCEPTION 'Unfinished writes of the version before: let that version finish them, then start this one';
  END IF;
END $$;

CREATE TABLE operations (
  -- The operation id that the EHR is given.
  id uuid PRIMARY KEY,
  client_id text NOT NULL,
  -- Null without an Idempotency-Key.
  key_hash bytea,
  request_hash bytea,
  emr text NOT NULL,
  care_unit_id text NOT NULL,
  -- Which kind of plan it is. Null: nothing is planned yet.
  kind text,
  -- `undoing`: what the EHR has done of it is taken back, and it must not be done again.
  -- `done` with a plan: it ended as not done, and is watched for effects that turn up late.
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'undoing', 'done')),
  sealed_plan bytea,
  sealed_answer bytea,
  -- Whoever holds the lease works on it. Every update names the token.
  lease_token uuid,
  leased_until timestamptz,
  -- How often it was begun anew after it was undone: part of the ids that the EHR is given.
  attempt integer NOT NULL DEFAULT 0,
  -- How often background work on it has failed in a row.
  failures integer NOT NULL DEFAULT 0,
  -- What failed last: a reason of ours.
  failure text,
  -- When background work may take it. Never before the lease ends.
  next_attempt_at timestamptz,
  -- When the EHR was first and last asked to do it.
  asked_at timestamptz,
  last_asked_at timestamptz,
  -- The caller was told that the outcome is unknown.
  outcome_reported boolean NOT NULL DEFAULT false,
  -- Patients who will be sent a code: it counts before it exists.
  patient_hashes bytea[] NOT NULL DEFAULT '{}',
  -- When the holds and codes that it makes run out.
  expires_at timestamptz,
  -- Background work has given up, and an operator has to look at it.
  parked_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (client_id, key_hash)
);
CREATE INDEX operations_due ON operations (emr, next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX operations_by_age ON operations (created_at);
CREATE INDEX operations_parked ON operations (parked_at) WHERE parked_at IS NOT NULL;
CREATE INDEX operations_making_codes ON operations USING gin (patient_hashes)
  WHERE state = 'pending' AND patient_hashes <> '{}';

-- Answers that are kept stay kept.
INSERT INTO operations (id, client_id, key_hash, request_hash, emr, care_unit_id, state, sealed_answer, created_at)
  SELECT operation_id, client_id, key_hash, request_hash, emr, care_unit_id, 'done', sealed_answer, created_at
  FROM idempotency_keys WHERE state = 'done';

DROP TABLE writes;
DROP TABLE idempotency_keys;
DROP TABLE gateways;

-- One operation at a time confirms an item, and it has an id of its own.
ALTER TABLE confirmations DROP COLUMN times_undone;
CREATE INDEX confirmation_items_of_an_operation ON confirmation_items (operation_id) WHERE state = 'confirming';

UPDATE confirmation_items SET operation_id = NULL WHERE operation_id IS NOT NULL;

-- What has run out is found by EHR.
CREATE INDEX confirmation_items_awaiting ON confirmation_items (emr, confirmation_id)
  WHERE state IN ('pending', 'expiring');
