--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: pgboss; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA pgboss;


--
-- Name: sandbox; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA sandbox;


--
-- Name: btree_gist; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS btree_gist WITH SCHEMA public;


--
-- Name: EXTENSION btree_gist; Type: COMMENT; Schema: -; Owner: -
--

COMMENT ON EXTENSION btree_gist IS 'support for indexing common datatypes in GiST';


--
-- Name: job_state; Type: TYPE; Schema: pgboss; Owner: -
--

CREATE TYPE pgboss.job_state AS ENUM (
    'created',
    'retry',
    'active',
    'completed',
    'cancelled',
    'failed'
);


--
-- Name: written_appointment; Type: TYPE; Schema: sandbox; Owner: -
--

CREATE TYPE sandbox.written_appointment AS (
	id text,
	read_version text,
	takes_time boolean,
	care_unit_id text,
	patient_id text,
	resource_id text,
	healthcare_service_id text,
	starts_at timestamp with time zone,
	ends_at timestamp with time zone,
	state text,
	held_until timestamp with time zone,
	comment text
);


--
-- Name: create_queue(text, jsonb); Type: FUNCTION; Schema: pgboss; Owner: -
--

CREATE FUNCTION pgboss.create_queue(queue_name text, options jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $_$
    DECLARE
      tablename varchar := CASE WHEN options->>'partition' = 'true'
                            THEN 'j' || encode(sha224(queue_name::bytea), 'hex')
                            ELSE 'job_common'
                            END;
      queue_created_on timestamptz;
    BEGIN

      WITH q as (
        INSERT INTO pgboss.queue (
          name,
          policy,
          retry_limit,
          retry_delay,
          retry_backoff,
          retry_delay_max,
          expire_seconds,
          retention_seconds,
          deletion_seconds,
          warning_queued,
          dead_letter,
          partition,
          table_name,
          heartbeat_seconds,
          notify
        )
        VALUES (
          queue_name,
          options->>'policy',
          COALESCE((options->>'retryLimit')::int, 2),
          COALESCE((options->>'retryDelay')::int, 0),
          COALESCE((options->>'retryBackoff')::bool, false),
          (options->>'retryDelayMax')::int,
          COALESCE((options->>'expireInSeconds')::int, 900),
          COALESCE((options->>'retentionSeconds')::int, 1209600),
          COALESCE((options->>'deleteAfterSeconds')::int, 604800),
          COALESCE((options->>'warningQueueSize')::int, 0),
          options->>'deadLetter',
          COALESCE((options->>'partition')::bool, false),
          tablename,
          (options->>'heartbeatSeconds')::int,
          COALESCE((options->>'notify')::bool, false)
        )
        ON CONFLICT DO NOTHING
        RETURNING created_on
      )
      SELECT created_on into queue_created_on from q;

      IF queue_created_on IS NULL OR options->>'partition' IS DISTINCT FROM 'true' THEN
        RETURN;
      END IF;

      EXECUTE format('CREATE TABLE pgboss.%I (LIKE pgboss.job INCLUDING DEFAULTS)', tablename);

      EXECUTE pgboss.job_table_format($cmd$ALTER TABLE pgboss.job ADD PRIMARY KEY (name, id)$cmd$, tablename);
      EXECUTE pgboss.job_table_format($cmd$ALTER TABLE pgboss.job ADD CONSTRAINT q_fkey FOREIGN KEY (name) REFERENCES pgboss.queue (name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED$cmd$, tablename);
      EXECUTE pgboss.job_table_format($cmd$ALTER TABLE pgboss.job ADD CONSTRAINT dlq_fkey FOREIGN KEY (dead_letter) REFERENCES pgboss.queue (name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED$cmd$, tablename);

      EXECUTE pgboss.job_table_format($cmd$CREATE INDEX job_i11 ON pgboss.job (name, priority DESC, created_on, start_after) WHERE state < 'active' AND NOT blocked$cmd$, tablename);
      EXECUTE pgboss.job_table_format($cmd$CREATE UNIQUE INDEX job_i4 ON pgboss.job (name, singleton_on, COALESCE(singleton_key, '')) WHERE state <> 'cancelled' AND singleton_on IS NOT NULL$cmd$, tablename);
      EXECUTE pgboss.job_table_format($cmd$CREATE INDEX job_i7 ON pgboss.job (name, group_id) WHERE state = 'active' AND group_id IS NOT NULL$cmd$, tablename);
      EXECUTE pgboss.job_table_format($cmd$CREATE INDEX job_i9 ON pgboss.job (name, id) WHERE blocking AND state = 'completed'$cmd$, tablename);

      IF options->>'policy' = 'short' THEN
        EXECUTE pgboss.job_table_format($cmd$CREATE UNIQUE INDEX job_i1 ON pgboss.job (name, COALESCE(singleton_key, '')) WHERE state = 'created' AND policy = 'short'$cmd$, tablename);
      ELSIF options->>'policy' = 'singleton' THEN
        EXECUTE pgboss.job_table_format($cmd$CREATE UNIQUE INDEX job_i2 ON pgboss.job (name, COALESCE(singleton_key, '')) WHERE state = 'active' AND policy = 'singleton'$cmd$, tablename);
      ELSIF options->>'policy' = 'stately' THEN
        EXECUTE pgboss.job_table_format($cmd$CREATE UNIQUE INDEX job_i3 ON pgboss.job (name, state, COALESCE(singleton_key, '')) WHERE state <= 'active' AND policy = 'stately'$cmd$, tablename);
      ELSIF options->>'policy' = 'exclusive' THEN
        EXECUTE pgboss.job_table_format($cmd$CREATE UNIQUE INDEX job_i6 ON pgboss.job (name, COALESCE(singleton_key, '')) WHERE state <= 'active' AND policy = 'exclusive'$cmd$, tablename);
      ELSIF options->>'policy' = 'key_strict_fifo' THEN
        EXECUTE pgboss.job_table_format($cmd$CREATE UNIQUE INDEX job_i8 ON pgboss.job (name, singleton_key) WHERE state IN ('active', 'retry', 'failed') AND policy = 'key_strict_fifo'$cmd$, tablename);
        EXECUTE pgboss.job_table_format($cmd$CREATE INDEX job_i10 ON pgboss.job (name, singleton_key, state DESC, created_on, id) INCLUDE (start_after) WHERE state < 'active' AND NOT blocked AND policy = 'key_strict_fifo'$cmd$, tablename);
        EXECUTE pgboss.job_table_format($cmd$ALTER TABLE pgboss.job ADD CONSTRAINT job_key_strict_fifo_singleton_key_check CHECK (NOT (policy = 'key_strict_fifo' AND singleton_key IS NULL))$cmd$, tablename);
      END IF;

      EXECUTE format('ALTER TABLE pgboss.%I ADD CONSTRAINT cjc CHECK (name=%L)', tablename, queue_name);
      EXECUTE format('ALTER TABLE pgboss.job ATTACH PARTITION pgboss.%I FOR VALUES IN (%L)', tablename, queue_name);
    END;
    $_$;


--
-- Name: delete_queue(text); Type: FUNCTION; Schema: pgboss; Owner: -
--

CREATE FUNCTION pgboss.delete_queue(queue_name text) RETURNS void
    LANGUAGE plpgsql
    AS $$
    DECLARE
      v_table varchar;
      v_partition bool;
    BEGIN
      
      SELECT table_name, partition
      FROM pgboss.queue
      WHERE name = queue_name
      INTO v_table, v_partition;

      IF v_partition THEN
        EXECUTE format('DROP TABLE IF EXISTS pgboss.%I', v_table);
      ELSE
        EXECUTE format('DELETE FROM pgboss.%I WHERE name = %L', v_table, queue_name);
      END IF;
    
      DELETE FROM pgboss.queue WHERE name = queue_name;
    END;
    $$;


--
-- Name: job_table_format(text, text); Type: FUNCTION; Schema: pgboss; Owner: -
--

CREATE FUNCTION pgboss.job_table_format(command text, table_name text) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $_$
      SELECT format(
        regexp_replace(
          regexp_replace(command, '\.job\y', '.%1$I', 'g'),
          '\yjob_i(\d+)', '%1$s_i\1', 'g'
        ),
        table_name
      );
    $_$;


--
-- Name: job_table_run(text, text, text); Type: FUNCTION; Schema: pgboss; Owner: -
--

CREATE FUNCTION pgboss.job_table_run(command text, tbl_name text DEFAULT NULL::text, queue_name text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql
    AS $$
    DECLARE
      tbl RECORD;
    BEGIN
      IF queue_name IS NOT NULL THEN
        SELECT table_name INTO tbl_name FROM pgboss.queue WHERE name = queue_name;
      END IF;

      IF tbl_name IS NOT NULL THEN
        EXECUTE pgboss.job_table_format(command, tbl_name);
        RETURN;
      END IF;

      EXECUTE pgboss.job_table_format(command, 'job_common');

      FOR tbl IN SELECT table_name FROM pgboss.queue WHERE partition = true
      LOOP
        EXECUTE pgboss.job_table_format(command, tbl.table_name);
      END LOOP;
    END;
    $$;


--
-- Name: job_table_run_async(text, integer, text, text, text); Type: FUNCTION; Schema: pgboss; Owner: -
--

CREATE FUNCTION pgboss.job_table_run_async(command_name text, version integer, command text, tbl_name text DEFAULT NULL::text, queue_name text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql
    AS $$
    BEGIN
      IF queue_name IS NOT NULL THEN
        SELECT table_name INTO tbl_name FROM pgboss.queue WHERE name = queue_name;
      END IF;

      IF tbl_name IS NOT NULL THEN
        INSERT INTO pgboss.bam (name, version, status, queue, table_name, command)
        VALUES (
          command_name,
          version,
          'pending',
          queue_name,
          tbl_name,
          pgboss.job_table_format(command, tbl_name)
        );
        RETURN;
      END IF;

      INSERT INTO pgboss.bam (name, version, status, queue, table_name, command)
      SELECT
        command_name,
        version,
        'pending',
        NULL,
        'job_common',
        pgboss.job_table_format(command, 'job_common')
      UNION ALL
      SELECT
        command_name,
        version,
        'pending',
        queue.name,
        queue.table_name,
        pgboss.job_table_format(command, queue.table_name)
      FROM pgboss.queue
      WHERE partition = true;
    END;
    $$;


--
-- Name: create_audit_month(date); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.create_audit_month(month date) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
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


--
-- Name: create_audit_months(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.create_audit_months() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET lock_timeout TO '200ms'
    SET search_path TO 'public', 'pg_temp'
    AS $$
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


--
-- Name: delete_expired_links(uuid, bigint, integer); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.delete_expired_links(of_chain uuid, up_to bigint, days integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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


--
-- Name: drop_audit_months(integer); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.drop_audit_months(days integer) RETURNS TABLE(of_chain uuid, last_position bigint, last_hash bytea)
    LANGUAGE plpgsql SECURITY DEFINER
    SET lock_timeout TO '200ms'
    SET search_path TO 'public', 'pg_temp'
    AS $_$
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
$_$;


--
-- Name: link_to_chain(uuid, bigint, bigint[], bytea[]); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.link_to_chain(to_chain uuid, behind bigint, ids bigint[], hashes bytea[]) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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


--
-- Name: protect_audit_entries(regclass); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.protect_audit_entries(part regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
  EXECUTE format('CREATE TRIGGER audit_entries_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON %s
    FOR EACH STATEMENT EXECUTE FUNCTION reject_audit_change()', part);
END
$$;


--
-- Name: reject_audit_change(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.reject_audit_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('crossward.audit_deletion', true) IS NOT DISTINCT FROM 'on'
    AND current_user = (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = TG_RELID) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;


--
-- Name: book_together(text, json, text[], text[], bigint[], timestamp with time zone); Type: FUNCTION; Schema: sandbox; Owner: -
--

CREATE FUNCTION sandbox.book_together(for_emr text, bookings json, shared_locks text[], exclusive_locks text[], read_schedule_versions bigint[], earliest_start timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
  lock_name text;
  -- An expression that is assigned costs less than a statement.
  is_locked boolean;
  booked integer;
BEGIN
  FOREACH lock_name IN ARRAY shared_locks LOOP
    is_locked := pg_advisory_xact_lock_shared(hashtextextended(lock_name, 0)) IS NOT NULL;
  END LOOP;
  FOREACH lock_name IN ARRAY exclusive_locks LOOP
    is_locked := pg_advisory_xact_lock(hashtextextended(lock_name, 0)) IS NOT NULL;
  END LOOP;
  IF earliest_start <= clock_timestamp() THEN
    RAISE exclusion_violation USING MESSAGE = 'A time has begun';
  END IF;
  -- Its snapshot is taken now, under the locks.
  WITH booking AS MATERIALIZED (
    SELECT * FROM json_to_recordset(bookings) AS it (
      operation_id uuid, id text, care_unit_id text, patient_id text, resource_id text, healthcare_service_id text,
      starts_at timestamptz, ends_at timestamptz, state text, held_until timestamptz, comment text)
  ), completed AS (
    INSERT INTO sandbox.operations (emr, operation_id, appointment_ids)
    SELECT for_emr, operation_id, ARRAY[id] FROM booking ORDER BY operation_id)
  INSERT INTO sandbox.appointments
    (emr, id, care_unit_id, patient_id, resource_id, healthcare_service_id, starts_at, ends_at, state, held_until, comment)
  SELECT for_emr, id, care_unit_id, patient_id, resource_id, healthcare_service_id, starts_at, ends_at, state, held_until, comment
  FROM booking
  WHERE NOT EXISTS (
    SELECT FROM sandbox.schedule_versions WHERE emr = for_emr AND version <> ANY (read_schedule_versions));
  GET DIAGNOSTICS booked = ROW_COUNT;
  IF booked = 0 THEN
    RAISE serialization_failure USING MESSAGE = 'The schedules have changed';
  END IF;
END $$;


--
-- Name: count_schedule_change(); Type: FUNCTION; Schema: sandbox; Owner: -
--

CREATE FUNCTION sandbox.count_schedule_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO sandbox.schedule_versions AS current (emr, version) VALUES (coalesce(NEW.emr, OLD.emr), 1)
  ON CONFLICT (emr) DO UPDATE SET version = current.version + 1;
  RETURN NULL;
END $$;


--
-- Name: note_appointment_change(); Type: FUNCTION; Schema: sandbox; Owner: -
--

CREATE FUNCTION sandbox.note_appointment_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  NEW.changed_by := pg_current_xact_id();
  NEW.changed_at := now();
  RETURN NEW;
END $$;


--
-- Name: write_appointments(text, uuid, text[], json, text[], text[], bigint, timestamp with time zone); Type: FUNCTION; Schema: sandbox; Owner: -
--

CREATE FUNCTION sandbox.write_appointments(for_emr text, for_operation_id uuid, written_ids text[], written_rows json, shared_locks text[], exclusive_locks text[], read_schedule_version bigint, earliest_start timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
DECLARE
  written sandbox.written_appointment[];
  lock_name text;
  changed integer;
BEGIN
  -- A concurrent write with the same id waits here for the first one.
  INSERT INTO sandbox.operations (emr, operation_id, appointment_ids) VALUES (for_emr, for_operation_id, written_ids)
  ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN RETURN false; END IF;

  FOREACH lock_name IN ARRAY shared_locks LOOP
    PERFORM pg_advisory_xact_lock_shared(hashtextextended(lock_name, 0));
  END LOOP;
  FOREACH lock_name IN ARRAY exclusive_locks LOOP
    PERFORM pg_advisory_xact_lock(hashtextextended(lock_name, 0));
  END LOOP;
  IF read_schedule_version <> (SELECT version FROM sandbox.schedule_versions WHERE emr = for_emr) THEN
    RAISE serialization_failure USING MESSAGE = 'The schedules have changed';
  END IF;
  IF earliest_start <= clock_timestamp() THEN
    RAISE exclusion_violation USING MESSAGE = 'The time has begun';
  END IF;

  written := ARRAY(SELECT target FROM json_populate_recordset(NULL::sandbox.written_appointment, written_rows) AS target);
  -- The exclusion constraint still counts expired holds.
  UPDATE sandbox.appointments AS expired SET state = 'cancelled', held_until = NULL
  FROM unnest(written) AS target
  WHERE target.takes_time AND expired.emr = for_emr AND expired.resource_id = target.resource_id AND expired.state = 'held'
    AND expired.held_until <= clock_timestamp() AND expired.starts_at < target.ends_at AND expired.ends_at > target.starts_at
    AND expired.id <> ALL (written_ids);

  IF EXISTS (SELECT FROM unnest(written) AS target WHERE target.read_version IS NOT NULL) THEN
    PERFORM FROM sandbox.appointments WHERE emr = for_emr AND id = ANY (written_ids) ORDER BY id FOR UPDATE;
    -- All rows in one statement: the constraint is checked at its end, so that appointments can swap times.
    UPDATE sandbox.appointments AS appointment
    SET resource_id = target.resource_id, starts_at = target.starts_at, ends_at = target.ends_at, state = target.state,
      held_until = target.held_until, comment = target.comment
    FROM unnest(written) AS target
    WHERE appointment.emr = for_emr AND appointment.id = target.id AND appointment.xmin::text = target.read_version;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed < (SELECT count(target.read_version) FROM unnest(written) AS target) THEN
      RAISE serialization_failure USING MESSAGE = 'An appointment has changed';
    END IF;
  END IF;
  INSERT INTO sandbox.appointments
    (emr, id, care_unit_id, patient_id, resource_id, healthcare_service_id, starts_at, ends_at, state, held_until, comment)
  SELECT for_emr, target.id, target.care_unit_id, target.patient_id, target.resource_id, target.healthcare_service_id, target.starts_at,
    target.ends_at, target.state, target.held_until, target.comment
  FROM unnest(written) AS target WHERE target.read_version IS NULL;
  RETURN true;
END $$;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: bam; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.bam (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    queue text,
    table_name text NOT NULL,
    command text NOT NULL,
    error text,
    created_on timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    started_on timestamp with time zone,
    completed_on timestamp with time zone
);


--
-- Name: job; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.job (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    data jsonb,
    state pgboss.job_state DEFAULT 'created'::pgboss.job_state NOT NULL,
    retry_limit integer DEFAULT 2 NOT NULL,
    retry_count integer DEFAULT 0 NOT NULL,
    retry_delay integer DEFAULT 0 NOT NULL,
    retry_backoff boolean DEFAULT false NOT NULL,
    retry_delay_max integer,
    expire_seconds integer DEFAULT 900 NOT NULL,
    deletion_seconds integer DEFAULT 604800 NOT NULL,
    singleton_key text,
    singleton_on timestamp without time zone,
    group_id text,
    group_tier text,
    start_after timestamp with time zone DEFAULT now() NOT NULL,
    created_on timestamp with time zone DEFAULT now() NOT NULL,
    started_on timestamp with time zone,
    completed_on timestamp with time zone,
    keep_until timestamp with time zone DEFAULT (now() + '336:00:00'::interval) NOT NULL,
    output jsonb,
    dead_letter text,
    policy text,
    heartbeat_on timestamp with time zone,
    heartbeat_seconds integer,
    blocked boolean DEFAULT false NOT NULL,
    blocking boolean DEFAULT false NOT NULL,
    pending_dependencies integer DEFAULT 0 NOT NULL,
    source_name text,
    source_id uuid,
    source_created_on timestamp with time zone,
    source_retry_count integer
)
PARTITION BY LIST (name);


--
-- Name: job_common; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.job_common (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    data jsonb,
    state pgboss.job_state DEFAULT 'created'::pgboss.job_state NOT NULL,
    retry_limit integer DEFAULT 2 NOT NULL,
    retry_count integer DEFAULT 0 NOT NULL,
    retry_delay integer DEFAULT 0 NOT NULL,
    retry_backoff boolean DEFAULT false NOT NULL,
    retry_delay_max integer,
    expire_seconds integer DEFAULT 900 NOT NULL,
    deletion_seconds integer DEFAULT 604800 NOT NULL,
    singleton_key text,
    singleton_on timestamp without time zone,
    group_id text,
    group_tier text,
    start_after timestamp with time zone DEFAULT now() NOT NULL,
    created_on timestamp with time zone DEFAULT now() NOT NULL,
    started_on timestamp with time zone,
    completed_on timestamp with time zone,
    keep_until timestamp with time zone DEFAULT (now() + '336:00:00'::interval) NOT NULL,
    output jsonb,
    dead_letter text,
    policy text,
    heartbeat_on timestamp with time zone,
    heartbeat_seconds integer,
    blocked boolean DEFAULT false NOT NULL,
    blocking boolean DEFAULT false NOT NULL,
    pending_dependencies integer DEFAULT 0 NOT NULL,
    source_name text,
    source_id uuid,
    source_created_on timestamp with time zone,
    source_retry_count integer,
    CONSTRAINT job_key_strict_fifo_singleton_key_check CHECK ((NOT ((policy = 'key_strict_fifo'::text) AND (singleton_key IS NULL))))
);


--
-- Name: job_dependency; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.job_dependency (
    child_name text NOT NULL,
    child_id uuid NOT NULL,
    parent_name text NOT NULL,
    parent_id uuid NOT NULL
);


--
-- Name: queue; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.queue (
    name text NOT NULL,
    policy text NOT NULL,
    retry_limit integer NOT NULL,
    retry_delay integer NOT NULL,
    retry_backoff boolean NOT NULL,
    retry_delay_max integer,
    expire_seconds integer NOT NULL,
    retention_seconds integer NOT NULL,
    deletion_seconds integer NOT NULL,
    dead_letter text,
    partition boolean NOT NULL,
    table_name text NOT NULL,
    deferred_count integer DEFAULT 0 NOT NULL,
    queued_count integer DEFAULT 0 NOT NULL,
    ready_count integer DEFAULT 0 NOT NULL,
    warning_queued integer DEFAULT 0 NOT NULL,
    active_count integer DEFAULT 0 NOT NULL,
    failed_count integer DEFAULT 0 NOT NULL,
    total_count integer DEFAULT 0 NOT NULL,
    ready_history integer[] DEFAULT '{}'::integer[] NOT NULL,
    heartbeat_seconds integer,
    notify boolean DEFAULT false NOT NULL,
    singletons_active text[],
    monitor_claim_on timestamp with time zone,
    monitor_on timestamp with time zone,
    maintain_on timestamp with time zone,
    created_on timestamp with time zone DEFAULT now() NOT NULL,
    updated_on timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT queue_check CHECK ((dead_letter IS DISTINCT FROM name))
);


--
-- Name: queue_stats; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.queue_stats (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    deferred_count integer DEFAULT 0 NOT NULL,
    queued_count integer DEFAULT 0 NOT NULL,
    ready_count integer DEFAULT 0 NOT NULL,
    active_count integer DEFAULT 0 NOT NULL,
    failed_count integer DEFAULT 0 NOT NULL,
    total_count integer DEFAULT 0 NOT NULL,
    captured_on timestamp with time zone DEFAULT now() NOT NULL
)
PARTITION BY RANGE (captured_on);


--
-- Name: queue_stats_20261124; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.queue_stats_20261124 (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    deferred_count integer DEFAULT 0 NOT NULL,
    queued_count integer DEFAULT 0 NOT NULL,
    ready_count integer DEFAULT 0 NOT NULL,
    active_count integer DEFAULT 0 NOT NULL,
    failed_count integer DEFAULT 0 NOT NULL,
    total_count integer DEFAULT 0 NOT NULL,
    captured_on timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: queue_stats_20261125; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.queue_stats_20261125 (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    deferred_count integer DEFAULT 0 NOT NULL,
    queued_count integer DEFAULT 0 NOT NULL,
    ready_count integer DEFAULT 0 NOT NULL,
    active_count integer DEFAULT 0 NOT NULL,
    failed_count integer DEFAULT 0 NOT NULL,
    total_count integer DEFAULT 0 NOT NULL,
    captured_on timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: schedule; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.schedule (
    name text NOT NULL,
    key text DEFAULT ''::text NOT NULL,
    cron text NOT NULL,
    timezone text,
    data jsonb,
    options jsonb,
    created_on timestamp with time zone DEFAULT now() NOT NULL,
    updated_on timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: subscription; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.subscription (
    event text NOT NULL,
    name text NOT NULL,
    created_on timestamp with time zone DEFAULT now() NOT NULL,
    updated_on timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: version; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.version (
    version integer NOT NULL,
    cron_on timestamp with time zone,
    bam_on timestamp with time zone,
    flow_on timestamp with time zone,
    reindex_on timestamp with time zone,
    monitor_backoff_on timestamp with time zone
);


--
-- Name: warning; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.warning (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    type text NOT NULL,
    message text NOT NULL,
    data jsonb,
    created_on timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: audit_chains; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_chains (
    id uuid NOT NULL,
    key_id uuid NOT NULL,
    started_at timestamp(3) with time zone NOT NULL,
    closed_at timestamp(3) with time zone,
    anchor_position bigint NOT NULL,
    anchor_hash bytea NOT NULL,
    anchored_at timestamp(3) with time zone NOT NULL,
    anchor_mac bytea NOT NULL,
    checkpoint_position bigint,
    checkpoint_hash bytea,
    checkpointed_at timestamp(3) with time zone,
    checkpoint_mac bytea,
    subject text DEFAULT 'accesses'::text NOT NULL,
    linked_position bigint DEFAULT 0 NOT NULL,
    linked_at timestamp(3) with time zone,
    CONSTRAINT audit_chains_subject_check CHECK ((subject = ANY (ARRAY['accesses'::text, 'activity'::text])))
);


--
-- Name: audit_drafts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_drafts (
    id bigint NOT NULL,
    written_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    writer_id uuid NOT NULL,
    key_id uuid NOT NULL,
    mac bytea NOT NULL,
    at timestamp(3) with time zone NOT NULL,
    actor_kind text NOT NULL,
    client_id text NOT NULL,
    operation text NOT NULL,
    emr text NOT NULL,
    care_unit_id text NOT NULL,
    patient_hashes bytea[] NOT NULL,
    record_ids text[] NOT NULL,
    outcome text NOT NULL,
    request_id text NOT NULL,
    operation_id uuid,
    CONSTRAINT audit_drafts_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['client'::text, 'patient_page'::text, 'background'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='5000', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='100000');


--
-- Name: audit_drafts_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.audit_drafts ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_drafts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: audit_entries; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_entries (
    chain_id uuid NOT NULL,
    "position" bigint NOT NULL,
    at timestamp(3) with time zone NOT NULL,
    actor_kind text NOT NULL,
    client_id text NOT NULL,
    operation text NOT NULL,
    emr text NOT NULL,
    care_unit_id text NOT NULL,
    patient_hashes bytea[] NOT NULL,
    record_ids text[] NOT NULL,
    outcome text NOT NULL,
    request_id text NOT NULL,
    hash bytea NOT NULL,
    id bigint,
    operation_id uuid,
    CONSTRAINT audit_entries_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['client'::text, 'patient_page'::text, 'background'::text])))
)
PARTITION BY RANGE (at);


--
-- Name: audit_entries_2026_11; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_entries_2026_11 (
    chain_id uuid NOT NULL,
    "position" bigint NOT NULL,
    at timestamp(3) with time zone NOT NULL,
    actor_kind text NOT NULL,
    client_id text NOT NULL,
    operation text NOT NULL,
    emr text NOT NULL,
    care_unit_id text NOT NULL,
    patient_hashes bytea[] NOT NULL,
    record_ids text[] NOT NULL,
    outcome text NOT NULL,
    request_id text NOT NULL,
    hash bytea NOT NULL,
    id bigint,
    operation_id uuid,
    CONSTRAINT audit_entries_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['client'::text, 'patient_page'::text, 'background'::text])))
);


--
-- Name: audit_entries_2026_12; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_entries_2026_12 (
    chain_id uuid NOT NULL,
    "position" bigint NOT NULL,
    at timestamp(3) with time zone NOT NULL,
    actor_kind text NOT NULL,
    client_id text NOT NULL,
    operation text NOT NULL,
    emr text NOT NULL,
    care_unit_id text NOT NULL,
    patient_hashes bytea[] NOT NULL,
    record_ids text[] NOT NULL,
    outcome text NOT NULL,
    request_id text NOT NULL,
    hash bytea NOT NULL,
    id bigint,
    operation_id uuid,
    CONSTRAINT audit_entries_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['client'::text, 'patient_page'::text, 'background'::text])))
);


--
-- Name: audit_entries_2027_01; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_entries_2027_01 (
    chain_id uuid NOT NULL,
    "position" bigint NOT NULL,
    at timestamp(3) with time zone NOT NULL,
    actor_kind text NOT NULL,
    client_id text NOT NULL,
    operation text NOT NULL,
    emr text NOT NULL,
    care_unit_id text NOT NULL,
    patient_hashes bytea[] NOT NULL,
    record_ids text[] NOT NULL,
    outcome text NOT NULL,
    request_id text NOT NULL,
    hash bytea NOT NULL,
    id bigint,
    operation_id uuid,
    CONSTRAINT audit_entries_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['client'::text, 'patient_page'::text, 'background'::text])))
);


--
-- Name: audit_entries_default; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_entries_default (
    chain_id uuid NOT NULL,
    "position" bigint NOT NULL,
    at timestamp(3) with time zone NOT NULL,
    actor_kind text NOT NULL,
    client_id text NOT NULL,
    operation text NOT NULL,
    emr text NOT NULL,
    care_unit_id text NOT NULL,
    patient_hashes bytea[] NOT NULL,
    record_ids text[] NOT NULL,
    outcome text NOT NULL,
    request_id text NOT NULL,
    hash bytea NOT NULL,
    id bigint,
    operation_id uuid,
    CONSTRAINT audit_entries_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['client'::text, 'patient_page'::text, 'background'::text])))
);


--
-- Name: audit_keys; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_keys (
    id uuid NOT NULL,
    sealed_key bytea NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);


--
-- Name: operator_activity; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.operator_activity (
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    operator_name text NOT NULL,
    action text NOT NULL,
    target text,
    outcome text NOT NULL,
    chain_id uuid,
    "position" bigint,
    hash bytea
);


--
-- Name: audit_links; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.audit_links AS
 SELECT audit_entries.chain_id,
    audit_entries."position",
    audit_entries.hash,
    audit_entries.at
   FROM public.audit_entries
UNION ALL
 SELECT operator_activity.chain_id,
    operator_activity."position",
    operator_activity.hash,
    operator_activity.at
   FROM public.operator_activity
  WHERE (operator_activity.chain_id IS NOT NULL);


--
-- Name: audit_months; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.audit_months AS
 SELECT to_date("substring"((pg_class.relname)::text, '\d{4}_\d{2}$'::text), 'YYYY_MM'::text) AS month,
    (pg_class.oid)::regclass AS part
   FROM (pg_inherits
     JOIN pg_class ON ((pg_class.oid = pg_inherits.inhrelid)))
  WHERE ((pg_inherits.inhparent = ('public.audit_entries'::regclass)::oid) AND (pg_class.relname <> 'audit_entries_default'::name));


--
-- Name: audit_retention; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_retention (
    is_only boolean DEFAULT true NOT NULL,
    least_days integer NOT NULL,
    CONSTRAINT audit_retention_is_only_check CHECK (is_only)
);


--
-- Name: clients; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.clients (
    id text NOT NULL,
    name text NOT NULL,
    scopes text[] NOT NULL,
    grants jsonb NOT NULL,
    return_urls text[] NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    secret_hash bytea,
    secret_created_at timestamp with time zone DEFAULT now(),
    previous_secret_hash bytea,
    previous_secret_created_at timestamp with time zone,
    previous_secret_expires_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    revoked_at timestamp with time zone,
    earlier_secrets jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT clients_check CHECK (((revoked_at IS NULL) = (secret_hash IS NOT NULL))),
    CONSTRAINT clients_check1 CHECK (((previous_secret_hash IS NULL) = (previous_secret_expires_at IS NULL))),
    CONSTRAINT clients_check2 CHECK (((revoked_at IS NULL) OR (previous_secret_hash IS NULL)))
);


--
-- Name: clients_revision; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.clients_revision (
    is_only boolean DEFAULT true NOT NULL,
    revision uuid NOT NULL,
    CONSTRAINT clients_revision_is_only_check CHECK (is_only)
);


--
-- Name: confirmation_items; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.confirmation_items (
    emr text NOT NULL,
    appointment_id text NOT NULL,
    confirmation_id uuid NOT NULL,
    care_unit_id text NOT NULL,
    "position" integer NOT NULL,
    kind text NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    ehr_appointment_id text,
    replaces_id text,
    sealed_comment bytea,
    sealed_draft bytea,
    patient_hash bytea,
    draft_resource_id text,
    draft_start timestamp with time zone,
    draft_end timestamp with time zone,
    operation_id uuid,
    sealed_patient_details bytea,
    CONSTRAINT confirmation_items_kind_check CHECK ((kind = ANY (ARRAY['booking'::text, 'cancellation'::text]))),
    CONSTRAINT confirmation_items_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'confirming'::text, 'confirmed'::text, 'released'::text, 'expiring'::text, 'expired'::text])))
);


