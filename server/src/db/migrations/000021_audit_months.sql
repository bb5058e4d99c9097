-- Entries of the audit trail are partitioned by month, so that years of them are searched and dropped cheaply.

DROP VIEW audit_links;
ALTER TABLE audit_entries RENAME TO audit_entries_before;
ALTER TABLE audit_entries_before RENAME CONSTRAINT audit_entries_pkey TO audit_entries_before_pkey;
DROP INDEX audit_entries_by_patient, audit_entries_by_time, audit_entries_by_client;

CREATE TABLE audit_entries (
  LIKE audit_entries_before INCLUDING CONSTRAINTS,
  -- A unique constraint needs the partition key. link_to_chain gives each position of a chain to one entry.
  PRIMARY KEY (chain_id, position, at)
) PARTITION BY RANGE (at);
CREATE INDEX audit_entries_by_patient ON audit_entries USING gin (patient_hashes);
CREATE INDEX audit_entries_by_time ON audit_entries (at);
CREATE INDEX audit_entries_by_client ON audit_entries (client_id, at);

-- Entries without a partition of their own: a wrong clock wrote them, or no gateway has created their month yet, or they have
-- expired behind a younger one of their chain.
CREATE TABLE audit_entries_default PARTITION OF audit_entries DEFAULT;

-- The partitions of months, by UTC.
CREATE VIEW audit_months AS
  SELECT to_date(substring(relname FROM '\d{4}_\d{2}$'), 'YYYY_MM') AS month, oid::regclass AS part
  FROM pg_inherits JOIN pg_class ON oid = inhrelid
  WHERE inhparent = 'audit_entries'::regclass AND relname <> 'audit_entries_default';

