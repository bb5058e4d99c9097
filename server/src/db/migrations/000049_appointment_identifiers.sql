-- Identifiers that clients have given their appointments, in FHIR. They are not sent to the EHR.
CREATE TABLE appointment_identifiers (
  client_id text NOT NULL,
  emr text NOT NULL,
  care_unit_id text NOT NULL,
  -- The id by which callers know the appointment.
  appointment_id text NOT NULL,
  -- System and value (HMAC-SHA-256), to find it by, and encrypted (AES-256-GCM), to show it.
  identifier_hash bytea NOT NULL,
  sealed_identifier bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (emr, appointment_id, client_id, identifier_hash)
);
CREATE INDEX appointment_identifiers_by_hash ON appointment_identifiers (identifier_hash);
CREATE INDEX appointment_identifiers_by_age ON appointment_identifiers (created_at);