--
-- Name: confirmations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.confirmations (
    id uuid NOT NULL,
    client_id text NOT NULL,
    emr text NOT NULL,
    care_unit_id text NOT NULL,
    kind text NOT NULL,
    channel text NOT NULL,
    code_hash bytea,
    page_token_hash bytea,
    sealed_return_url bytea,
    failed_attempts integer DEFAULT 0 NOT NULL,
    max_attempts integer NOT NULL,
    codes_sent integer DEFAULT 1 NOT NULL,
    last_code_sent_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    patient_hash bytea,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    confirmed_at timestamp with time zone,
    purged_at timestamp with time zone,
    CONSTRAINT confirmations_channel_check CHECK ((channel = ANY (ARRAY['sms'::text, 'email'::text]))),
    CONSTRAINT confirmations_kind_check CHECK ((kind = ANY (ARRAY['booking'::text, 'cancellation'::text])))
);


--
-- Name: demo_mailbox; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.demo_mailbox (
    id uuid NOT NULL,
    emr text NOT NULL,
    care_unit_id text NOT NULL,
    channel text NOT NULL,
    appointment_id text NOT NULL,
    sealed_content bytea NOT NULL,
    sent_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT demo_mailbox_channel_check CHECK ((channel = ANY (ARRAY['sms'::text, 'email'::text])))
);


