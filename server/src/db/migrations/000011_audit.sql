-- The audit trail: who had access to which patient's record. Contains no identifier of a patient in clear.

-- Keys of the trail itself, because rows live longer than the secret keys of the environment.
CREATE TABLE audit_keys (
  id uuid PRIMARY KEY,
  -- 32 random bytes (AES-256-GCM under the newest secret key).
  sealed_key bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Each gateway process writes one chain of entries.
CREATE TABLE audit_chains (
  id uuid PRIMARY KEY,
  key_id uuid NOT NULL,
  started_at timestamptz(3) NOT NULL,
  -- The process has stopped and writes no more. Null: it runs, or was killed.
  closed_at timestamptz(3),
  -- The last anchor: up to this position, the chain was whole at that time. `anchor_mac` is a keyed hash of it. 0: no entry.
  anchor_position bigint NOT NULL,
  anchor_hash bytea NOT NULL,
  anchored_at timestamptz(3) NOT NULL,
  anchor_mac bytea NOT NULL,
  -- Entries up to this position were deleted at the end of their retention. `checkpoint_mac` is a keyed hash of it.
  checkpoint_position bigint,
  checkpoint_hash bytea,
  checkpointed_at timestamptz(3),
  checkpoint_mac bytea
);

CREATE TABLE audit_entries (
  chain_id uuid NOT NULL,
  position bigint NOT NULL,
  -- By the clock of the gateway. The hash covers milliseconds, so no more are stored.
  at timestamptz(3) NOT NULL,
  actor_kind text NOT NULL CHECK (actor_kind IN ('client', 'patient_page', 'background')),
  -- The client, also the one that an operation or a page acts for. `background`: a job of the gateway's own.
  client_id text NOT NULL,
  operation text NOT NULL,
  emr text NOT NULL,
  care_unit_id text NOT NULL,
  -- HMAC-SHA-256 of each identifier, the first 16 bytes.
  patient_hashes bytea[] NOT NULL,
  -- The EHR's ids of appointments, notes and documents.
  record_ids text[] NOT NULL,
  -- `success`, `dry_run`, `replayed` or the reason of a problem.
  outcome text NOT NULL,
  -- Of a background job: the id of the operation.
  request_id text NOT NULL,
  -- HMAC-SHA-256 of the previous entry's hash and all columns of this one.
  hash bytea NOT NULL,
  PRIMARY KEY (chain_id, position)
);
CREATE INDEX audit_entries_by_patient ON audit_entries USING gin (patient_hashes);
CREATE INDEX audit_entries_by_time ON audit_entries (at);
CREATE INDEX audit_entries_by_client ON audit_entries (client_id, at);

-- Nothing changes or removes entries, except the deletion at the end of their retention.
CREATE FUNCTION reject_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' OR current_setting('crossward.audit_deletion', true) IS DISTINCT FROM 'on' THEN
    RAISE EXCEPTION 'audit_entries is append-only' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER audit_entries_are_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
  FOR EACH STATEMENT EXECUTE FUNCTION reject_audit_change();
