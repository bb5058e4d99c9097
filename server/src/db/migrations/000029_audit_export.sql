-- The audit trail leaves the database: entries get a place in exports, and one gateway at a time writes them to a file.

-- The last export position. One row, which link_to_chain locks until its statement has committed: so positions have no gaps, and
-- none appears before a lower one.
CREATE TABLE audit_export_positions (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  last bigint NOT NULL
);

-- Not covered by the hash of an entry, which has its place in its chain.
ALTER TABLE audit_entries ADD COLUMN export_position bigint;
ALTER TABLE ONLY audit_entries DISABLE TRIGGER audit_entries_are_append_only;
UPDATE audit_entries AS entry SET export_position = placed.place FROM (
  SELECT chain_id, position, at, row_number() OVER (ORDER BY at, chain_id, position) AS place FROM audit_entries) AS placed
WHERE entry.chain_id = placed.chain_id AND entry.position = placed.position AND entry.at = placed.at;
ALTER TABLE ONLY audit_entries ENABLE TRIGGER audit_entries_are_append_only;
ALTER TABLE audit_entries ALTER COLUMN export_position SET NOT NULL;
CREATE INDEX audit_entries_by_export_position ON audit_entries (export_position);
INSERT INTO audit_export_positions (last) SELECT coalesce(max(export_position), 0) FROM audit_entries;

-- How far the file of `audit.export` is written. One row.
CREATE TABLE audit_export (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  -- Entries up to this export position are in the file, on its disk.
  exported bigint NOT NULL DEFAULT 0,
  exported_at timestamptz,
  -- The process that writes, until then.
  writer_id uuid,
  leased_until timestamptz NOT NULL DEFAULT now(),
  -- Why the last attempt failed: a code of the operating system. Null: it did not.
  failure text,
  failed_at timestamptz
);
INSERT INTO audit_export DEFAULT VALUES;

-- As before, and gives each entry its export position.
CREATE OR REPLACE FUNCTION link_to_chain(to_chain uuid, behind bigint, ids bigint[], hashes bytea[]) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  linked_subject text;
  exported bigint;
  linked bigint;
BEGIN
  UPDATE audit_chains AS chain SET linked_position = behind + cardinality(ids),
    linked_at = (SELECT at FROM audit_drafts WHERE subject = 'accesses' AND id = ids[cardinality(ids)])
  WHERE id = to_chain AND linked_position = behind AND (behind IN (0, checkpoint_position) OR CASE subject
    WHEN 'accesses' THEN EXISTS (
      SELECT FROM audit_entries WHERE chain_id = to_chain AND position = behind AND at = chain.linked_at)
    ELSE EXISTS (SELECT FROM operator_activity WHERE chain_id = to_chain AND position = behind) END)
  RETURNING subject INTO linked_subject;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  IF linked_subject = 'accesses' THEN
    UPDATE audit_export_positions SET last = last + cardinality(ids) RETURNING last - cardinality(ids) INTO exported;
    WITH moved AS (
      DELETE FROM audit_drafts AS draft
      USING unnest(ids, hashes) WITH ORDINALITY AS link (id, hash, place)
      WHERE draft.id = link.id
      RETURNING draft.*, link.hash, link.place)
    INSERT INTO audit_entries (chain_id, position, id, at, actor_kind, client_id, operation, emr, care_unit_id, patient_hashes,
      record_ids, outcome, request_id, operation_id, hash, export_position)
    SELECT to_chain, behind + place, id, at, actor_kind, client_id, operation, emr, care_unit_id, patient_hashes,
      record_ids, outcome, request_id, operation_id, hash, exported + place
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

-- CREATE OR REPLACE has taken the settings of the function, not its rights.
DO $$
BEGIN
  EXECUTE format('ALTER FUNCTION link_to_chain SET search_path = %I, pg_temp', current_schema());
END
$$;