--
-- Name: ehr_change_feeds; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.ehr_change_feeds (
    emr text NOT NULL,
    cursor text,
    connector text,
    lease_token uuid,
    next_read_at timestamp with time zone DEFAULT now() NOT NULL,
    caught_up_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: ehr_changes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.ehr_changes (
    emr text NOT NULL,
    appointment_id text NOT NULL,
    is_new boolean NOT NULL,
    read_at timestamp with time zone NOT NULL,
    stored_at timestamp with time zone NOT NULL,
    is_stale boolean DEFAULT false NOT NULL,
    views jsonb NOT NULL,
    is_checked boolean DEFAULT false NOT NULL
);


--
-- Name: ehr_history; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.ehr_history (
    quarter timestamp with time zone NOT NULL,
    emr text NOT NULL,
    process uuid NOT NULL,
    running smallint NOT NULL,
    known smallint NOT NULL,
    unavailable smallint NOT NULL,
    calls integer NOT NULL,
    failures integer NOT NULL,
    latencies integer[] NOT NULL
);


--
-- Name: ehr_pauses; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.ehr_pauses (
    emr text NOT NULL,
    paused_at timestamp with time zone DEFAULT now() NOT NULL,
    paused_until timestamp with time zone
);


--
-- Name: ehr_rate_demands; Type: TABLE; Schema: public; Owner: -
--

CREATE UNLOGGED TABLE public.ehr_rate_demands (
    emr text NOT NULL,
    process uuid NOT NULL,
    requests_per_second double precision NOT NULL,
    reported_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: ehr_rates; Type: TABLE; Schema: public; Owner: -
--

CREATE UNLOGGED TABLE public.ehr_rates (
    emr text NOT NULL,
    requests_per_second double precision NOT NULL,
    slowed_at timestamp with time zone DEFAULT now() NOT NULL,
    raised_at timestamp with time zone DEFAULT now() NOT NULL,
    paused_until timestamp with time zone DEFAULT now() NOT NULL,
    growth double precision DEFAULT 0.025 NOT NULL,
    CONSTRAINT ehr_rates_growth_check CHECK ((growth > (0)::double precision)),
    CONSTRAINT ehr_rates_requests_per_second_check CHECK ((requests_per_second > (0)::double precision))
);


--
-- Name: event_positions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.event_positions (
    name text NOT NULL,
    "position" bigint DEFAULT 0 NOT NULL,
    CONSTRAINT event_positions_name_check CHECK ((name = ANY (ARRAY['published'::text, 'deleted'::text])))
);


--
-- Name: events; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.events (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    sequence bigint NOT NULL,
    "position" bigint,
    type text NOT NULL,
    emr text NOT NULL,
    care_unit_id text,
    subject text,
    data jsonb NOT NULL,
    endpoint_id uuid,
    is_observed boolean DEFAULT false NOT NULL,
    occurred_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    began_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);


--
-- Name: events_sequence_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.events ALTER COLUMN sequence ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.events_sequence_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: failed_sign_ins; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.failed_sign_ins (
    key_hash bytea NOT NULL,
    failures integer NOT NULL,
    paused_until timestamp with time zone NOT NULL,
    last_failed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);


--
-- Name: history_counts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.history_counts (
    quarter timestamp with time zone NOT NULL,
    kind text NOT NULL,
    count integer NOT NULL
);


--
-- Name: history_progress; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.history_progress (
    counted_until timestamp with time zone NOT NULL,
    merged_until timestamp with time zone NOT NULL
);


--
-- Name: messages; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.messages (
    id uuid NOT NULL,
    confirmation_id uuid NOT NULL,
    sequence integer NOT NULL,
    emr text NOT NULL,
    care_unit_id text NOT NULL,
    channel text NOT NULL,
    first_appointment_id text NOT NULL,
    sealed_content bytea,
    state text DEFAULT 'queued'::text NOT NULL,
    failure_reason text,
    not_before timestamp with time zone,
    needs_job boolean DEFAULT false NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    completed_at timestamp with time zone,
    delayed_at timestamp with time zone,
    queued_again_at timestamp with time zone,
    CONSTRAINT messages_channel_check CHECK ((channel = ANY (ARRAY['sms'::text, 'email'::text]))),
    CONSTRAINT messages_completion CHECK (((completed_at IS NULL) = (state = 'queued'::text))),
    CONSTRAINT messages_content CHECK (
CASE state
    WHEN 'queued'::text THEN (sealed_content IS NOT NULL)
    WHEN 'failed'::text THEN true
    ELSE (sealed_content IS NULL)
END),
    CONSTRAINT messages_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'sent'::text, 'failed'::text, 'superseded'::text])))
);


--
-- Name: moved_appointments; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.moved_appointments (
    emr text NOT NULL,
    appointment_id text NOT NULL,
    former_id text NOT NULL,
    supersedes_id text NOT NULL
);


--
-- Name: operations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.operations (
    id uuid NOT NULL,
    client_id text NOT NULL,
    idempotency_key_hash bytea,
    request_hash bytea,
    emr text NOT NULL,
    care_unit_id text NOT NULL,
    kind text,
    state text DEFAULT 'pending'::text NOT NULL,
    sealed_plan bytea,
    sealed_response bytea,
    lease_token uuid,
    lease_expires_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    consecutive_failures integer DEFAULT 0 NOT NULL,
    last_failure text,
    next_attempt_at timestamp with time zone,
    first_sent_at timestamp with time zone,
    last_sent_at timestamp with time zone,
    reported_unknown boolean DEFAULT false NOT NULL,
    had_effect boolean DEFAULT false NOT NULL,
    patient_hashes bytea[] DEFAULT '{}'::bytea[] NOT NULL,
    expires_at timestamp with time zone,
    suspended_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT operations_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'compensating'::text, 'done'::text])))
);


--
-- Name: operator_activity_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.operator_activity ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.operator_activity_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: operator_sessions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.operator_sessions (
    token_hash bytea NOT NULL,
    operator_id uuid,
    subject_hash bytea,
    name text NOT NULL,
    role text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    last_used_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT operator_sessions_role_check CHECK ((role = ANY (ARRAY['view'::text, 'operate'::text, 'admin'::text])))
);


--
-- Name: operators; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.operators (
    id uuid NOT NULL,
    name text NOT NULL,
    role text NOT NULL,
    password_hash text NOT NULL,
    sealed_totp_secret bytea,
    last_totp_step bigint,
    last_sign_in_at timestamp with time zone,
    disabled_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT operators_role_check CHECK ((role = ANY (ARRAY['view'::text, 'operate'::text, 'admin'::text])))
);


--
-- Name: schema_migrations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.schema_migrations (
    set text NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: secret_keys; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.secret_keys (
    id text NOT NULL,
    check_value bytea NOT NULL,
    first_used_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    replaced_at timestamp with time zone,
    retired_at timestamp with time zone
);


--
-- Name: upload_chunks; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.upload_chunks (
    upload_id uuid NOT NULL,
    "position" integer NOT NULL,
    sealed_content bytea NOT NULL
);
ALTER TABLE ONLY public.upload_chunks ALTER COLUMN sealed_content SET STORAGE EXTERNAL;


--
-- Name: uploads; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.uploads (
    id uuid NOT NULL,
    operation_id uuid,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: webhook_deliveries; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.webhook_deliveries (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    sequence bigint NOT NULL,
    endpoint_id uuid NOT NULL,
    event_id uuid NOT NULL,
    event_position bigint NOT NULL,
    subject text,
    state text DEFAULT 'pending'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone DEFAULT now() NOT NULL,
    last_attempt_at timestamp with time zone,
    response_status integer,
    failure_reason text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    completed_at timestamp with time zone,
    CONSTRAINT webhook_deliveries_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])))
);


--
-- Name: webhook_deliveries_sequence_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.webhook_deliveries ALTER COLUMN sequence ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.webhook_deliveries_sequence_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: webhook_endpoints; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.webhook_endpoints (
    id uuid NOT NULL,
    client_id text NOT NULL,
    sealed_url bytea NOT NULL,
    sealed_secret bytea NOT NULL,
    sealed_previous_secret bytea,
    previous_secret_expires_at timestamp with time zone,
    event_types text[],
    disabled_reason text,
    paused_until timestamp with time zone,
    replay_after bigint,
    replay_until bigint,
    replays_started_at timestamp with time zone[] DEFAULT '{}'::timestamp with time zone[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    sealed_earlier_secrets bytea,
    CONSTRAINT webhook_endpoints_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['client'::text, 'gone'::text])))
);


--
-- Name: appointments; Type: TABLE; Schema: sandbox; Owner: -
--

CREATE TABLE sandbox.appointments (
    emr text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    care_unit_id text NOT NULL COLLATE pg_catalog."C",
    patient_id text NOT NULL COLLATE pg_catalog."C",
    resource_id text NOT NULL COLLATE pg_catalog."C",
    healthcare_service_id text NOT NULL COLLATE pg_catalog."C",
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    state text NOT NULL,
    held_until timestamp with time zone,
    comment text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    changed_by xid8 DEFAULT pg_current_xact_id() NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT appointments_hold_has_an_end CHECK (((state = 'held'::text) = (held_until IS NOT NULL))),
    CONSTRAINT appointments_length CHECK (((ends_at > starts_at) AND (ends_at <= (starts_at + '24:00:00'::interval)))),
    CONSTRAINT appointments_state_check CHECK ((state = ANY (ARRAY['booked'::text, 'held'::text, 'pending'::text, 'cancelled'::text])))
);


--
-- Name: document_chunks; Type: TABLE; Schema: sandbox; Owner: -
--

CREATE TABLE sandbox.document_chunks (
    emr text NOT NULL COLLATE pg_catalog."C",
    content_id uuid NOT NULL,
    "position" integer NOT NULL,
    content bytea NOT NULL
);


--
-- Name: documents; Type: TABLE; Schema: sandbox; Owner: -
--

CREATE TABLE sandbox.documents (
    emr text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    care_unit_id text NOT NULL COLLATE pg_catalog."C",
    patient_id text NOT NULL COLLATE pg_catalog."C",
    author_id text COLLATE pg_catalog."C",
    title text,
    content_type text NOT NULL,
    size integer NOT NULL,
    content_id uuid NOT NULL,
    operation_id uuid NOT NULL,
    created_at timestamp with time zone DEFAULT date_trunc('milliseconds'::text, clock_timestamp()) NOT NULL,
    changed_at timestamp with time zone,
    is_entered_in_error boolean DEFAULT false NOT NULL
);


--
-- Name: medical_notes; Type: TABLE; Schema: sandbox; Owner: -
--

CREATE TABLE sandbox.medical_notes (
    emr text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    care_unit_id text NOT NULL COLLATE pg_catalog."C",
    patient_id text NOT NULL COLLATE pg_catalog."C",
    author_id text,
    title text,
    text text NOT NULL,
    appointment_id text,
    created_at timestamp with time zone DEFAULT date_trunc('milliseconds'::text, clock_timestamp()) NOT NULL,
    is_entered_in_error boolean DEFAULT false NOT NULL,
    operation_id uuid NOT NULL,
    created_hash text NOT NULL
);


--
-- Name: operations; Type: TABLE; Schema: sandbox; Owner: -
--

