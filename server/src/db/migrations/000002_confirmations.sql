-- Confirmations: a code that the gateway sent to a patient, or that the EHR sends itself, and the appointments it covers.
-- Personal data is encrypted (columns `sealed_*`, AES-256-GCM) or stored as a keyed hash (columns `*_hash`).

CREATE TABLE confirmations (
  id uuid PRIMARY KEY,
  client_id text NOT NULL,
  emr text NOT NULL,
  care_unit_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('booking', 'cancellation')),
  channel text NOT NULL CHECK (channel IN ('sms', 'email')),
  -- Null when the EHR checks the code, and once the code can no longer be used. A confirmed row keeps it for a while, so
  -- that a repeated request with the right code is recognised.
  code_hash bytea,
  -- The EHR's reference to its own confirmation. Set when the EHR sends and checks codes.
  ehr_reference text,
  -- SHA-256 of the token in the link to the page for patients. Null without a page, and once the row is purged.
  page_token_hash bytea,
  -- Where that page links back to, as the caller gave it.
  sealed_return_url bytea,
  -- Wrong codes entered so far.
  failed_attempts integer NOT NULL DEFAULT 0,
  max_attempts integer NOT NULL,
  codes_sent integer NOT NULL DEFAULT 1,
  last_code_sent_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  -- Null once the row is purged.
  patient_hash bytea,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  confirmed_at timestamptz,
  -- When everything that only the code needed was deleted. What remains maps the gateway's appointment ids to the EHR's
  -- and is kept for good.
  purged_at timestamptz
);
CREATE INDEX confirmations_of_a_patient ON confirmations (patient_hash, created_at);
CREATE UNIQUE INDEX confirmations_by_page ON confirmations (page_token_hash) WHERE page_token_hash IS NOT NULL;
CREATE INDEX confirmations_to_purge ON confirmations (expires_at) WHERE purged_at IS NULL;
CREATE INDEX confirmations_with_a_code ON confirmations (confirmed_at) WHERE code_hash IS NOT NULL;

-- One row for each appointment that a confirmation covers.
CREATE TABLE confirmation_items (
  emr text NOT NULL,
  -- The id that the caller uses: the EHR's own, or one that the gateway made (two-step cancellation, draft).
  appointment_id text NOT NULL,
  confirmation_id uuid NOT NULL REFERENCES confirmations (id),
  care_unit_id text NOT NULL,
  -- Place in the request.
  position integer NOT NULL,
  kind text NOT NULL CHECK (kind IN ('booking', 'cancellation')),
  -- `confirming`: an operation is confirming it in the EHR.
  -- `expiring`: expired, but the EHR has not released the hold yet. No code confirms it any more.
  state text NOT NULL DEFAULT 'pending'
    CHECK (state IN ('pending', 'confirming', 'confirmed', 'released', 'expiring', 'expired')),
  -- The EHR's id. Null: a draft that is not booked in the EHR.
  ehr_appointment_id text,
  -- Two-step cancellation: the caller's id of the appointment to cancel.
  replaces_id text,
  -- Two-step cancellation: the comment to write once the code is confirmed.
  sealed_comment bytea,
  -- Draft: the booking that the EHR cannot hold. The columns `draft_*` are what a search needs in plain text.
  sealed_draft bytea,
  patient_hash bytea,
  draft_resource_id text,
  draft_start timestamptz,
  draft_end timestamptz,
  -- The operation that confirms it or releases its hold. Only one does so at a time.
  operation_id uuid,
  PRIMARY KEY (emr, appointment_id)
);
CREATE INDEX confirmation_items_of_a_confirmation ON confirmation_items (confirmation_id);
CREATE INDEX confirmation_items_of_an_operation ON confirmation_items (operation_id) WHERE state = 'confirming';
CREATE INDEX confirmation_items_by_ehr_id ON confirmation_items (emr, ehr_appointment_id);
CREATE INDEX confirmation_items_open ON confirmation_items (state)
  WHERE state IN ('pending', 'confirming', 'expiring');
-- Finds expired items by EHR.
CREATE INDEX confirmation_items_to_expire ON confirmation_items (emr, confirmation_id)
  WHERE state IN ('pending', 'expiring');
CREATE INDEX drafts_of_a_care_unit ON confirmation_items (emr, care_unit_id, draft_start) WHERE draft_start IS NOT NULL;
-- Of two cancellations of one appointment at the same time, one succeeds.
CREATE UNIQUE INDEX one_cancellation_at_a_time ON confirmation_items (emr, ehr_appointment_id)
  WHERE kind = 'cancellation' AND state IN ('pending', 'confirming');
