-- An access leaves a draft in the transaction that it belongs to. Afterwards, drafts are moved into a chain: they are linked.
-- So no request waits for the hash of another one's entry. What operators do is linked in the same way, in its own table.

CREATE TABLE audit_drafts (
  -- Also the id of the entry. From one sequence, so it stays unique if entries are partitioned by time.
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- By the clock of the database. The process that wrote it links it. If it is late, another one does.
  written_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  writer_id uuid NOT NULL,
  key_id uuid NOT NULL,
  -- HMAC-SHA-256 of the columns below, so that nobody without the key can add or change a draft.
  mac bytea NOT NULL,
  -- As in audit_entries.
  at timestamptz(3) NOT NULL,
  actor_kind text NOT NULL CHECK (actor_kind IN ('client', 'patient_page', 'background')),
  client_id text NOT NULL,
  operation text NOT NULL,
  emr text NOT NULL,
  care_unit_id text NOT NULL,
  patient_hashes bytea[] NOT NULL,
  record_ids text[] NOT NULL,
  outcome text NOT NULL,
  request_id text NOT NULL,
  operation_id uuid
)
-- Rows live for a second, so most of the table is soon dead.
WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_insert_scale_factor = 0,
  autovacuum_vacuum_insert_threshold = 5000, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000);

-- Null in entries that a gateway of the previous release has written.
ALTER TABLE audit_entries ADD COLUMN id bigint;
-- The write that the access was part of. All entries of a write have the same one.
ALTER TABLE audit_entries ADD COLUMN operation_id uuid;

ALTER TABLE audit_chains ADD COLUMN subject text NOT NULL DEFAULT 'accesses' CHECK (subject IN ('accesses', 'activity'));
-- The last position. A gateway links only behind the position that it knows. 0 for chains of the previous release.
ALTER TABLE audit_chains ADD COLUMN linked_position bigint NOT NULL DEFAULT 0;

-- Null until the row is linked. What was recorded before this migration is linked as it is.
ALTER TABLE operator_activity ADD COLUMN chain_id uuid;
ALTER TABLE operator_activity ADD COLUMN position bigint;
-- HMAC-SHA-256 of the previous row's hash and all columns of this one.
ALTER TABLE operator_activity ADD COLUMN hash bytea;
CREATE UNIQUE INDEX operator_activity_by_position ON operator_activity (chain_id, position) WHERE chain_id IS NOT NULL;
CREATE INDEX operator_activity_not_linked ON operator_activity (id) WHERE chain_id IS NULL;

-- At least this many days an entry of the audit trail is kept, whatever the configuration of a gateway says. A role that does
-- not own this table cannot lower it.
CREATE TABLE audit_retention (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  least_days integer NOT NULL
);
INSERT INTO audit_retention (least_days) VALUES (1);

-- What each chain consists of.
CREATE VIEW audit_links AS
  SELECT chain_id, position, hash, at FROM audit_entries
  UNION ALL
  SELECT chain_id, position, hash, at FROM operator_activity WHERE chain_id IS NOT NULL;

-- Links rows behind a position of a chain, in their order, in one statement: no lock outlasts it, whatever becomes of the
-- gateway. Returns false and does nothing unless the chain ends with that position. Fails if somebody has linked one of the
-- rows meanwhile. SECURITY DEFINER, so that the role of a gateway needs no right to write entries or to delete drafts.
CREATE FUNCTION link_to_chain(to_chain uuid, behind bigint, ids bigint[], hashes bytea[]) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  linked_subject text;
  linked bigint;
BEGIN
  UPDATE audit_chains SET linked_position = behind + cardinality(ids)
  WHERE id = to_chain AND linked_position = behind AND (behind IN (0, checkpoint_position) OR CASE subject
    WHEN 'accesses' THEN EXISTS (SELECT FROM audit_entries WHERE chain_id = to_chain AND position = behind)
    ELSE EXISTS (SELECT FROM operator_activity WHERE chain_id = to_chain AND position = behind) END)
  RETURNING subject INTO linked_subject;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  IF linked_subject = 'accesses' THEN
    WITH moved AS (
      DELETE FROM audit_drafts AS draft
      USING unnest(ids, hashes) WITH ORDINALITY AS link (id, hash, place)
      WHERE draft.id = link.id
      RETURNING draft.*, link.hash, link.place)
    INSERT INTO audit_entries (chain_id, position, id, at, actor_kind, client_id, operation, emr, care_unit_id, patient_hashes,
      record_ids, outcome, request_id, operation_id, hash)
    SELECT to_chain, behind + place, id, at, actor_kind, client_id, operation, emr, care_unit_id, patient_hashes,
      record_ids, outcome, request_id, operation_id, hash
    FROM moved ORDER BY place;
  ELSE
    UPDATE operator_activity AS activity SET chain_id = to_chain, position = behind + link.place, hash = link.hash
    FROM unnest(ids, hashes) WITH ORDINALITY AS link (id, hash, place)
    WHERE activity.id = link.id AND activity.chain_id IS NULL;
  END IF;
  GET DIAGNOSTICS linked = ROW_COUNT;
  IF linked <> cardinality(ids) THEN
    RAISE EXCEPTION 'another process has linked some of the rows' USING ERRCODE = 'serialization_failure';
  END IF;
  RETURN true;
END
$$;

-- Deletes what a chain has up to a position, as far as its retention has ended. Returns how much. The only way to delete linked
-- rows without being the owner of the tables.
CREATE FUNCTION delete_expired_links(of_chain uuid, up_to bigint, days integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  deleted bigint;
BEGIN
  PERFORM set_config('crossward.audit_deletion', 'on', true);
  IF (SELECT subject = 'activity' FROM audit_chains WHERE id = of_chain) THEN
    DELETE FROM operator_activity
    WHERE chain_id = of_chain AND position <= up_to AND at < now() - interval '400 days';
  ELSE
    DELETE FROM audit_entries
    WHERE chain_id = of_chain AND position <= up_to
      AND at < now() - greatest(days, (SELECT least_days FROM audit_retention)) * interval '1 day';
  END IF;
  GET DIAGNOSTICS deleted = ROW_COUNT;
  PERFORM set_config('crossward.audit_deletion', 'off', true);
  RETURN deleted;
END
$$;

-- A role that may call them must not be able to put tables of its own in the way (PostgreSQL, "Writing SECURITY DEFINER
-- Functions Safely").
DO $$
BEGIN
  EXECUTE format('ALTER FUNCTION link_to_chain SET search_path = %I, pg_temp', current_schema());
  EXECUTE format('ALTER FUNCTION delete_expired_links SET search_path = %I, pg_temp', current_schema());
END
$$;
REVOKE EXECUTE ON FUNCTION link_to_chain, delete_expired_links FROM PUBLIC;

-- The variable alone lets nobody delete: it counts for the owner only, as whom delete_expired_links runs.
CREATE OR REPLACE FUNCTION reject_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('crossward.audit_deletion', true) IS NOT DISTINCT FROM 'on'
    AND current_user = (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = TG_RELID) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE TRIGGER linked_activity_is_append_only
  BEFORE UPDATE OR DELETE ON operator_activity
  FOR EACH ROW WHEN (OLD.chain_id IS NOT NULL) EXECUTE FUNCTION reject_audit_change();
CREATE TRIGGER activity_is_not_truncated
  BEFORE TRUNCATE ON operator_activity
  FOR EACH STATEMENT EXECUTE FUNCTION reject_audit_change();