CREATE TABLE sandbox.operations (
    emr text NOT NULL COLLATE pg_catalog."C",
    operation_id uuid NOT NULL,
    appointment_ids text[] NOT NULL,
    completed_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: schedule_versions; Type: TABLE; Schema: sandbox; Owner: -
--

CREATE TABLE sandbox.schedule_versions (
    emr text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL
);


--
-- Name: schedule_writes; Type: TABLE; Schema: sandbox; Owner: -
--

CREATE TABLE sandbox.schedule_writes (
    emr text NOT NULL COLLATE pg_catalog."C",
    operation_id uuid NOT NULL,
    schedule_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    starts_at timestamp with time zone,
    ends_at timestamp with time zone,
    withdrawn boolean DEFAULT false NOT NULL,
    CONSTRAINT schedule_writes_kind_check CHECK ((kind = ANY (ARRAY['create'::text, 'end'::text, 'exception'::text, 'none'::text])))
);


--
-- Name: schedules; Type: TABLE; Schema: sandbox; Owner: -
--

CREATE TABLE sandbox.schedules (
    emr text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    care_unit_id text NOT NULL COLLATE pg_catalog."C",
    resource_id text NOT NULL COLLATE pg_catalog."C",
    healthcare_service_ids text[] NOT NULL,
    local_start text NOT NULL,
    local_end text NOT NULL,
    slot_minutes integer NOT NULL,
    recurrence text,
    CONSTRAINT schedules_slot_minutes_check CHECK ((slot_minutes > 0))
);


--
-- Name: job_common; Type: TABLE ATTACH; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.job ATTACH PARTITION pgboss.job_common DEFAULT;


--
-- Name: queue_stats_20261124; Type: TABLE ATTACH; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.queue_stats ATTACH PARTITION pgboss.queue_stats_20261124 FOR VALUES FROM ('2026-11-24 00:00:00+00') TO ('2026-11-25 00:00:00+00');


--
-- Name: queue_stats_20261125; Type: TABLE ATTACH; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.queue_stats ATTACH PARTITION pgboss.queue_stats_20261125 FOR VALUES FROM ('2026-11-25 00:00:00+00') TO ('2026-11-26 00:00:00+00');


--
-- Name: audit_entries_2026_11; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_entries ATTACH PARTITION public.audit_entries_2026_11 FOR VALUES FROM ('2026-11-01 00:00:00+00') TO ('2026-12-01 00:00:00+00');


--
-- Name: audit_entries_2026_12; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_entries ATTACH PARTITION public.audit_entries_2026_12 FOR VALUES FROM ('2026-12-01 00:00:00+00') TO ('2027-01-01 00:00:00+00');


--
-- Name: audit_entries_2027_01; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_entries ATTACH PARTITION public.audit_entries_2027_01 FOR VALUES FROM ('2027-01-01 00:00:00+00') TO ('2027-02-01 00:00:00+00');


--
-- Name: audit_entries_default; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_entries ATTACH PARTITION public.audit_entries_default DEFAULT;


--
-- Data for Name: bam; Type: TABLE DATA; Schema: pgboss; Owner: -
--



--
-- Data for Name: job_common; Type: TABLE DATA; Schema: pgboss; Owner: -
--

INSERT INTO pgboss.job_common VALUES
	('a915e40e-8d5a-40aa-ae8f-ab718bed27e6', 'messages', 0, '{"messageId": "125bd70a-99b9-45c6-a6ea-5008f82cfb7a"}', 'completed', 1000000, 0, 1, true, 60, 20, 3600, NULL, NULL, NULL, NULL, '2026-11-24 13:49:12.923326+00', '2026-11-24 13:49:12.923326+00', '2026-11-24 13:49:12.957019+00', '2026-11-24 13:49:12.992185+00', '2026-12-08 13:49:12.923326+00', NULL, NULL, 'standard', '2026-11-24 13:49:12.957019+00', NULL, false, false, 0, NULL, NULL, NULL, NULL),
	('9335ad33-85da-4796-ab40-1169ef2b1053', 'messages', 0, '{"messageId": "80b8d014-5d2d-40f8-8b52-f0a3f665a403"}', 'completed', 1000000, 0, 1, true, 60, 20, 3600, NULL, NULL, NULL, NULL, '2026-11-24 13:49:13.256313+00', '2026-11-24 13:49:13.256313+00', '2026-11-24 13:49:13.293805+00', '2026-11-24 13:49:13.335848+00', '2026-12-08 13:49:13.256313+00', NULL, NULL, 'standard', '2026-11-24 13:49:13.293805+00', NULL, false, false, 0, NULL, NULL, NULL, NULL);


--
-- Data for Name: job_dependency; Type: TABLE DATA; Schema: pgboss; Owner: -
--



--
-- Data for Name: queue; Type: TABLE DATA; Schema: pgboss; Owner: -
--

INSERT INTO pgboss.queue VALUES
	('messages', 'standard', 1000000, 1, true, 60, 20, 1209600, 3600, NULL, false, 'job_common', 0, 0, 0, 0, 0, 0, 0, '{0}', NULL, true, NULL, '2026-11-24 13:49:11.716375+00', '2026-11-24 13:49:11.721802+00', '2026-11-24 13:49:11.77097+00', '2026-11-24 13:49:06.717737+00', '2026-11-24 13:49:06.742731+00');


--
-- Data for Name: queue_stats_20261124; Type: TABLE DATA; Schema: pgboss; Owner: -
--



--
-- Data for Name: queue_stats_20261125; Type: TABLE DATA; Schema: pgboss; Owner: -
--



--
-- Data for Name: schedule; Type: TABLE DATA; Schema: pgboss; Owner: -
--



--
-- Data for Name: subscription; Type: TABLE DATA; Schema: pgboss; Owner: -
--



--
-- Data for Name: version; Type: TABLE DATA; Schema: pgboss; Owner: -
--

INSERT INTO pgboss.version VALUES
	(40, NULL, '2026-11-24 13:49:06.752172+00', '2026-11-24 13:49:06.815981+00', '2026-11-24 13:49:11.800915+00', NULL);


--
-- Data for Name: warning; Type: TABLE DATA; Schema: pgboss; Owner: -
--



--
-- Data for Name: audit_chains; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audit_chains VALUES
	('d8d8b8d9-abc3-4f85-b181-acfa8b340225', '46138ddd-12f9-48b6-afe0-014db4a7e904', '2026-11-24 13:49:13.135+00', NULL, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', '2026-11-24 13:49:13.135+00', '\xc4ed98f04f852a6908d0646b2b37b53f155fc10ecf794969f4bc224b3e95eabb', NULL, NULL, NULL, NULL, 'accesses', 5, '2026-11-24 13:49:12.942+00');


--
-- Data for Name: audit_drafts; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audit_drafts OVERRIDING SYSTEM VALUE VALUES
	(6, '2026-11-24 13:49:13.230083+00', '6ddf1bb8-0ed0-437b-a4a8-2d37609bdca1', '46138ddd-12f9-48b6-afe0-014db4a7e904', '\x1bb3986e72cdad5d13647547fe7ef8d40107122a122a5c004f1d11c020a97ef8', '2026-11-24 13:49:13.229+00', 'client', 'booking-app', 'change_appointment', 'hospital', 'ward', '{"\\xe68463a1db8bdfc651c74bd027e7cb5b"}', '{bc42c5e0-fe4f-490e-a704-8eb6c84a0f15}', 'success', 'ed6910eb-9b64-48f4-8146-51f4fb432ccd', 'a6a94a64-59d2-4f51-bf64-0c1e1df12a21'),
	(7, '2026-11-24 13:49:13.278386+00', '6ddf1bb8-0ed0-437b-a4a8-2d37609bdca1', '46138ddd-12f9-48b6-afe0-014db4a7e904', '\xb0e67c1e60d831f63cb443925ef15f094ca4f1813a8fb50a301087dbecb9e156', '2026-11-24 13:49:13.274+00', 'client', 'booking-app', 'create_appointment', 'hospital', 'ward', '{"\\xe68463a1db8bdfc651c74bd027e7cb5b"}', '{94771c72-b34d-450d-986a-bf1475abdd31}', 'success', '7e11eaa4-18bc-4c35-b84a-6cd07eda8b58', '42863f93-87bf-46bc-9e61-9d4a95fc2600'),
	(8, '2026-11-24 13:49:13.411757+00', '6ddf1bb8-0ed0-437b-a4a8-2d37609bdca1', '46138ddd-12f9-48b6-afe0-014db4a7e904', '\xbf79d834588ea3edd72514effd32b8e9da3d79ba133ffa1215c7c06054408b67', '2026-11-24 13:49:13.41+00', 'client', 'booking-app', 'create_appointment', 'clinic', 'ward', '{"\\xa6368dba0c1834685f2d39f817ac5d6d"}', '{}', 'outcome_unknown', 'd59020c3-9be7-40cd-addb-0c5d0020b8a2', '8319b865-6ad6-4706-8434-e0cb8a3c20cc');


--
-- Data for Name: audit_entries_2026_11; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audit_entries_2026_11 VALUES
	('d8d8b8d9-abc3-4f85-b181-acfa8b340225', 1, '2026-11-24 13:49:12.666+00', 'client', 'booking-app', 'create_appointment', 'clinic', 'ward', '{"\\xd109fea1fb2991bfeadc83a1398f3487"}', '{bbf145ea-202f-496b-a421-085b027794f1}', 'success', '93cb57f6-2fca-49e8-aa9d-e0369f3c0f7a', '\x22c777853fff021bb31cd8eac97a3016b1fa0b92e04c5169ed89aa57d6fe5e55', 1, 'a297bc9d-d600-4d37-8304-a1b15d01f38f'),
	('d8d8b8d9-abc3-4f85-b181-acfa8b340225', 2, '2026-11-24 13:49:12.704+00', 'client', 'booking-app', 'create_appointment', 'clinic', 'ward', '{"\\xd109fea1fb2991bfeadc83a1398f3487"}', '{a90ea554-9468-42ec-90d8-62afdc406056}', 'success', '051f5d3f-9340-47a0-ba0d-21388dafc090', '\x42cb389efe14b46e402527a1798ad1b131db3c93a4170c682455a14896e666fb', 2, 'b81ce99a-5f5e-4e2d-affd-87a6302068b1'),
	('d8d8b8d9-abc3-4f85-b181-acfa8b340225', 3, '2026-11-24 13:49:12.757+00', 'client', 'booking-app', 'change_appointment', 'clinic', 'ward', '{"\\xd109fea1fb2991bfeadc83a1398f3487"}', '{a90ea554-9468-42ec-90d8-62afdc406056}', 'success', 'd557dc09-02c1-4d7f-ac39-25699ca9aa0f', '\x6a7ab83307a2163ecb60ccb3a09147040f5b5515337e82a9297f6f8e9e74df5f', 3, 'c3fb750d-d5a0-44d7-8807-fb6bc8ad4d82'),
	('d8d8b8d9-abc3-4f85-b181-acfa8b340225', 4, '2026-11-24 13:49:12.841+00', 'client', 'booking-app', 'change_appointment', 'clinic', 'ward', '{"\\xd109fea1fb2991bfeadc83a1398f3487"}', '{a90ea554-9468-42ec-90d8-62afdc406056}', 'success', '1bd95043-7301-4460-8cc7-5ae5806a6430', '\xe28f808d08487c26605a00a99c77bd1f44569721a869268f44f08fab294db899', 4, 'd2742b66-0f13-45bd-89ce-41ca11d1cd5f'),
	('d8d8b8d9-abc3-4f85-b181-acfa8b340225', 5, '2026-11-24 13:49:12.942+00', 'client', 'booking-app', 'create_appointment', 'hospital', 'ward', '{"\\xe68463a1db8bdfc651c74bd027e7cb5b"}', '{bc42c5e0-fe4f-490e-a704-8eb6c84a0f15}', 'success', '4e31ebda-9c9f-48a5-81c5-2f428518ef61', '\x62cd12ce16cb78cb344fcad304d0fa5d7439f3f4020160b88168a2cf14ead106', 5, '7efa7e1b-4552-4dad-8c26-bda05450510c');


--
-- Data for Name: audit_entries_2026_12; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: audit_entries_2027_01; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: audit_entries_default; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: audit_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audit_keys VALUES
	('46138ddd-12f9-48b6-afe0-014db4a7e904', '\x4756c2db579eb5c0471e8ad859db15e7a7e9cdc9219d9837e18743f749b5e21aeda2adcf5f491e94fbc9b3cc274379ba07172d156367945a042d905a5ceaa196', '2026-11-24 13:49:06.789795+00');


--
-- Data for Name: audit_retention; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audit_retention VALUES
	(true, 1);


--
-- Data for Name: clients; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.clients VALUES
	('ward-screen', 'ward-screen', '{appointments:read}', '[{"emr": "clinic"}]', '{}', 1, '\xafeb2e09030265c4c76dfb65731109fc3aa0b52f3a2f72dcf242687b27151d3d', '2026-11-24 13:49:11.784672+00', NULL, NULL, NULL, '2026-11-24 13:49:11.784672+00', NULL, '[]');


--
-- Data for Name: clients_revision; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.clients_revision VALUES
	(true, 'f341e874-f88e-4edd-a5bd-700635d50a84');


--
-- Data for Name: confirmation_items; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.confirmation_items VALUES
	('hospital', 'bc42c5e0-fe4f-490e-a704-8eb6c84a0f15', '812fc3aa-ca0a-403a-82e7-e008545f5119', 'ward', 0, 'booking', 'confirmed', 'bc42c5e0-fe4f-490e-a704-8eb6c84a0f15', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'a6a94a64-59d2-4f51-bf64-0c1e1df12a21', NULL),
	('hospital', '94771c72-b34d-450d-986a-bf1475abdd31', '90416a5a-418a-4bef-83d2-7f0ce7ba862b', 'ward', 0, 'booking', 'pending', '94771c72-b34d-450d-986a-bf1475abdd31', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);


--
-- Data for Name: confirmations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.confirmations VALUES
	('812fc3aa-ca0a-403a-82e7-e008545f5119', 'booking-app', 'hospital', 'ward', 'booking', 'sms', '\x44176d8b897dfc44c443c3262ae8dd63f0e7c7ef9aa07091a3883107a0375a31', NULL, NULL, 0, 5, 1, '2026-11-24 13:49:12.927586+00', '2026-11-24 14:49:12.869+00', '\x12067df1c8e1baff6d02f3e2f2b826058c4855ce3f8f77982c983d6e844e577a', '2026-11-24 13:49:12.927586+00', '2026-11-24 13:49:13.226245+00', NULL),
	('90416a5a-418a-4bef-83d2-7f0ce7ba862b', 'booking-app', 'hospital', 'ward', 'booking', 'sms', '\xdee04e3a761f188886d0e472edbd597f40a28f08b3281ce3dac6581f071602ff', NULL, NULL, 0, 5, 1, '2026-11-24 13:49:13.262888+00', '2026-11-24 14:49:13.249+00', '\x12067df1c8e1baff6d02f3e2f2b826058c4855ce3f8f77982c983d6e844e577a', '2026-11-24 13:49:13.262888+00', NULL, NULL);


--
-- Data for Name: demo_mailbox; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.demo_mailbox VALUES
	('125bd70a-99b9-45c6-a6ea-5008f82cfb7a', 'hospital', 'ward', 'sms', 'bc42c5e0-fe4f-490e-a704-8eb6c84a0f15', '\x4756c2db1a05ef9e3afb6b3ab0fa020e248b1f97d9c828cd7990dee9e75fe92602b1f13b317c8d5392b8a32fdffc889ac2ceb5168038c888fc8a0b72e23fdfa416e75b23451c922582d44c0f1d2781b61f20289746ca53efd6e9361e344ad48a2ead7caf23728ca2a2dc377b6b2e356743c98205c02b5497733de5357dd1bcd67f38043e3ea17e3941640c5e03a09ac5986264f22b0d89f009376c65f0cee10fa7705d95', '2026-11-24 13:49:12.983892+00'),
	('80b8d014-5d2d-40f8-8b52-f0a3f665a403', 'hospital', 'ward', 'sms', '94771c72-b34d-450d-986a-bf1475abdd31', '\x4756c2dba622319351fde4198bc509723e03b227f443d45f2ee4d24b20d443389a1317b452ce3d939d207386f25357886bee3d45866da3b5fc87f4d3ef0225cd735ef2c1702f645f900990b89eea17f45bf546741d32feadacc62356a95e878dfe71c2f2e58f15415a04cae52a1ae16b6f0a9eea2e474fe403efa13b681d94f3e7cca2b5f4b95eae3c395c4b715b99cc3db8d4a8338f05dbfa098a57b1ff51e3782b50a4', '2026-11-24 13:49:13.31978+00');


--
-- Data for Name: ehr_change_feeds; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.ehr_change_feeds VALUES
	('hospital', '885 ', 'sandbox', NULL, '2026-11-24 13:49:38.197583+00', '2026-11-24 13:49:08.166+00'),
	('clinic', '885 ', 'sandbox', NULL, '2026-11-24 13:49:38.200323+00', '2026-11-24 13:49:08.167+00');


--
-- Data for Name: ehr_changes; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: ehr_history; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: ehr_pauses; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: ehr_rate_demands; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: ehr_rates; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: event_positions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.event_positions VALUES
	('deleted', 0),
	('published', 5);


--
-- Data for Name: events; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.events OVERRIDING SYSTEM VALUE VALUES
	('f81b1e38-064a-423b-84b9-576781482bba', 1, 1, 'appointment.booked', 'clinic', 'ward', 'bbf145ea-202f-496b-a421-085b027794f1', '{"end": "2035-03-15T09:30:00+01:00", "start": "2035-03-15T09:00:00+01:00", "status": "booked", "resource_id": "emr_id:r-1", "appointment_id": "bbf145ea-202f-496b-a421-085b027794f1", "cancellation_id": null, "healthcare_service_id": "consultation"}', NULL, false, '2026-11-24 13:49:12.671554+00', '2026-11-24 13:49:12.643085+00'),
	('cebb6c9b-580b-4c3b-95cd-7ea812082481', 2, 2, 'appointment.booked', 'clinic', 'ward', 'a90ea554-9468-42ec-90d8-62afdc406056', '{"end": "2035-03-15T10:30:00+01:00", "start": "2035-03-15T10:00:00+01:00", "status": "booked", "resource_id": "emr_id:r-1", "appointment_id": "a90ea554-9468-42ec-90d8-62afdc406056", "cancellation_id": null, "healthcare_service_id": "consultation"}', NULL, false, '2026-11-24 13:49:12.705777+00', '2026-11-24 13:49:12.701656+00'),
	('7f1803e0-105f-4cd2-8d52-b53d8f275977', 3, 3, 'appointment.updated', 'clinic', 'ward', 'a90ea554-9468-42ec-90d8-62afdc406056', '{"end": "2035-03-15T11:30:00+01:00", "start": "2035-03-15T11:00:00+01:00", "status": "booked", "changed": ["start", "end"], "previous": {"end": "2035-03-15T10:30:00+01:00", "start": "2035-03-15T10:00:00+01:00", "resource_id": "emr_id:r-1"}, "resource_id": "emr_id:r-1", "appointment_id": "a90ea554-9468-42ec-90d8-62afdc406056", "cancellation_id": null, "healthcare_service_id": "consultation"}', NULL, false, '2026-11-24 13:49:12.760481+00', '2026-11-24 13:49:12.743468+00'),
	('d9fc4126-314a-4468-90df-9c158e9da6dc', 4, 4, 'appointment.cancelled', 'clinic', 'ward', 'a90ea554-9468-42ec-90d8-62afdc406056', '{"end": "2035-03-15T11:30:00+01:00", "start": "2035-03-15T11:00:00+01:00", "status": "cancelled", "resource_id": "emr_id:r-1", "appointment_id": "a90ea554-9468-42ec-90d8-62afdc406056", "cancellation_id": null, "healthcare_service_id": "consultation"}', NULL, false, '2026-11-24 13:49:12.843426+00', '2026-11-24 13:49:12.832803+00'),
	('3369b87c-0e21-4c7f-98bd-52a0d021a3a3', 5, 5, 'appointment.awaiting_confirmation', 'hospital', 'ward', 'bc42c5e0-fe4f-490e-a704-8eb6c84a0f15', '{"end": "2035-03-15T09:30:00+01:00", "start": "2035-03-15T09:00:00+01:00", "status": "awaiting_confirmation", "resource_id": "emr_id:r-1", "appointment_id": "bc42c5e0-fe4f-490e-a704-8eb6c84a0f15", "cancellation_id": null, "healthcare_service_id": "consultation"}', NULL, false, '2026-11-24 13:49:12.944222+00', '2026-11-24 13:49:12.863655+00'),
	('88f08a9c-f658-4bb2-850e-045451bbb7ee', 6, NULL, 'appointment.booked', 'hospital', 'ward', 'bc42c5e0-fe4f-490e-a704-8eb6c84a0f15', '{"end": "2035-03-15T09:30:00+01:00", "start": "2035-03-15T09:00:00+01:00", "status": "booked", "resource_id": "emr_id:r-1", "appointment_id": "bc42c5e0-fe4f-490e-a704-8eb6c84a0f15", "cancellation_id": null, "healthcare_service_id": "consultation"}', NULL, false, '2026-11-24 13:49:13.230138+00', '2026-11-24 13:49:13.152412+00'),
	('76d7651b-2125-4fb0-9de0-51f16131b35a', 7, NULL, 'appointment.awaiting_confirmation', 'hospital', 'ward', '94771c72-b34d-450d-986a-bf1475abdd31', '{"end": "2035-03-15T10:30:00+01:00", "start": "2035-03-15T10:00:00+01:00", "status": "awaiting_confirmation", "resource_id": "emr_id:r-1", "appointment_id": "94771c72-b34d-450d-986a-bf1475abdd31", "cancellation_id": null, "healthcare_service_id": "consultation"}', NULL, false, '2026-11-24 13:49:13.278451+00', '2026-11-24 13:49:13.244256+00');


--
-- Data for Name: failed_sign_ins; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: history_counts; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: history_progress; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.history_progress VALUES
	('2026-10-24 13:45:00+00', '2026-10-24 13:45:00+00');


--
-- Data for Name: messages; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.messages VALUES
	('125bd70a-99b9-45c6-a6ea-5008f82cfb7a', '812fc3aa-ca0a-403a-82e7-e008545f5119', 1, 'hospital', 'ward', 'sms', 'bc42c5e0-fe4f-490e-a704-8eb6c84a0f15', NULL, 'sent', NULL, NULL, false, '2026-11-24 14:49:12.869+00', '2026-11-24 13:49:12.932815+00', '2026-11-24 13:49:12.988478+00', NULL, NULL),
	('80b8d014-5d2d-40f8-8b52-f0a3f665a403', '90416a5a-418a-4bef-83d2-7f0ce7ba862b', 1, 'hospital', 'ward', 'sms', '94771c72-b34d-450d-986a-bf1475abdd31', NULL, 'sent', NULL, NULL, false, '2026-11-24 14:49:13.249+00', '2026-11-24 13:49:13.268099+00', '2026-11-24 13:49:13.330607+00', NULL, NULL);


--
-- Data for Name: moved_appointments; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: operations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.operations VALUES
	('a297bc9d-d600-4d37-8304-a1b15d01f38f', 'booking-app', '\xa6f56409411f61fc2149eb675767f60a201ae77098cb36a16ff5e635f4b4ff82', '\x42b2d7a9bdf79ce17c3d4d5175332854e0b798937547eb8bbd692464f2957eca', 'clinic', 'ward', 'appointments', 'done', NULL, '\x4756c2dbded26d8a19ebf06c5a7d6bb501e7f8d7e1dec6fd8af430b78ddfc4e7965188a90d3e6abb4bf865338db1016427512072fe59414e7e8769a0c0dd23a4bb95fe132469ce66f3ff6c98130f57b134ba7193704880281bb820e6ae88863374c01f1ec2aa0dfa12ee0ed18cdb5271125d708321b402d7c0db57bd93af1c8c6e5040e5046281ccb58c22a9236d7b24018d6395a3852581a496ff20c507dd2296bf167682fe4b17b84aab7405f1842b5a07632ded3214f956b48d70b2f8b8781983ee407128623d1c6b2098bfe6d78ed8e5c24f74fd9419795ca640d28c9f8e6b846cede981326ffd3db4200de50c9e5dd7bbe287e3e91a1b99f73ad443e61caca279c15785250b649640ac2bd161de8bbad91789c5651d4ac39c98cb18b649b9e49dd3e9dcb5f8642b58b2a4139bbc7402ca1cf516770623b332efe57c5052a9ad06ba278930b1a8cb449b3418133538b1c9dd5fd05f8d8d92f53f3d327bf75e93f87db9c3f98a8d7c1f568d767add4ac4b54a6434ef346c84e2e12bed6b3749c9ed3713dee4222135856a86cce514dbfd286389cc5f0c30ee627aa2623fe2ab8cc11ce71618a729b2c8a002f5ebed0eb0f20f08ed3e2e4abf0d01eb56d0db7b8113867d1dc4441362d4d5c7083a61bcc74c77cf83d6e87a959c52727b75baad45d39223a5cad254129960d4c85d8284bb3ccc979c0c89a0a91b44e2ba8ff969e71abf4ccc567ec4c43133036c25c7b8', NULL, NULL, 0, 0, NULL, NULL, '2026-11-24 13:49:12.643085+00', '2026-11-24 13:49:12.643085+00', false, false, '{}', NULL, NULL, '2026-11-24 13:49:12.643085+00'),
	('b81ce99a-5f5e-4e2d-affd-87a6302068b1', 'booking-app', '\x751713f485381f2ccf24ed2529cf3589f7c4f3b150baadce6cb6b332631e644c', '\x1ae5f3e37d6ffe860c29c4a26d5466b7263e7afff1b4979ead5c66e45f33d240', 'clinic', 'ward', 'appointments', 'done', NULL, '\x4756c2dba25da36e4524609b4ab417d78967cab9325c5a84a7f52f8fc8bf8e74c17f73cf1f16417004a00de09a78635397d917c5719dc4815e6a120799648ddbee067caf3dc78511cc671a663cef7ff716b0d5cfcb243fd0b84f7807ca8f13ac869a077e6dc8cd6b881b50dacfb63043a4a6596b7f7ec68299bc53fb2272a90f278a882b0f4240155b12aa79c01d2073948621847f2686dd05c08eb9748e2a6eede18b9a8dc1750635757d59385bccc6ff2ce38eb40f50d678d7b268301a59ac5b95b766e5b2d5fec1e9c48e027560dfba1a0a311f46ba97fd9e71afb37e79e979bedc497b2150b7132177a039517c715eb59994947f5fa05ddbb421f5ed10dd7f514e3378c6bfd51aaa44738709d25651a787fb8a627adebd9470d0bb06f65e53a7877ed1e2096681960d6a1f62e5d6c42292bf68988813d12fafc38e5b5ca384ac52d309cfe445d002d204b7be7fc357cf96c205dea35c9949744937507f16d82d6da9bfaa7e10aba883e48a85d32bf97dba3e6e7ffc533b492275d9f6f2ae1832b151b1e15d9ffda07ab858e7ef9514da627a1cf9429a997d2ecb912d6d4e6aa27896444e2827eca2a7bf4c2ad3cf75a905249b047a6a3a37e89a02c70e39cbae1ccc64352b388861c9ecd7560df291b89a35ecd08fbc7fcf12e00cfb352bf7987c99338c606ee7f3ad67223681ca6eca5df571c26c9234397ccb805a9f9f3afa125ede14e3b9a8cf0a0729036b593c', NULL, NULL, 0, 0, NULL, NULL, '2026-11-24 13:49:12.701656+00', '2026-11-24 13:49:12.701656+00', false, false, '{}', NULL, NULL, '2026-11-24 13:49:12.701656+00'),
	('c3fb750d-d5a0-44d7-8807-fb6bc8ad4d82', 'booking-app', '\x7cc6f285d0273b567841b06a1ba2a9d751d59412c163e8af05d985249c1c0dd8', '\xdde7595ff1e336223e90d929f683b0cf7bbb25d58d002c6740c2e6b1607eccc9', 'clinic', 'ward', 'appointments', 'done', NULL, '\x4756c2db90022b7f0215450e65b00cf22874101f5d97db095afa7020e566c4a151a2b6b94751fb590afdb45872767780396ab5c3c1f07663c374d8b0033fa5479561e249783687238ad2b59e8165ab430c393af028d1af3f43903045eb2167a4501eb43bfe0cfb404c1f9ee98403721277c714c71afb16cf4c08ee0dc2f9aefa1fdee1dece0833b66557dff871b9591dea861920b1df01bf3333ab6c5fab0cc88e3471c1c3bc85e4a1d22b3bb945d1ed25ceb30e35bd2bde31b6cf7919cd54c12a467fe215f3456443906023224c08a7d26e4052866eb9587508d887a1af6debbcba0891f7941421aee45d6595d42665dd44a92df7b873965f4c16da05e25c5ff1bbbaed4c2be66f400dbe95a5a4a148da772c0ecfe12be8d7cef201c03074d03fffadaf3c1d406e2cd43c0e73cdb1c80afbf89b8f95609ef4cee2c536283275f91b51dfec916834a64f721a42ea683f82c5b91462a85e166746e554d0209fe0c6546ac64d85a9c79727bc6d5953bf920486e5e0fcc4b21076b479f4de5aa6ce74cc075d5a24f9ce33792b21da5dfe0ea30ed60771098b1353f3ebb60b4ca4c5348371cab0', NULL, NULL, 0, 0, NULL, NULL, '2026-11-24 13:49:12.743468+00', '2026-11-24 13:49:12.743468+00', false, false, '{}', NULL, NULL, '2026-11-24 13:49:12.743468+00'),
	('d2742b66-0f13-45bd-89ce-41ca11d1cd5f', 'booking-app', '\xf4b120d0c45320b11e98e9d34d7cf429fd6b94c955869a2ff5197dee010476ac', '\x1d4d900c86579d21f2fdd659b763386c5d3b95d04683d2df6ec417979101c0d7', 'clinic', 'ward', 'appointments', 'done', NULL, '\x4756c2dbd97e614533b589c2702aa7c6359265aeeaaac5dfc535b81ea6e9254547874c461451f4085d75f7aaa8129739cff0afe0845b623233636cb481ee457ddc6b9f216fc4f87ad8341e9ebd1f36330890c2c6f1cbc51e39d1c44448f24f2a0d6bf17c6df01422307b95e34734fd9f26db2c4a4896724bc101ca9de166214ac8f16081e10299de2d8ce2efead031ac942f3665862962b390510151513b97cbdaf8e20f977068c589e510653a065c153ab31ce39fc8de816fa1a9c54ea85132800464799331734373aad13335a2503dcdf23dee2b83c4005ccbd27a53df656d2b079c088183c751e75ea6f1eb7a72b862ceefb21d1e299526cab96ced88c9ae703f18a9a51d1359cc0e95d696b219ecbceef38d9525fde1f347e9b5ff69237ea10cbef577a0ad167259865650b526d36bc37db5b42486af8ee51faf5635b0738b73a24074eb6ad51378bc146b08288f06773a3435bd4e54a71a30a521aadbd2c89ad8272749327ce2043b3731fbac8a6b5f948f17b346182d91636f92191626b516282c50e89ec8c8b210c4e535b586821de0465a2d6aff2e516c7e859e1e253296ec7bdc4b34b0', NULL, NULL, 0, 0, NULL, NULL, '2026-11-24 13:49:12.832803+00', '2026-11-24 13:49:12.832803+00', false, false, '{}', NULL, NULL, '2026-11-24 13:49:12.832803+00'),
	('7efa7e1b-4552-4dad-8c26-bda05450510c', 'booking-app', '\xb544c6fcf06919f3df40912541345da87529e0e2bb2d04e94260249492aa2977', '\x5601356c687241f2d59d7e75611711ce4c081a3ddcfa699680e55b74a1ca3a4d', 'hospital', 'ward', 'appointments', 'done', NULL, '\x4756c2dbb73c5278ed1c93dbcfdd4fe2d3c3349930029257fb3be5d210798c8c7aab568f2c7f30f08162c7be2638f05af03aef11fc7b4398dc14b39a1dfd9391434ccc8656783f49fe1e068715b28105c9f72320a2b467892a01571ce1513cbe687b469ea839c0d001e479754953154994931c08fa2ce7a3421a605e938afa6bb18133a014764a1efbad44d095d193f3143b0a31d143b9bc15630b9b740e4e5ff7a01d7b2fac2805fc48759a0adf0b38609b62902ccc988b465b979f6dce623df7d49a4ef39042f4c43a4b6a14cae7e89e8ea7fe2f711a360bc892e783973a2657334d6b0d748895218a7694ae96a441b6d08a2c62f39c9fd55b09965599c136ca844eb6ea53afd84fa165756f95f4926a4278302fb4bfcbf0c1ee37002092989c2c287b76e248262ff51bca08d1b1e590a89ffa9aab61330e01715860d0139d309b96ab93f3e46e4fa3c89ae29fa11f94022f475f56be9e494f6693229df4deb30a929ec9afeddccfa97ed8ff602b1858ad4231fabbc1dd73539b04fecc9eb0a6663dd1f67fd3aeec0a5569d795ac73d1aeb509eac831fb99eae9826dd4a7d83a62711c8ccf3c0e0aa496d3271c35a2f29900c6417eb6739345f9db60a5431f9e15490684be781b59fd5a9f6dbedfb66c7c60be08e4fe7eaa33afdbdb21a8c8fd497efe3a9f5b5e2e479df6b4fb34cf784cfeaa52ecde00053834eb67f0af90f9551134a3a4aa2809ebf832bc612e1588a65394c3f14a37ecfe469a55c5e93c6eef39b7094a6fdb1aed27debeab12332a7a853e89c533b860ff9ecd4eb7e6951e172113dfee9e37bb6426604d4bb8722a3e542a2d11c4c8d10e3bf61decbcd568f225307fa36f82d6eb84f29f0869d5d2d8291235df7edf15995d40f867cfa262f986b6a38a5ea465638488409c3c07ed3d9a7d840c3f5dea5c4ec37e2ed84944628fded638401d6836a7d7f03e06b108b1f5936fc03f1f2286827eb326cd87b1d720c6594edb8d67d6a7439d2cb1279e7e', NULL, NULL, 0, 0, NULL, NULL, '2026-11-24 13:49:12.863655+00', '2026-11-24 13:49:12.863655+00', false, false, '{}', '2026-11-24 14:49:12.869+00', NULL, '2026-11-24 13:49:12.863655+00'),
	('a6a94a64-59d2-4f51-bf64-0c1e1df12a21', 'booking-app', '\x51a8179537707715793d44caa63feefd7331ae49e4d88780aedd33cdcc2e8e45', '\xccb9e49ba957d883b4d814c45a391846af3fafc0db2a1ad37d67637eff08d198', 'hospital', 'ward', 'appointments', 'done', NULL, '\x4756c2dbdffbc371fd800c7a005b5a4aa14143be75d0b701e22c645c6a70708123d7a62af268b71d33bcb3e990d4e0b52a0f4425541f9f928fac3485bb480eacb3f2c37995866bff501ccdbd81646d89e2039f69138c160e00a832e1a8bcad1f05f9b6e00e67c7cde08cb968564a0b8dfcbb005c25630bfd906c2ca27821fd39bf2da9afbed3182be25b5cddf5e09ddc521652341c28f09dbd547a665e3acdd3ed9fa0c9a28edb1345b86af486186c0d6d7662cbaf1417c280f72623d9d82470c8d63e668dfe24d6aee4a1f0c0fe6c0b8cae7e759faf473b762fc5b0bedb581121ec994df74f413506102edf5295fd84ae205ac23f2e11bbd0895936460ed06f46b4a73f19bd104619e1e9a8f93ea4b22075026e6808564934a508637355e9559af6c1fa2e22c69f0b860b6378d8c30f05cde2c34b9254bade6bfc6ccc36b471621df6888e7c9b3c458643edb24edd62be91cda721c2e9dbf7c44e036003735927c59f87be2099eccc33f68c97bf5947615ccad22e6f59513f5318c9a88be2691f1638063897dba8733dea1fbdb92f2567fa6cfb7df63561608b0a1921d3a5f27dc6b47437f2fb', NULL, NULL, 0, 0, NULL, NULL, '2026-11-24 13:49:13.152412+00', '2026-11-24 13:49:13.152412+00', false, false, '{}', NULL, NULL, '2026-11-24 13:49:13.152412+00'),
	('42863f93-87bf-46bc-9e61-9d4a95fc2600', 'booking-app', '\xd25169dd8dbf1cfff04a805a26835d59055a15979c851c96071698b12a9ae8fe', '\xb1ca249dc0ed4603d53e34a39508a3d51d931ccc260c2341c37db46536959dd2', 'hospital', 'ward', 'appointments', 'done', NULL, '\x4756c2dbeeee8fc50408f11720313d0f376dade4bc1250ef066a898549e8f109892193b4743a61f38b134ba3f704b14b1023702f685606835ea8c3f42cae168f49b9238f511bee7c27033f4e5c0d21459f6aaff8bd5a3ee9a19a32a684d5ea3866b22f488b0c9f7a75535b6e841437069be68689fe0c21041e024806c3a6dc996c6a4567410c6a0ff0b450b5ded5d1e8494db04ca65a4118c5a408846823c6e44829f8b93df927d15994275f2682899bbc614d678df3eb89a9496881cbcb1ac5639b22ed5375128d029f0a4e32845872cb504e69af572a832071a307d3ca337111650f7a7d6b91eac1510ab8b1c9ef77277741d42961350a07273748c21252617434b7a21e6fe22089a31c5e1b19c0f3b7747b584600f007291836772e5933f703a6dc8720ed2130eaa7847848315e9bc49ede4403fac600c9dac139064d610edb3cfc5523c19a60636b7a563cb4423a0011165a3033a6ea9fb080eb862403f5ca4fa140167fbce6253a748b912eec23fa8117af17281b6b526d30fcd18a85e4b9923ebcbeadfec53fa4da358f9456d94caeaa55bb819c59a507de71c8a90375b93269b715eeeed77fe6ef4c2aabd3ec425d40c6b769bcf824238485306e59f6b545f9f410e981f9358c0e2367b9666a80bb62d51c95113a9dcd856e69522eea6cddacdc61e1dd53565ee7e02d60aea32085b7087cdd34cfde0c40a257bdb397c7e92565fe17119b0ea68ca708afe2eeab7d3a17b8f1e70a6ab6c1297e4b3ac3d715aa7ecce293d4c612253c034fbcd7a7034e57ab72b5e0bdf2db5a57028d9215025bfe1000e207831018e66cde4df517a6e670e6c6eda3978a83601a1079e97fc2bee81f301bd888fb01211ddc566a86631c80a39969c1a5a19521d4f1f4a27f345debef6e30480ae85c50de8aac86492de0d27ee03e10271c1d2e992f905271d418994d3e03b2ba7ffef5b2c32900bca85ce5b5edef0b13a2dbf6b12ae71597bb30b274082e723f5add007fc43a609e3d', NULL, NULL, 0, 0, NULL, NULL, '2026-11-24 13:49:13.244256+00', '2026-11-24 13:49:13.244256+00', false, false, '{}', '2026-11-24 14:49:13.249+00', NULL, '2026-11-24 13:49:13.244256+00'),
	('8319b865-6ad6-4706-8434-e0cb8a3c20cc', 'booking-app', '\x3ed902753618865f6c45842ef5d0382552ee8391f182fa52e34cf776d1b69263', '\x2d88745164c188bc1089de3957a48d58dea6523950f955b5f28f3c83fe91f8dd', 'clinic', 'ward', 'appointments', 'pending', '\x4756c2dbccf5a76195e83c8fba05269a9a8c3899bbaf80c5625e12383d3ea8192c50f521953a0a0c6f77b0d071679efd00b817c5e74dceb6e626eecb92fd597538643f97813e80eca70f781f42bb0582d6c069119cd4ae441025b1c48b30b742984d8127611cc2ecd38b40d7f80800d0357aae9e691054602810c2447a1abe33a0ccb2f4cdd7dac80538657d11b49ef1b9c5a93d8bac55f8cafe42ecda98d2ec5cd4e81ddb920bedc38864a8ab6123bd8a9394fec02bfc39edc69304390bab3791c9269ce644b3593e57c5fadf834d3ba1483a0eef181190c9b5eb724fac02ca29e185f5ce0dcbd8ac989c5a0b461d6149dd612e47d9c62dfbf9680ddbcbce961f929e5a3229ab1bc3baff230c2247b16ea26df0c49887fae2bbafe6b5230371f604da2917092937ec266564a8c01664027896afd16afbdf5d3338777eb511c3997717928b9ec983deb7a14b2fc440e9db0352d64219fb7ffab97ace0c91bcf6f813da01c0b401e7791afaa6e85a1c45a23724e1f548740b52e19fc138ea197b0fc607ed1c6e87e2c28f440c33ae5994099959d8b0ddfeb46e293e674780b704f27305a207d61b7d507aaabe26b5b6e620656c412ac8ad4cbcadd030fb1f25f2ffade2aa8946b7315a32e3813e7a354bd0d3d29061193e323a51f47d93a3e7dd4767e3d214d75136e55646ab3b94cc14ca424b2be0e45539321aaa11a27aca32538ec30e96912c4031955ee1d01dbb7ce0ea6387b05023a77cd477d45b99b8548ea8ba91fbfd9c527ae7f7e064a534b0a9a25b57103318a3ae2c95293558c16f3b196d2839f2ebfee21488c575e3b2fcfd2c0a761c178101fcf9b1f2a2adc48748fa6e5f810fcbc430448b09cc6cd54829e019b951421724c6c532f8d3596665001e407a6c1c51c8cb7c0515868aeaaf88e19f8b074c4c2ac85aa8ad2aacb51814731f9d90bdec0535f1a6b95b15db73ca4f8d6cb68452ba24dcfd7467146a6dd1c89b8be283f540132344fa0949844791fc6e6ef1400ff262d5555bb01157d3b6031f18551f27033378', NULL, NULL, NULL, 0, 0, NULL, '2026-11-24 13:49:13.389834+00', '2026-11-24 13:49:13.361161+00', '2026-11-24 13:49:13.361161+00', true, false, '{}', NULL, NULL, '2026-11-24 13:49:13.361161+00');


--
-- Data for Name: operator_activity; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.operator_activity OVERRIDING SYSTEM VALUE VALUES
	(1, '2026-11-24 13:49:11.836069+00', 'command line', 'client_create', 'ward-screen', 'done', NULL, NULL, NULL);


--
-- Data for Name: operator_sessions; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: operators; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: schema_migrations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.schema_migrations VALUES
	('crossward', 1, 'extensions', 'c5084198cc3c593989a268841e58cf4ff16d53645270174ec39cc08f99eecc8f', '2026-11-24 13:49:04.552407+00'),
	('crossward', 2, 'confirmations', '8d31b9caf5c2fdced8ba32156156720ae50cad9756ab16e2aaba819f8c7803a1', '2026-11-24 13:49:04.552407+00'),
	('crossward', 3, 'messages', '367927ebcc00da3a0550bdad7618d74db2c59ac753ee503ef64a8470ee0e2dcc', '2026-11-24 13:49:04.552407+00'),
	('crossward', 4, 'operations', 'f5dc21f508d5dbabe8916c20a07145c0cbe977b9c4b1b06784ded06ed2c05504', '2026-11-24 13:49:04.552407+00'),
	('crossward', 5, 'secret_keys', '2862e162e0887f8977a18b9e19eaabbd404102eedca161598feed0554b1b8007', '2026-11-24 13:49:04.552407+00'),
	('crossward', 6, 'uploads', '7f85b268079fecd0f6e98dd38ef3e40baf3ab8074305d1f9bb749a4016bbef4f', '2026-11-24 13:49:04.552407+00'),
	('crossward', 7, 'events', '5340b8252b4dbb48011aacd8ef756102334ee0962ec69930b1958468393b4c25', '2026-11-24 13:49:04.552407+00'),
	('crossward', 8, 'console', 'fc72ee6ac73780830927b28727da26126064d239f3b8c46cbc6c3518ac206cb7', '2026-11-24 13:49:04.552407+00'),
	('crossward', 9, 'ehr_changes', 'd7775d62488935a850a6fc6f5d35506050b13a9b761f0d543f2cfc5a6aab4389', '2026-11-24 13:49:04.552407+00'),
	('crossward', 10, 'clients', '71f815e676ce5dbaa12622766e1d98b200a7604c4dcc850179f4ca6559587b16', '2026-11-24 13:49:04.552407+00'),
	('crossward', 11, 'audit', 'a4809495a367321d3d75a2c7d8500a135ff12ef3fc78c8beeb69b5334234c865', '2026-11-24 13:49:04.552407+00'),
	('crossward', 12, 'ehr_changes_by_care_unit', '6296fb247f6e3c082f4d80763aeaf20a963035521826412beb72e7ffb2955fc8', '2026-11-24 13:49:04.552407+00'),
	('crossward', 13, 'audit_drafts', '0ad91005c52219dbf88aa56a7707060ef89242702de9fa73f61066b0ef81e2f2', '2026-11-24 13:49:04.552407+00'),
	('crossward', 14, 'ehr_rates', '858b0e4e34a74bdb8b986d938140f87de310dc424cbbc33a7b9b1a44ca6072db', '2026-11-24 13:49:04.552407+00'),
	('crossward', 15, 'secrets_before_the_previous', '5a0b43c6598f90aed47b459dd0f3012751b984de4caaa45f7e05a1f69728ca9b', '2026-11-24 13:49:04.552407+00'),
	('crossward', 16, 'ehr_rate_growth', '80bc6552c68427448efe9ff4d37ff097385cb81a18a8865a8a69eb7ab49313e1', '2026-11-24 13:49:04.552407+00'),
	('crossward', 17, 'confirmations_without_ehr_codes', '2ac6344b640c9c9b0553fb9e73123c54ec2e0249117e35944989f27b0753bf58', '2026-11-24 13:49:04.552407+00'),
	('crossward', 18, 'delayed_messages', '86623a05c2bf7284e893d9703a4a13fb543535619658f12e0b448f31af4fc738', '2026-11-24 13:49:04.552407+00'),
	('crossward', 19, 'history', '353ee9f97a430ac46895aa55cc931a851aa3f2d157759d67adc662f54a8f731d', '2026-11-24 13:49:04.552407+00'),
	('crossward', 20, 'ehr_pauses', '6ef6eae33ee45183c200a6f60a26d572209cc2fa4d767bb343d1c567eb2f8470', '2026-11-24 13:49:04.552407+00'),
	('crossward', 21, 'audit_months', 'a06beccd3c365e50423e32da52d9b52fb80fe51b627380038c703aeea9949d01', '2026-11-24 13:49:04.552407+00'),
	('crossward', 22, 'merged_history', '2fe1116a544605b113de4f84963faccc99fec3d9b8322dbb52b056d7edea93f6', '2026-11-24 13:49:04.552407+00'),
	('crossward', 23, 'due_deliveries', '03b2cf3db625203b48c780eb9eecb49544d9efbafbfca812ebbb7281b8530bf4', '2026-11-24 13:49:04.552407+00'),
	('crossward', 24, 'positions_of_published_events', '5e2f21f2372af63aa2e122dbc1052760545a10dbc2567435479ea81dd7d8b44f', '2026-11-24 13:49:04.552407+00'),
	('crossward', 25, 'patient_details', 'eb6c60724b6625c883d0d22df656d6e3fc7970944b4bd6f45de947b75c6a0023', '2026-11-24 13:49:04.552407+00'),
	('crossward', 26, 'moved_appointments', '3c1d1630f46be33e98ceb8475568ae4ad08a76e3c6ea512800ce3de508f41f9a', '2026-11-24 13:49:04.552407+00'),
	('sandbox', 1, 'sandbox', 'ac81743228db0cf1f4077cf7a261e7a85fd0d348eb408c10e4a1f536b7974f56', '2026-11-24 13:49:04.552407+00'),
	('sandbox', 2, 'bookings_together', '3aeec2c3a0663558b744bda53ce516fddbe00bb27aaca6ed6924bf9fc3c46ce5', '2026-11-24 13:49:04.552407+00');


--
-- Data for Name: secret_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.secret_keys VALUES
	('4756c2db', '\xf5beb2093616fe11024dad84adfc78cf7ffa157285141bffb25e0dc0271000e3', '2026-11-24 13:49:06.125414+00', NULL, NULL);


--
-- Data for Name: upload_chunks; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: uploads; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: webhook_deliveries; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.webhook_deliveries OVERRIDING SYSTEM VALUE VALUES
	('43ae0dd1-001f-48d3-b250-766455b92e35', 1, '470b5f37-1b62-4c0a-89fe-08f19721b68e', 'f81b1e38-064a-423b-84b9-576781482bba', 1, 'clinic bbf145ea-202f-496b-a421-085b027794f1', 'pending', 0, 0, '2026-11-24 13:49:13.191169+00', NULL, NULL, NULL, '2026-11-24 13:49:13.191169+00', NULL),
	('1b810c12-c267-4e08-86bc-6c88913a00d0', 2, '470b5f37-1b62-4c0a-89fe-08f19721b68e', 'cebb6c9b-580b-4c3b-95cd-7ea812082481', 2, 'clinic a90ea554-9468-42ec-90d8-62afdc406056', 'pending', 0, 0, '2026-11-24 13:49:13.191169+00', NULL, NULL, NULL, '2026-11-24 13:49:13.191169+00', NULL),
	('d26e74b7-c2a8-42c5-be6d-1f76792f34a3', 3, '470b5f37-1b62-4c0a-89fe-08f19721b68e', '7f1803e0-105f-4cd2-8d52-b53d8f275977', 3, 'clinic a90ea554-9468-42ec-90d8-62afdc406056', 'pending', 0, 0, '2026-11-24 13:49:13.191169+00', NULL, NULL, NULL, '2026-11-24 13:49:13.191169+00', NULL),
	('06ab6fe5-fdbd-40a7-bb98-197d40461390', 4, '470b5f37-1b62-4c0a-89fe-08f19721b68e', 'd9fc4126-314a-4468-90df-9c158e9da6dc', 4, 'clinic a90ea554-9468-42ec-90d8-62afdc406056', 'pending', 0, 0, '2026-11-24 13:49:13.191169+00', NULL, NULL, NULL, '2026-11-24 13:49:13.191169+00', NULL),
	('4c9b4e20-39ea-40ee-b444-de240f697d58', 5, '470b5f37-1b62-4c0a-89fe-08f19721b68e', '3369b87c-0e21-4c7f-98bd-52a0d021a3a3', 5, 'hospital bc42c5e0-fe4f-490e-a704-8eb6c84a0f15', 'pending', 0, 0, '2026-11-24 13:49:13.191169+00', NULL, NULL, NULL, '2026-11-24 13:49:13.191169+00', NULL);


--
-- Data for Name: webhook_endpoints; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.webhook_endpoints VALUES
	('470b5f37-1b62-4c0a-89fe-08f19721b68e', 'booking-app', '\x4756c2dbc19de41e41ec273e50c8262708200f95d2414a6151cdcc9a9772b2db193ef6ec9e287dd40fe73337fa651798314d94f58a47c48a', '\x4756c2db5c5e360a13f215d91cbd77d347da9d67284237a843eedd49c4c9fbad64b20ef1248e04d3ab1a1d13502f56284a8c9d8a28a2f18d031f929ad1017f711d379fe577be0959a998d61ede6f323e7425', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{}', '2026-11-24 13:49:12.383467+00', NULL);


--
-- Data for Name: appointments; Type: TABLE DATA; Schema: sandbox; Owner: -
--

INSERT INTO sandbox.appointments VALUES
	('clinic', 'bbf145ea-202f-496b-a421-085b027794f1', 'ward', 'p-3', 'r-1', 'consultation', '2035-03-15 08:00:00+00', '2035-03-15 08:30:00+00', 'booked', NULL, NULL, '2026-11-24 13:49:12.661928+00', '894', '2026-11-24 13:49:12.661928+00'),
	('clinic', 'a90ea554-9468-42ec-90d8-62afdc406056', 'ward', 'p-3', 'r-1', 'consultation', '2035-03-15 10:00:00+00', '2035-03-15 10:30:00+00', 'cancelled', NULL, NULL, '2026-11-24 13:49:12.703687+00', '903', '2026-11-24 13:49:12.838811+00'),
	('hospital', 'bc42c5e0-fe4f-490e-a704-8eb6c84a0f15', 'ward', 'p-3', 'r-1', 'consultation', '2035-03-15 08:00:00+00', '2035-03-15 08:30:00+00', 'booked', NULL, NULL, '2026-11-24 13:49:12.910656+00', '917', '2026-11-24 13:49:13.220616+00'),
	('hospital', '94771c72-b34d-450d-986a-bf1475abdd31', 'ward', 'p-3', 'r-1', 'consultation', '2035-03-15 09:00:00+00', '2035-03-15 09:30:00+00', 'held', '2026-11-24 14:49:13.249+00', NULL, '2026-11-24 13:49:13.254743+00', '920', '2026-11-24 13:49:13.254743+00'),
	('clinic', '998e16e4-448c-4b0a-9d21-ab92c4fcc957', 'ward', 'p-lost', 'r-1', 'consultation', '2035-03-15 13:00:00+00', '2035-03-15 13:30:00+00', 'booked', NULL, NULL, '2026-11-24 13:49:13.374219+00', '928', '2026-11-24 13:49:13.374219+00');


--
-- Data for Name: document_chunks; Type: TABLE DATA; Schema: sandbox; Owner: -
--



--
-- Data for Name: documents; Type: TABLE DATA; Schema: sandbox; Owner: -
--



--
-- Data for Name: medical_notes; Type: TABLE DATA; Schema: sandbox; Owner: -
--



--
-- Data for Name: operations; Type: TABLE DATA; Schema: sandbox; Owner: -
--

INSERT INTO sandbox.operations VALUES
	('clinic', 'a297bc9d-d600-4d37-8304-a1b15d01f38f', '{bbf145ea-202f-496b-a421-085b027794f1}', '2026-11-24 13:49:12.661928+00'),
	('clinic', 'b81ce99a-5f5e-4e2d-affd-87a6302068b1', '{a90ea554-9468-42ec-90d8-62afdc406056}', '2026-11-24 13:49:12.703687+00'),
	('clinic', 'c3fb750d-d5a0-44d7-8807-fb6bc8ad4d82', '{a90ea554-9468-42ec-90d8-62afdc406056}', '2026-11-24 13:49:12.751742+00'),
	('clinic', 'd2742b66-0f13-45bd-89ce-41ca11d1cd5f', '{a90ea554-9468-42ec-90d8-62afdc406056}', '2026-11-24 13:49:12.838811+00'),
	('hospital', '7efa7e1b-4552-4dad-8c26-bda05450510c', '{bc42c5e0-fe4f-490e-a704-8eb6c84a0f15}', '2026-11-24 13:49:12.910656+00'),
	('hospital', 'a6a94a64-59d2-4f51-bf64-0c1e1df12a21', '{bc42c5e0-fe4f-490e-a704-8eb6c84a0f15}', '2026-11-24 13:49:13.220616+00'),
	('hospital', '42863f93-87bf-46bc-9e61-9d4a95fc2600', '{94771c72-b34d-450d-986a-bf1475abdd31}', '2026-11-24 13:49:13.254743+00'),
	('clinic', '8319b865-6ad6-4706-8434-e0cb8a3c20cc', '{998e16e4-448c-4b0a-9d21-ab92c4fcc957}', '2026-11-24 13:49:13.374219+00');


--
-- Data for Name: schedule_versions; Type: TABLE DATA; Schema: sandbox; Owner: -
--

INSERT INTO sandbox.schedule_versions VALUES
	('clinic', 10),
	('hospital', 10);


--
-- Data for Name: schedule_writes; Type: TABLE DATA; Schema: sandbox; Owner: -
--



--
-- Data for Name: schedules; Type: TABLE DATA; Schema: sandbox; Owner: -
--

INSERT INTO sandbox.schedules VALUES
	('clinic', 'r-1-morning', 'ward', 'r-1', '{consultation,vaccination}', '2024-01-01T08:00:00', '2024-01-01T12:00:00', 30, 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'),
	('clinic', 'r-1-afternoon', 'ward', 'r-1', '{consultation,vaccination}', '2024-01-01T13:00:00', '2024-01-01T16:00:00', 30, 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'),
	('clinic', 'r-2-morning', 'ward', 'r-2', '{consultation,vaccination}', '2024-01-01T08:00:00', '2024-01-01T12:00:00', 30, 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'),
	('clinic', 'r-2-afternoon', 'ward', 'r-2', '{consultation,vaccination}', '2024-01-01T13:00:00', '2024-01-01T16:00:00', 30, 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'),
	('clinic', 'r-3-morning', 'ward', 'r-3', '{consultation,vaccination}', '2024-01-01T08:00:00', '2024-01-01T12:00:00', 30, 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'),
	('clinic', 'r-3-afternoon', 'ward', 'r-3', '{consultation,vaccination}', '2024-01-01T13:00:00', '2024-01-01T16:00:00', 30, 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'),
	('clinic', 'r-4-morning', 'ward', 'r-4', '{consultation,vaccination}', '2024-01-01T08:00:00', '2024-01-01T12:00:00', 30, 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'),
	('clinic', 'r-4-afternoon', 'ward', 'r-4', '{consultation,vaccination}', '2024-01-01T13:00:00', '2024-01-01T16:00:00', 30, 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'),
	('clinic', 'r-5-morning', 'ward', 'r-5', '{vaccination}', '2024-01-01T08:00:00', '2024-01-01T12:00:00', 30, 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'),
	('clinic', 'r-5-afternoon', 'ward', 'r-5', '{vaccination}', '2024-01-01T13:00:00', '2024-01-01T16:00:00', 30, 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'),
	('hospital', 'r-1-morning', 'ward', 'r-1', '{consultation,vaccination}', '2024-01-01T08:00:00', '2024-01-01T12:00:00', 30, 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'),
	('hospital', 'r-1-afternoon', 'ward', 'r-1', '{consultation,vaccination}', '2024-01-01T13:00:00', '2024-01-01T16:00:00', 30, 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'),
	('hospital', 'r-2-morning', 'ward', 'r-2', '{consultation,vaccination}', '2024-01-01T08:00:00', '2024-01-01T12:00:00', 30, 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'),
	('hospital', 'r-2-afternoon', 'ward', 'r-2', '{consultation,vaccination}', '2024-01-01T13:00:00', '2024-01-01T16:00:00', 30, 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'),
	('hospital', 'r-3-morning', 'ward', 'r-3', '{consultation,vaccination}', '2024-01-01T08:00:00', '2024-01-01T12:00:00', 30, 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'),
	('hospital', 'r-3-afternoon', 'ward', 'r-3', '{consultation,vaccination}', '2024-01-01T13:00:00', '2024-01-01T16:00:00', 30, 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'),
	('hospital', 'r-4-morning', 'ward', 'r-4', '{consultation,vaccination}', '2024-01-01T08:00:00', '2024-01-01T12:00:00', 30, 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'),
	('hospital', 'r-4-afternoon', 'ward', 'r-4', '{consultation,vaccination}', '2024-01-01T13:00:00', '2024-01-01T16:00:00', 30, 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'),
	('hospital', 'r-5-morning', 'ward', 'r-5', '{vaccination}', '2024-01-01T08:00:00', '2024-01-01T12:00:00', 30, 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'),
	('hospital', 'r-5-afternoon', 'ward', 'r-5', '{vaccination}', '2024-01-01T13:00:00', '2024-01-01T16:00:00', 30, 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR');


--
-- Name: audit_drafts_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.audit_drafts_id_seq', 8, true);


--
-- Name: events_sequence_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.events_sequence_seq', 7, true);


--
-- Name: operator_activity_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.operator_activity_id_seq', 1, true);


--
-- Name: webhook_deliveries_sequence_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.webhook_deliveries_sequence_seq', 5, true);


--
-- Name: bam bam_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.bam
    ADD CONSTRAINT bam_pkey PRIMARY KEY (id);


--
-- Name: job job_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (name, id);


--
-- Name: job_common job_common_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.job_common
    ADD CONSTRAINT job_common_pkey PRIMARY KEY (name, id);


--
-- Name: job_dependency job_dependency_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.job_dependency
    ADD CONSTRAINT job_dependency_pkey PRIMARY KEY (child_name, child_id, parent_name, parent_id);


--
-- Name: queue queue_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.queue
    ADD CONSTRAINT queue_pkey PRIMARY KEY (name);


--
-- Name: queue_stats queue_stats_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.queue_stats
    ADD CONSTRAINT queue_stats_pkey PRIMARY KEY (id, captured_on);


--
-- Name: queue_stats_20261124 queue_stats_20261124_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.queue_stats_20261124
    ADD CONSTRAINT queue_stats_20261124_pkey PRIMARY KEY (id, captured_on);


--
-- Name: queue_stats_20261125 queue_stats_20261125_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.queue_stats_20261125
    ADD CONSTRAINT queue_stats_20261125_pkey PRIMARY KEY (id, captured_on);


--
-- Name: schedule schedule_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.schedule
    ADD CONSTRAINT schedule_pkey PRIMARY KEY (name, key);


--
-- Name: subscription subscription_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.subscription
    ADD CONSTRAINT subscription_pkey PRIMARY KEY (event, name);


--
-- Name: version version_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.version
    ADD CONSTRAINT version_pkey PRIMARY KEY (version);


--
-- Name: warning warning_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.warning
    ADD CONSTRAINT warning_pkey PRIMARY KEY (id);


--
-- Name: audit_chains audit_chains_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_chains
    ADD CONSTRAINT audit_chains_pkey PRIMARY KEY (id);


--
-- Name: audit_drafts audit_drafts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_drafts
    ADD CONSTRAINT audit_drafts_pkey PRIMARY KEY (id);


--
-- Name: audit_entries audit_entries_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_entries
    ADD CONSTRAINT audit_entries_pkey PRIMARY KEY (chain_id, "position", at);


--
-- Name: audit_entries_2026_11 audit_entries_2026_11_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_entries_2026_11
    ADD CONSTRAINT audit_entries_2026_11_pkey PRIMARY KEY (chain_id, "position", at);


--
-- Name: audit_entries_2026_12 audit_entries_2026_12_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_entries_2026_12
    ADD CONSTRAINT audit_entries_2026_12_pkey PRIMARY KEY (chain_id, "position", at);


--
-- Name: audit_entries_2027_01 audit_entries_2027_01_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_entries_2027_01
    ADD CONSTRAINT audit_entries_2027_01_pkey PRIMARY KEY (chain_id, "position", at);


--
-- Name: audit_entries_default audit_entries_default_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_entries_default
    ADD CONSTRAINT audit_entries_default_pkey PRIMARY KEY (chain_id, "position", at);


--
-- Name: audit_keys audit_keys_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_keys
    ADD CONSTRAINT audit_keys_pkey PRIMARY KEY (id);


--
-- Name: audit_retention audit_retention_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_retention
    ADD CONSTRAINT audit_retention_pkey PRIMARY KEY (is_only);


--
-- Name: clients clients_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.clients
    ADD CONSTRAINT clients_pkey PRIMARY KEY (id);


--
-- Name: clients_revision clients_revision_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.clients_revision
    ADD CONSTRAINT clients_revision_pkey PRIMARY KEY (is_only);


--
-- Name: confirmation_items confirmation_items_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.confirmation_items
    ADD CONSTRAINT confirmation_items_pkey PRIMARY KEY (emr, appointment_id);


--
-- Name: confirmations confirmations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.confirmations
    ADD CONSTRAINT confirmations_pkey PRIMARY KEY (id);


--
-- Name: demo_mailbox demo_mailbox_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.demo_mailbox
    ADD CONSTRAINT demo_mailbox_pkey PRIMARY KEY (id);


--
-- Name: ehr_change_feeds ehr_change_feeds_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.ehr_change_feeds
    ADD CONSTRAINT ehr_change_feeds_pkey PRIMARY KEY (emr);


--
-- Name: ehr_changes ehr_changes_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.ehr_changes
    ADD CONSTRAINT ehr_changes_pkey PRIMARY KEY (emr, appointment_id);


--
-- Name: ehr_history ehr_history_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.ehr_history
    ADD CONSTRAINT ehr_history_pkey PRIMARY KEY (quarter, emr, process);


--
-- Name: ehr_pauses ehr_pauses_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.ehr_pauses
    ADD CONSTRAINT ehr_pauses_pkey PRIMARY KEY (emr);


--
-- Name: ehr_rate_demands ehr_rate_demands_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.ehr_rate_demands
    ADD CONSTRAINT ehr_rate_demands_pkey PRIMARY KEY (emr, process);


--
-- Name: ehr_rates ehr_rates_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.ehr_rates
    ADD CONSTRAINT ehr_rates_pkey PRIMARY KEY (emr);


--
-- Name: event_positions event_positions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.event_positions
    ADD CONSTRAINT event_positions_pkey PRIMARY KEY (name);


--
-- Name: events events_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id);


--
-- Name: failed_sign_ins failed_sign_ins_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.failed_sign_ins
    ADD CONSTRAINT failed_sign_ins_pkey PRIMARY KEY (key_hash);


--
-- Name: history_counts history_counts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.history_counts
    ADD CONSTRAINT history_counts_pkey PRIMARY KEY (quarter, kind);


--
-- Name: messages messages_confirmation_id_sequence_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_confirmation_id_sequence_key UNIQUE (confirmation_id, sequence);


--
-- Name: messages messages_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (id);


--
-- Name: moved_appointments moved_appointments_emr_former_id_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.moved_appointments
    ADD CONSTRAINT moved_appointments_emr_former_id_key UNIQUE (emr, former_id);


--
-- Name: moved_appointments moved_appointments_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.moved_appointments
    ADD CONSTRAINT moved_appointments_pkey PRIMARY KEY (emr, appointment_id);


--
-- Name: operations operations_client_id_idempotency_key_hash_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.operations
    ADD CONSTRAINT operations_client_id_idempotency_key_hash_key UNIQUE (client_id, idempotency_key_hash);


--
-- Name: operations operations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.operations
    ADD CONSTRAINT operations_pkey PRIMARY KEY (id);


--
-- Name: operator_activity operator_activity_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.operator_activity
    ADD CONSTRAINT operator_activity_pkey PRIMARY KEY (id);


--
-- Name: operator_sessions operator_sessions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.operator_sessions
    ADD CONSTRAINT operator_sessions_pkey PRIMARY KEY (token_hash);


--
-- Name: operators operators_name_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.operators
    ADD CONSTRAINT operators_name_key UNIQUE (name);


--
-- Name: operators operators_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.operators
    ADD CONSTRAINT operators_pkey PRIMARY KEY (id);


--
-- Name: schema_migrations schema_migrations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (set, version);


--
-- Name: secret_keys secret_keys_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.secret_keys
    ADD CONSTRAINT secret_keys_pkey PRIMARY KEY (id);


--
-- Name: upload_chunks upload_chunks_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.upload_chunks
    ADD CONSTRAINT upload_chunks_pkey PRIMARY KEY (upload_id, "position");


--
-- Name: uploads uploads_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.uploads
    ADD CONSTRAINT uploads_pkey PRIMARY KEY (id);


--
-- Name: webhook_deliveries webhook_deliveries_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id);


--
-- Name: webhook_endpoints webhook_endpoints_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (id);


--
-- Name: appointments appointments_no_overlap; Type: CONSTRAINT; Schema: sandbox; Owner: -
--

ALTER TABLE ONLY sandbox.appointments
    ADD CONSTRAINT appointments_no_overlap EXCLUDE USING gist (emr WITH =, resource_id WITH =, tstzrange(starts_at, ends_at) WITH &&) WHERE ((state <> 'cancelled'::text)) DEFERRABLE;


--
-- Name: appointments appointments_pkey; Type: CONSTRAINT; Schema: sandbox; Owner: -
--

ALTER TABLE ONLY sandbox.appointments
    ADD CONSTRAINT appointments_pkey PRIMARY KEY (emr, id);


--
-- Name: document_chunks document_chunks_pkey; Type: CONSTRAINT; Schema: sandbox; Owner: -
--

ALTER TABLE ONLY sandbox.document_chunks
    ADD CONSTRAINT document_chunks_pkey PRIMARY KEY (emr, content_id, "position");


--
-- Name: documents documents_emr_operation_id_key; Type: CONSTRAINT; Schema: sandbox; Owner: -
--

ALTER TABLE ONLY sandbox.documents
    ADD CONSTRAINT documents_emr_operation_id_key UNIQUE (emr, operation_id);


--
-- Name: documents documents_pkey; Type: CONSTRAINT; Schema: sandbox; Owner: -
--

ALTER TABLE ONLY sandbox.documents
    ADD CONSTRAINT documents_pkey PRIMARY KEY (emr, id);


--
-- Name: medical_notes medical_notes_emr_operation_id_key; Type: CONSTRAINT; Schema: sandbox; Owner: -
--

ALTER TABLE ONLY sandbox.medical_notes
    ADD CONSTRAINT medical_notes_emr_operation_id_key UNIQUE (emr, operation_id);


--
-- Name: medical_notes medical_notes_pkey; Type: CONSTRAINT; Schema: sandbox; Owner: -
--

ALTER TABLE ONLY sandbox.medical_notes
    ADD CONSTRAINT medical_notes_pkey PRIMARY KEY (emr, id);


--
-- Name: operations operations_pkey; Type: CONSTRAINT; Schema: sandbox; Owner: -
--

ALTER TABLE ONLY sandbox.operations
    ADD CONSTRAINT operations_pkey PRIMARY KEY (emr, operation_id);


--
-- Name: schedule_versions schedule_versions_pkey; Type: CONSTRAINT; Schema: sandbox; Owner: -
--

ALTER TABLE ONLY sandbox.schedule_versions
    ADD CONSTRAINT schedule_versions_pkey PRIMARY KEY (emr);


--
-- Name: schedule_writes schedule_writes_pkey; Type: CONSTRAINT; Schema: sandbox; Owner: -
--

ALTER TABLE ONLY sandbox.schedule_writes
    ADD CONSTRAINT schedule_writes_pkey PRIMARY KEY (emr, operation_id);


--
-- Name: schedules schedules_pkey; Type: CONSTRAINT; Schema: sandbox; Owner: -
--

ALTER TABLE ONLY sandbox.schedules
    ADD CONSTRAINT schedules_pkey PRIMARY KEY (emr, id);


--
-- Name: job_common_i1; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE UNIQUE INDEX job_common_i1 ON pgboss.job_common USING btree (name, COALESCE(singleton_key, ''::text)) WHERE ((state = 'created'::pgboss.job_state) AND (policy = 'short'::text));


--
-- Name: job_common_i10; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX job_common_i10 ON pgboss.job_common USING btree (name, singleton_key, state DESC, created_on, id) INCLUDE (start_after) WHERE ((state < 'active'::pgboss.job_state) AND (NOT blocked) AND (policy = 'key_strict_fifo'::text));


--
-- Name: job_common_i11; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX job_common_i11 ON pgboss.job_common USING btree (name, priority DESC, created_on, start_after) WHERE ((state < 'active'::pgboss.job_state) AND (NOT blocked));


--
-- Name: job_common_i2; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE UNIQUE INDEX job_common_i2 ON pgboss.job_common USING btree (name, COALESCE(singleton_key, ''::text)) WHERE ((state = 'active'::pgboss.job_state) AND (policy = 'singleton'::text));


--
-- Name: job_common_i3; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE UNIQUE INDEX job_common_i3 ON pgboss.job_common USING btree (name, state, COALESCE(singleton_key, ''::text)) WHERE ((state <= 'active'::pgboss.job_state) AND (policy = 'stately'::text));


--
-- Name: job_common_i4; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE UNIQUE INDEX job_common_i4 ON pgboss.job_common USING btree (name, singleton_on, COALESCE(singleton_key, ''::text)) WHERE ((state <> 'cancelled'::pgboss.job_state) AND (singleton_on IS NOT NULL));


--
-- Name: job_common_i6; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE UNIQUE INDEX job_common_i6 ON pgboss.job_common USING btree (name, COALESCE(singleton_key, ''::text)) WHERE ((state <= 'active'::pgboss.job_state) AND (policy = 'exclusive'::text));


--
-- Name: job_common_i7; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX job_common_i7 ON pgboss.job_common USING btree (name, group_id) WHERE ((state = 'active'::pgboss.job_state) AND (group_id IS NOT NULL));


--
-- Name: job_common_i8; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE UNIQUE INDEX job_common_i8 ON pgboss.job_common USING btree (name, singleton_key) WHERE ((state = ANY (ARRAY['active'::pgboss.job_state, 'retry'::pgboss.job_state, 'failed'::pgboss.job_state])) AND (policy = 'key_strict_fifo'::text));


--
-- Name: job_common_i9; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX job_common_i9 ON pgboss.job_common USING btree (name, id) WHERE (blocking AND (state = 'completed'::pgboss.job_state));


--
-- Name: job_dep_parent_idx; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX job_dep_parent_idx ON pgboss.job_dependency USING btree (parent_name, parent_id);


--
-- Name: queue_stats_i1; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX queue_stats_i1 ON ONLY pgboss.queue_stats USING btree (name, captured_on DESC) INCLUDE (deferred_count, queued_count, ready_count, active_count, failed_count, total_count);


--
-- Name: queue_stats_20261124_name_captured_on_deferred_count_queued_idx; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX queue_stats_20261124_name_captured_on_deferred_count_queued_idx ON pgboss.queue_stats_20261124 USING btree (name, captured_on DESC) INCLUDE (deferred_count, queued_count, ready_count, active_count, failed_count, total_count);


--
-- Name: queue_stats_20261125_name_captured_on_deferred_count_queued_idx; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX queue_stats_20261125_name_captured_on_deferred_count_queued_idx ON pgboss.queue_stats_20261125 USING btree (name, captured_on DESC) INCLUDE (deferred_count, queued_count, ready_count, active_count, failed_count, total_count);


--
-- Name: warning_i1; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX warning_i1 ON pgboss.warning USING btree (created_on DESC);


--
-- Name: audit_entries_by_time; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_entries_by_time ON ONLY public.audit_entries USING btree (at);


--
-- Name: audit_entries_2026_11_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_entries_2026_11_at_idx ON public.audit_entries_2026_11 USING btree (at);


--
-- Name: audit_entries_by_client; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_entries_by_client ON ONLY public.audit_entries USING btree (client_id, at);


--
-- Name: audit_entries_2026_11_client_id_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_entries_2026_11_client_id_at_idx ON public.audit_entries_2026_11 USING btree (client_id, at);


--
-- Name: audit_entries_by_patient; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_entries_by_patient ON ONLY public.audit_entries USING gin (patient_hashes);


--
-- Name: audit_entries_2026_11_patient_hashes_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_entries_2026_11_patient_hashes_idx ON public.audit_entries_2026_11 USING gin (patient_hashes);


--
-- Name: audit_entries_2026_12_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_entries_2026_12_at_idx ON public.audit_entries_2026_12 USING btree (at);


--
-- Name: audit_entries_2026_12_client_id_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_entries_2026_12_client_id_at_idx ON public.audit_entries_2026_12 USING btree (client_id, at);


--
-- Name: audit_entries_2026_12_patient_hashes_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_entries_2026_12_patient_hashes_idx ON public.audit_entries_2026_12 USING gin (patient_hashes);


--
-- Name: audit_entries_2027_01_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_entries_2027_01_at_idx ON public.audit_entries_2027_01 USING btree (at);


--
-- Name: audit_entries_2027_01_client_id_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_entries_2027_01_client_id_at_idx ON public.audit_entries_2027_01 USING btree (client_id, at);


--
-- Name: audit_entries_2027_01_patient_hashes_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_entries_2027_01_patient_hashes_idx ON public.audit_entries_2027_01 USING gin (patient_hashes);


--
-- Name: audit_entries_default_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_entries_default_at_idx ON public.audit_entries_default USING btree (at);


--
-- Name: audit_entries_default_client_id_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_entries_default_client_id_at_idx ON public.audit_entries_default USING btree (client_id, at);


--
-- Name: audit_entries_default_patient_hashes_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_entries_default_patient_hashes_idx ON public.audit_entries_default USING gin (patient_hashes);


--
-- Name: confirmation_items_by_ehr_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX confirmation_items_by_ehr_id ON public.confirmation_items USING btree (emr, ehr_appointment_id);


--
-- Name: confirmation_items_of_a_confirmation; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX confirmation_items_of_a_confirmation ON public.confirmation_items USING btree (confirmation_id);


--
-- Name: confirmation_items_of_an_operation; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX confirmation_items_of_an_operation ON public.confirmation_items USING btree (operation_id) WHERE (state = 'confirming'::text);


--
-- Name: confirmation_items_open; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX confirmation_items_open ON public.confirmation_items USING btree (state) WHERE (state = ANY (ARRAY['pending'::text, 'confirming'::text, 'expiring'::text]));


--
-- Name: confirmation_items_to_expire; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX confirmation_items_to_expire ON public.confirmation_items USING btree (emr, confirmation_id) WHERE (state = ANY (ARRAY['pending'::text, 'expiring'::text]));


--
-- Name: confirmations_by_page; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX confirmations_by_page ON public.confirmations USING btree (page_token_hash) WHERE (page_token_hash IS NOT NULL);


--
-- Name: confirmations_by_time; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX confirmations_by_time ON public.confirmations USING btree (confirmed_at) WHERE (confirmed_at IS NOT NULL);


--
-- Name: confirmations_of_a_patient; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX confirmations_of_a_patient ON public.confirmations USING btree (patient_hash, created_at);


--
-- Name: confirmations_to_purge; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX confirmations_to_purge ON public.confirmations USING btree (expires_at) WHERE (purged_at IS NULL);


--
-- Name: confirmations_with_a_code; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX confirmations_with_a_code ON public.confirmations USING btree (confirmed_at) WHERE (code_hash IS NOT NULL);


--
-- Name: demo_mailbox_by_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX demo_mailbox_by_age ON public.demo_mailbox USING btree (sent_at);


--
-- Name: drafts_of_a_care_unit; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX drafts_of_a_care_unit ON public.confirmation_items USING btree (emr, care_unit_id, draft_start) WHERE (draft_start IS NOT NULL);


--
-- Name: events_by_position; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX events_by_position ON public.events USING btree ("position") WHERE ("position" IS NOT NULL);


--
-- Name: events_by_time; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX events_by_time ON public.events USING btree (occurred_at);


--
-- Name: events_of_a_subject; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX events_of_a_subject ON public.events USING btree (emr, subject, sequence);


--
-- Name: events_to_publish; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX events_to_publish ON public.events USING btree (sequence) WHERE ("position" IS NULL);


--
-- Name: failed_sign_ins_by_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX failed_sign_ins_by_age ON public.failed_sign_ins USING btree (last_failed_at);


--
-- Name: messages_by_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX messages_by_age ON public.messages USING btree (created_at);


--
-- Name: messages_by_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX messages_by_expiry ON public.messages USING btree (expires_at);


--
-- Name: messages_not_yet_delayed; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX messages_not_yet_delayed ON public.messages USING btree (created_at) WHERE ((state = 'queued'::text) AND (delayed_at IS NULL));


--
-- Name: messages_to_send_again; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX messages_to_send_again ON public.messages USING btree (expires_at) WHERE ((state = 'failed'::text) AND (sealed_content IS NOT NULL));


--
-- Name: messages_without_a_job; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX messages_without_a_job ON public.messages USING btree (id) WHERE needs_job;


--
-- Name: one_cancellation_at_a_time; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX one_cancellation_at_a_time ON public.confirmation_items USING btree (emr, ehr_appointment_id) WHERE ((kind = 'cancellation'::text) AND (state = ANY (ARRAY['pending'::text, 'confirming'::text])));


--
-- Name: one_queued_message; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX one_queued_message ON public.messages USING btree (confirmation_id) WHERE (state = 'queued'::text);


--
-- Name: operations_by_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX operations_by_age ON public.operations USING btree (created_at);


--
-- Name: operations_due; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX operations_due ON public.operations USING btree (emr, next_attempt_at) WHERE (next_attempt_at IS NOT NULL);


--
-- Name: operations_making_codes; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX operations_making_codes ON public.operations USING gin (patient_hashes) WHERE ((state = 'pending'::text) AND (patient_hashes <> '{}'::bytea[]));


--
-- Name: operations_suspended; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX operations_suspended ON public.operations USING btree (suspended_at) WHERE (suspended_at IS NOT NULL);


--
-- Name: operator_activity_by_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX operator_activity_by_age ON public.operator_activity USING btree (at);


--
-- Name: operator_activity_by_position; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX operator_activity_by_position ON public.operator_activity USING btree (chain_id, "position") WHERE (chain_id IS NOT NULL);


--
-- Name: operator_activity_not_linked; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX operator_activity_not_linked ON public.operator_activity USING btree (id) WHERE (chain_id IS NULL);


--
-- Name: operator_sessions_by_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX operator_sessions_by_expiry ON public.operator_sessions USING btree (expires_at);


--
-- Name: operator_sessions_by_name; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX operator_sessions_by_name ON public.operator_sessions USING btree (name);


--
-- Name: operator_sessions_by_operator; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX operator_sessions_by_operator ON public.operator_sessions USING btree (operator_id);


--
-- Name: operator_sessions_by_subject; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX operator_sessions_by_subject ON public.operator_sessions USING btree (subject_hash);


--
-- Name: uploads_by_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX uploads_by_age ON public.uploads USING btree (created_at);


--
-- Name: webhook_deliveries_by_time; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_deliveries_by_time ON public.webhook_deliveries USING btree (completed_at) WHERE (completed_at IS NOT NULL);


--
-- Name: webhook_deliveries_due; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (endpoint_id, next_attempt_at, event_position) WHERE (state = 'pending'::text);


--
-- Name: webhook_deliveries_in_order; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_deliveries_in_order ON public.webhook_deliveries USING btree (endpoint_id, subject, event_position) WHERE (state = 'pending'::text);


--
-- Name: webhook_deliveries_of_an_endpoint; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_deliveries_of_an_endpoint ON public.webhook_deliveries USING btree (endpoint_id, sequence);


--
-- Name: webhook_deliveries_of_an_event; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_deliveries_of_an_event ON public.webhook_deliveries USING btree (event_id);


--
-- Name: webhook_endpoints_of_a_client; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_endpoints_of_a_client ON public.webhook_endpoints USING btree (client_id, id);


--
-- Name: appointments_by_change; Type: INDEX; Schema: sandbox; Owner: -
--

CREATE INDEX appointments_by_change ON sandbox.appointments USING btree (emr, changed_by, id);


--
-- Name: appointments_held; Type: INDEX; Schema: sandbox; Owner: -
--

CREATE INDEX appointments_held ON sandbox.appointments USING btree (emr, resource_id, starts_at) WHERE (state = 'held'::text);


--
-- Name: appointments_of_a_care_unit; Type: INDEX; Schema: sandbox; Owner: -
--

CREATE INDEX appointments_of_a_care_unit ON sandbox.appointments USING btree (emr, care_unit_id, starts_at, id);


--
-- Name: appointments_of_a_patient; Type: INDEX; Schema: sandbox; Owner: -
--

CREATE INDEX appointments_of_a_patient ON sandbox.appointments USING btree (emr, patient_id, starts_at, id);


--
-- Name: appointments_of_a_resource; Type: INDEX; Schema: sandbox; Owner: -
--

CREATE INDEX appointments_of_a_resource ON sandbox.appointments USING btree (emr, resource_id, starts_at, id);


--
-- Name: documents_by_content; Type: INDEX; Schema: sandbox; Owner: -
--

CREATE INDEX documents_by_content ON sandbox.documents USING btree (emr, content_id);


--
-- Name: documents_of_a_patient; Type: INDEX; Schema: sandbox; Owner: -
--

CREATE INDEX documents_of_a_patient ON sandbox.documents USING btree (emr, care_unit_id, patient_id, created_at, id);


--
-- Name: medical_notes_of_a_patient; Type: INDEX; Schema: sandbox; Owner: -
--

CREATE INDEX medical_notes_of_a_patient ON sandbox.medical_notes USING btree (emr, patient_id, care_unit_id, created_at, id);


--
-- Name: schedules_of_a_resource; Type: INDEX; Schema: sandbox; Owner: -
--

CREATE INDEX schedules_of_a_resource ON sandbox.schedules USING btree (emr, care_unit_id, resource_id);


--
-- Name: writes_of_a_schedule; Type: INDEX; Schema: sandbox; Owner: -
--

CREATE INDEX writes_of_a_schedule ON sandbox.schedule_writes USING btree (emr, schedule_id);


--
-- Name: job_common_pkey; Type: INDEX ATTACH; Schema: pgboss; Owner: -
--

ALTER INDEX pgboss.job_pkey ATTACH PARTITION pgboss.job_common_pkey;


--
-- Name: queue_stats_20261124_name_captured_on_deferred_count_queued_idx; Type: INDEX ATTACH; Schema: pgboss; Owner: -
--

ALTER INDEX pgboss.queue_stats_i1 ATTACH PARTITION pgboss.queue_stats_20261124_name_captured_on_deferred_count_queued_idx;


--
-- Name: queue_stats_20261124_pkey; Type: INDEX ATTACH; Schema: pgboss; Owner: -
--

ALTER INDEX pgboss.queue_stats_pkey ATTACH PARTITION pgboss.queue_stats_20261124_pkey;


--
-- Name: queue_stats_20261125_name_captured_on_deferred_count_queued_idx; Type: INDEX ATTACH; Schema: pgboss; Owner: -
--

ALTER INDEX pgboss.queue_stats_i1 ATTACH PARTITION pgboss.queue_stats_20261125_name_captured_on_deferred_count_queued_idx;


--
-- Name: queue_stats_20261125_pkey; Type: INDEX ATTACH; Schema: pgboss; Owner: -
--

ALTER INDEX pgboss.queue_stats_pkey ATTACH PARTITION pgboss.queue_stats_20261125_pkey;


--
-- Name: audit_entries_2026_11_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.audit_entries_by_time ATTACH PARTITION public.audit_entries_2026_11_at_idx;


--
-- Name: audit_entries_2026_11_client_id_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.audit_entries_by_client ATTACH PARTITION public.audit_entries_2026_11_client_id_at_idx;


--
-- Name: audit_entries_2026_11_patient_hashes_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.audit_entries_by_patient ATTACH PARTITION public.audit_entries_2026_11_patient_hashes_idx;


--
-- Name: audit_entries_2026_11_pkey; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.audit_entries_pkey ATTACH PARTITION public.audit_entries_2026_11_pkey;


--
-- Name: audit_entries_2026_12_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.audit_entries_by_time ATTACH PARTITION public.audit_entries_2026_12_at_idx;


--
-- Name: audit_entries_2026_12_client_id_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.audit_entries_by_client ATTACH PARTITION public.audit_entries_2026_12_client_id_at_idx;


--
-- Name: audit_entries_2026_12_patient_hashes_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.audit_entries_by_patient ATTACH PARTITION public.audit_entries_2026_12_patient_hashes_idx;


--
-- Name: audit_entries_2026_12_pkey; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.audit_entries_pkey ATTACH PARTITION public.audit_entries_2026_12_pkey;


--
-- Name: audit_entries_2027_01_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.audit_entries_by_time ATTACH PARTITION public.audit_entries_2027_01_at_idx;


--
-- Name: audit_entries_2027_01_client_id_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.audit_entries_by_client ATTACH PARTITION public.audit_entries_2027_01_client_id_at_idx;


--
-- Name: audit_entries_2027_01_patient_hashes_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.audit_entries_by_patient ATTACH PARTITION public.audit_entries_2027_01_patient_hashes_idx;


--
-- Name: audit_entries_2027_01_pkey; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.audit_entries_pkey ATTACH PARTITION public.audit_entries_2027_01_pkey;


--
-- Name: audit_entries_default_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.audit_entries_by_time ATTACH PARTITION public.audit_entries_default_at_idx;


--
-- Name: audit_entries_default_client_id_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.audit_entries_by_client ATTACH PARTITION public.audit_entries_default_client_id_at_idx;


--
-- Name: audit_entries_default_patient_hashes_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.audit_entries_by_patient ATTACH PARTITION public.audit_entries_default_patient_hashes_idx;


--
-- Name: audit_entries_default_pkey; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.audit_entries_pkey ATTACH PARTITION public.audit_entries_default_pkey;


--
-- Name: operator_activity activity_is_not_truncated; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER activity_is_not_truncated BEFORE TRUNCATE ON public.operator_activity FOR EACH STATEMENT EXECUTE FUNCTION public.reject_audit_change();


--
-- Name: audit_entries audit_entries_are_append_only; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER audit_entries_are_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_entries FOR EACH STATEMENT EXECUTE FUNCTION public.reject_audit_change();


--
-- Name: audit_entries_2026_11 audit_entries_are_append_only; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER audit_entries_are_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_entries_2026_11 FOR EACH STATEMENT EXECUTE FUNCTION public.reject_audit_change();


--
-- Name: audit_entries_2026_12 audit_entries_are_append_only; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER audit_entries_are_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_entries_2026_12 FOR EACH STATEMENT EXECUTE FUNCTION public.reject_audit_change();


--
-- Name: audit_entries_2027_01 audit_entries_are_append_only; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER audit_entries_are_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_entries_2027_01 FOR EACH STATEMENT EXECUTE FUNCTION public.reject_audit_change();


--
-- Name: audit_entries_default audit_entries_are_append_only; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER audit_entries_are_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_entries_default FOR EACH STATEMENT EXECUTE FUNCTION public.reject_audit_change();


--
-- Name: operator_activity linked_activity_is_append_only; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER linked_activity_is_append_only BEFORE DELETE OR UPDATE ON public.operator_activity FOR EACH ROW WHEN ((old.chain_id IS NOT NULL)) EXECUTE FUNCTION public.reject_audit_change();


--
-- Name: schedule_writes count_change; Type: TRIGGER; Schema: sandbox; Owner: -
--

CREATE TRIGGER count_change AFTER INSERT OR DELETE OR UPDATE ON sandbox.schedule_writes FOR EACH ROW EXECUTE FUNCTION sandbox.count_schedule_change();


--
-- Name: schedules count_change; Type: TRIGGER; Schema: sandbox; Owner: -
--

CREATE TRIGGER count_change AFTER INSERT OR DELETE OR UPDATE ON sandbox.schedules FOR EACH ROW EXECUTE FUNCTION sandbox.count_schedule_change();


--
-- Name: appointments note_change; Type: TRIGGER; Schema: sandbox; Owner: -
--

CREATE TRIGGER note_change BEFORE UPDATE ON sandbox.appointments FOR EACH ROW EXECUTE FUNCTION sandbox.note_appointment_change();


--
-- Name: job_common dlq_fkey; Type: FK CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.job_common
    ADD CONSTRAINT dlq_fkey FOREIGN KEY (dead_letter) REFERENCES pgboss.queue(name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED;


--
-- Name: job_common q_fkey; Type: FK CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.job_common
    ADD CONSTRAINT q_fkey FOREIGN KEY (name) REFERENCES pgboss.queue(name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED;


--
-- Name: queue queue_dead_letter_fkey; Type: FK CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.queue
    ADD CONSTRAINT queue_dead_letter_fkey FOREIGN KEY (dead_letter) REFERENCES pgboss.queue(name);


--
-- Name: schedule schedule_name_fkey; Type: FK CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.schedule
    ADD CONSTRAINT schedule_name_fkey FOREIGN KEY (name) REFERENCES pgboss.queue(name) ON DELETE CASCADE;


--
-- Name: subscription subscription_name_fkey; Type: FK CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.subscription
    ADD CONSTRAINT subscription_name_fkey FOREIGN KEY (name) REFERENCES pgboss.queue(name) ON DELETE CASCADE;


--
-- Name: confirmation_items confirmation_items_confirmation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.confirmation_items
    ADD CONSTRAINT confirmation_items_confirmation_id_fkey FOREIGN KEY (confirmation_id) REFERENCES public.confirmations(id);


--
-- Name: operator_sessions operator_sessions_operator_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.operator_sessions
    ADD CONSTRAINT operator_sessions_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES public.operators(id) ON DELETE CASCADE;


--
-- Name: upload_chunks upload_chunks_upload_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.upload_chunks
    ADD CONSTRAINT upload_chunks_upload_id_fkey FOREIGN KEY (upload_id) REFERENCES public.uploads(id) ON DELETE CASCADE;


--
-- Name: webhook_deliveries webhook_deliveries_endpoint_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES public.webhook_endpoints(id) ON DELETE CASCADE;


--
-- Name: webhook_deliveries webhook_deliveries_event_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_event_id_fkey FOREIGN KEY (event_id) REFERENCES public.events(id) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--


