-- What an EHR cannot keep: codes that are awaited, writes that are under way, and the answers to keys.
-- Whatever says something of a person is sealed (AES-256-GCM) or a keyed hash.

-- Processes that work on this database. One that no longer says that it is alive leaves its work to the others.
CREATE TABLE gateways (
  id uuid PRIMARY KEY,
  alive_until timestamptz NOT NULL
);

CREATE TABLE confirmations (
  id uuid PRIMARY KEY,
  client_id text NOT NULL,
  emr text NOT NULL,
  care_unit_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('booking', 'cancellation')),
  channel text NOT NULL CHECK (channel IN ('sms', 'email')),
  -- Null: the EHR checks the code, or the code has served.
  code_hash bytea,
  -- The EHR's own confirmation, where the EHR sends and checks codes.
  ehr_reference text,
  attempts_used integer NOT NULL DEFAULT 0,
  attempts_allowed integer NOT NULL,
  codes_sent integer NOT NULL DEFAULT 1,
  code_sent_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  patient_hash bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  confirmed_at timestamptz
);
CREATE INDEX confirmations_of_a_patient ON confirmations (patient_hash, created_at);

-- One row for each appointment that a code confirms.
CREATE TABLE confirmation_items (
  emr text NOT NULL,
  -- What the caller knows it by: the EHR's own id, or one that the gateway made (two-step cancellation, draft).
  appointment_id text NOT NULL,
  confirmation_id uuid NOT NULL REFERENCES confirmations (id),
  care_unit_id text NOT NULL,
  position integer NOT NULL,
  kind text NOT NULL CHECK (kind IN ('booking', 'cancellation')),
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'confirming', 'confirmed', 'released', 'expired')),
  -- The EHR's id. Null: a draft that has not been booked.
  ehr_appointment_id text,
  -- Two-step cancellation: what the caller knows the original by.
  replaces_id text,
  -- Two-step cancellation: the comment to write when the code has come.
  sealed_comment bytea,
  -- A booking that the EHR cannot hold: everything needed to book it, and what a search needs in the clear.
  sealed_draft bytea,
  patient_hash bytea,
  draft_resource_id text,
  draft_start timestamptz,
  draft_end timestamptz,
  PRIMARY KEY (emr, appointment_id)
);
CREATE INDEX confirmation_items_of_a_confirmation ON confirmation_items (confirmation_id);
CREATE INDEX confirmation_items_by_ehr_id ON confirmation_items (emr, ehr_appointment_id);
CREATE INDEX confirmation_items_waiting ON confirmation_items (state) WHERE state IN ('pending', 'confirming');
CREATE INDEX drafts_of_a_care_unit ON confirmation_items (emr, care_unit_id, draft_start) WHERE draft_start IS NOT NULL;
-- Of two cancellations at once, one makes the new id.
CREATE UNIQUE INDEX one_cancellation_at_a_time ON confirmation_items (emr, ehr_appointment_id)
  WHERE kind = 'cancellation' AND state IN ('pending', 'confirming');

-- A write to an EHR that has been decided and not yet been told to the caller.
CREATE TABLE writes (
  operation_id uuid PRIMARY KEY,
  client_id text NOT NULL,
  emr text NOT NULL,
  care_unit_id text NOT NULL,
  sealed_plan bytea NOT NULL,
  -- Which key's answer this will be, if any.
  key_hash bytea,
  -- Patients who will be sent a code: it counts before it exists.
  patient_hashes bytea[] NOT NULL DEFAULT '{}',
  -- When a hold or a code that it makes runs out.
  expires_at timestamptz,
  -- `unknown`: the caller has been told that the outcome is not known.
  state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'unknown')),
  owner uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE idempotency_keys (
  client_id text NOT NULL,
  key_hash bytea NOT NULL,
  request_hash bytea NOT NULL,
  emr text NOT NULL,
  care_unit_id text NOT NULL,
  operation_id uuid NOT NULL,
  -- `running`: its owner is at it. `open`: a failure was told, and a retry goes on. `done`: the answer is kept.
  state text NOT NULL CHECK (state IN ('running', 'open', 'done')),
  owner uuid NOT NULL,
  sealed_answer bytea,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (client_id, key_hash)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