-- A partition inherits no trigger for statements.
CREATE FUNCTION protect_audit_entries(part regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TRIGGER audit_entries_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON %s
    FOR EACH STATEMENT EXECUTE FUNCTION reject_audit_change()', part);
END
$$;
SELECT protect_audit_entries('audit_entries'), protect_audit_entries('audit_entries_default');

-- Creates the partition of a month. Moves entries of that month from the default partition, which may not contain them.
CREATE FUNCTION create_audit_month(month date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  name text := 'audit_entries_' || to_char(month, 'YYYY_MM');
  first_at timestamptz := month::timestamp AT TIME ZONE 'UTC';
  end_at timestamptz := (month + interval '1 month') AT TIME ZONE 'UTC';
BEGIN
  EXECUTE format('CREATE TABLE %I (LIKE audit_entries INCLUDING ALL)', name);
  PERFORM set_config('crossward.audit_deletion', 'on', true);
  EXECUTE format('WITH moved AS (DELETE FROM audit_entries_default WHERE at >= %L AND at < %L RETURNING *)
    INSERT INTO %I SELECT * FROM moved', first_at, end_at, name);
  PERFORM set_config('crossward.audit_deletion', 'off', true);
  PERFORM protect_audit_entries(name::regclass);
  EXECUTE format('ALTER TABLE audit_entries ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name, first_at, end_at);
END
$$;

-- Creates the partitions of this month and the next two. Any gateway calls it, often enough. SECURITY DEFINER, so that a role
-- that owns nothing can. Fails, instead of making others wait, if the trail is in use for long.
CREATE FUNCTION create_audit_months() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET lock_timeout = '200ms' AS $$
DECLARE
  this_month date := date_trunc('month', now() AT TIME ZONE 'UTC');
  missing date;
BEGIN
  IF (SELECT count(*) FROM audit_months WHERE month BETWEEN this_month AND this_month + interval '2 months') = 3 THEN
    RETURN;
  END IF;
  -- Another gateway may create them at the same time.
  LOCK TABLE ONLY audit_entries IN SHARE UPDATE EXCLUSIVE MODE;
  FOR missing IN
    SELECT it::date FROM generate_series(this_month, this_month + interval '2 months', '1 month') AS it
    WHERE it::date NOT IN (SELECT month FROM audit_months)
  LOOP
    PERFORM create_audit_month(missing);
  END LOOP;
END
$$;

-- Drops the months that have ended at least these days ago, and deletes what is as old in the default partition. What follows a
-- younger entry of its chain is kept there, since the rest could not be verified without it. Returns the last entry that each
-- registered chain has lost, for its checkpoint. The only way to remove entries without being the owner of the table. Fails,
-- instead of making others wait, if the trail is in use for long.
CREATE FUNCTION drop_audit_months(days integer) RETURNS TABLE (of_chain uuid, last_position bigint, last_hash bytea)
LANGUAGE plpgsql SECURITY DEFINER SET lock_timeout = '200ms' AS $$
DECLARE
  kept_days integer := greatest(days, (SELECT least_days FROM audit_retention));
  kept_month date := date_trunc('month', now() AT TIME ZONE 'UTC' - kept_days * interval '1 day');
  kept_from timestamptz := kept_month::timestamp AT TIME ZONE 'UTC';
  expired regclass;
  chains uuid[];
  -- Of each chain, the position of its first entry that is kept.
  firsts bigint[];
BEGIN
  -- The oldest by the index: EXISTS would read the whole partition, because many rows could match.
  IF NOT EXISTS (SELECT FROM audit_months WHERE month < kept_month)
    AND coalesce((SELECT min(at) FROM audit_entries_default) >= kept_from, true) THEN
    RETURN;
  END IF;
  LOCK TABLE ONLY audit_entries IN ACCESS EXCLUSIVE MODE;
  SELECT array_agg(chain.id), array_agg((
    SELECT min(entry.position) FROM audit_entries AS entry WHERE entry.chain_id = chain.id AND entry.at >= kept_from))
  INTO chains, firsts FROM audit_chains AS chain
  WHERE EXISTS (SELECT FROM audit_entries AS entry WHERE entry.chain_id = chain.id AND entry.at < kept_from);
  RETURN QUERY
    SELECT chain.id, last.position, last.hash
    FROM unnest(chains, firsts) AS chain (id, first) CROSS JOIN LATERAL (
      SELECT entry.position, entry.hash FROM audit_entries AS entry
      WHERE entry.chain_id = chain.id AND entry.at < kept_from AND (chain.first IS NULL OR entry.position < chain.first)
      ORDER BY entry.position DESC LIMIT 1) AS last;
  FOR expired IN SELECT part FROM audit_months WHERE month < kept_month LOOP
    EXECUTE format('ALTER TABLE audit_entries DETACH PARTITION %s', expired);
    EXECUTE format('INSERT INTO audit_entries SELECT entry.* FROM unnest($1, $2) AS chain (id, first) JOIN %s AS entry
      ON entry.chain_id = chain.id AND entry.position > chain.first', expired) USING chains, firsts;
    EXECUTE format('DROP TABLE %s', expired);
  END LOOP;
  PERFORM set_config('crossward.audit_deletion', 'on', true);
  DELETE FROM audit_entries_default AS entry WHERE entry.at < kept_from AND NOT EXISTS (
    SELECT FROM unnest(chains, firsts) AS chain (id, first) WHERE chain.id = entry.chain_id AND entry.position > chain.first);
  PERFORM set_config('crossward.audit_deletion', 'off', true);
END
$$;

-- The time of the last entry, which says in which partition it is. Null: the chain has none, or is of what operators did.
ALTER TABLE audit_chains ADD COLUMN linked_at timestamptz(3);

SELECT create_audit_month(month) FROM (
  SELECT DISTINCT date_trunc('month', at AT TIME ZONE 'UTC')::date AS month FROM audit_entries_before
  WHERE at BETWEEN now() - interval '10 years' AND now()) AS months;
SELECT create_audit_months();
INSERT INTO audit_entries SELECT * FROM audit_entries_before;
UPDATE audit_chains AS chain SET linked_at = (
  SELECT at FROM audit_entries_before WHERE chain_id = chain.id AND position = chain.linked_position);
DROP TABLE audit_entries_before;

CREATE VIEW audit_links AS
  SELECT chain_id, position, hash, at FROM audit_entries
  UNION ALL
  SELECT chain_id, position, hash, at FROM operator_activity WHERE chain_id IS NOT NULL;

-- As before, and it looks for the entry before in one partition.
CREATE OR REPLACE FUNCTION link_to_chain(to_chain uuid, behind bigint, ids bigint[], hashes bytea[]) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  linked_subject text;
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

-- Entries are dropped by months: this deletes what operators did.
CREATE OR REPLACE FUNCTION delete_expired_links(of_chain uuid, up_to bigint, days integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  deleted bigint;
BEGIN
  PERFORM set_config('crossward.audit_deletion', 'on', true);
  DELETE FROM operator_activity
  WHERE chain_id = of_chain AND position <= up_to AND at < now() - interval '400 days';
  GET DIAGNOSTICS deleted = ROW_COUNT;
  PERFORM set_config('crossward.audit_deletion', 'off', true);
  RETURN deleted;
END
$$;

-- A role that may call them must not be able to put tables of its own in the way.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['link_to_chain', 'delete_expired_links', 'create_audit_month', 'create_audit_months',
    'drop_audit_months', 'protect_audit_entries'] LOOP
    EXECUTE format('ALTER FUNCTION %I SET search_path = %I, pg_temp', name, current_schema());
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %I FROM PUBLIC', name);
  END LOOP;
END
$$;
