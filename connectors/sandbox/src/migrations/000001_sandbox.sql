-- All sandbox connections share these tables; `emr` is the id of the connection.
-- COLLATE "C" orders ids by code unit, as the port requires for lists.

CREATE SCHEMA sandbox;

-- Patients, resources and services never change. They are synthetic and defined in code.
CREATE TABLE sandbox.schedules (
  emr text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  care_unit_id text COLLATE "C" NOT NULL,
  resource_id text COLLATE "C" NOT NULL,
  healthcare_service_ids text[] NOT NULL,
  -- Local times of the care unit. `recurrence` is an RFC 5545 RRULE value without the prefix, in local time.
  local_start text NOT NULL,
  local_end text NOT NULL,
  slot_minutes integer NOT NULL CHECK (slot_minutes > 0),
  recurrence text,
  PRIMARY KEY (emr, id)
);
CREATE INDEX schedules_of_a_resource ON sandbox.schedules (emr, care_unit_id, resource_id);

-- Completed writes to schedules by operation id. The end of a schedule and its exceptions are stored here alone.
CREATE TABLE sandbox.schedule_writes (
  emr text COLLATE "C" NOT NULL,
  operation_id uuid NOT NULL,
  schedule_id text COLLATE "C" NOT NULL,
  -- `none`: withdrawn before it was done, so that it is not done any more.
  kind text NOT NULL CHECK (kind IN ('create', 'end', 'exception', 'none')),
  -- `end`: no occurrence starts at or after `ends_at`. `exception`: the period without slots.
  starts_at timestamptz,
  ends_at timestamptz,
  withdrawn boolean NOT NULL DEFAULT false,
  PRIMARY KEY (emr, operation_id)
);
CREATE INDEX writes_of_a_schedule ON sandbox.schedule_writes (emr, schedule_id);

-- Counts the changes to schedules, so that a process can keep schedules in memory and a booking can tell whether they are
-- still the same.
CREATE TABLE sandbox.schedule_versions (
  emr text COLLATE "C" PRIMARY KEY,
  version bigint NOT NULL
);

CREATE FUNCTION sandbox.count_schedule_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sandbox.schedule_versions AS current (emr, version) VALUES (coalesce(NEW.emr, OLD.emr), 1)
  ON CONFLICT (emr) DO UPDATE SET version = current.version + 1;
  RETURN NULL;
END $$;

CREATE TRIGGER count_change AFTER INSERT OR UPDATE OR DELETE ON sandbox.schedules
  FOR EACH ROW EXECUTE FUNCTION sandbox.count_schedule_change();
CREATE TRIGGER count_change AFTER INSERT OR UPDATE OR DELETE ON sandbox.schedule_writes
  FOR EACH ROW EXECUTE FUNCTION sandbox.count_schedule_change();

CREATE TABLE sandbox.appointments (
  emr text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  care_unit_id text COLLATE "C" NOT NULL,
  patient_id text COLLATE "C" NOT NULL,
  resource_id text COLLATE "C" NOT NULL,
  healthcare_service_id text COLLATE "C" NOT NULL,
  starts_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,
  state text NOT NULL CHECK (state IN ('booked', 'held', 'pending', 'cancelled')),
  held_until timestamptz,
  comment text,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- The transaction that last changed it, and when.
  changed_by xid8 NOT NULL DEFAULT pg_current_xact_id(),
  changed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (emr, id),
  CONSTRAINT appointments_hold_has_an_end CHECK ((state = 'held') = (held_until IS NOT NULL)),
  -- The maximum length lets a search by range skip older appointments in the index.
  CONSTRAINT appointments_length CHECK (ends_at > starts_at AND ends_at <= starts_at + interval '24 hours'),
  -- Deferrable, so that one statement can move several appointments into each other's times.
  CONSTRAINT appointments_no_overlap EXCLUDE USING gist (
    emr WITH =,
    resource_id WITH =,
    tstzrange(starts_at, ends_at) WITH &&
  ) WHERE (state <> 'cancelled') DEFERRABLE INITIALLY IMMEDIATE
);
CREATE INDEX appointments_of_a_care_unit ON sandbox.appointments (emr, care_unit_id, starts_at, id);
CREATE INDEX appointments_of_a_resource ON sandbox.appointments (emr, resource_id, starts_at, id);
CREATE INDEX appointments_of_a_patient ON sandbox.appointments (emr, patient_id, starts_at, id);
CREATE INDEX appointments_by_change ON sandbox.appointments (emr, changed_by, id);
CREATE INDEX appointments_held ON sandbox.appointments (emr, resource_id, starts_at) WHERE state = 'held';

CREATE FUNCTION sandbox.note_appointment_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.changed_by := pg_current_xact_id();
  NEW.changed_at := now();
  RETURN NEW;
END $$;

CREATE TRIGGER note_change BEFORE UPDATE ON sandbox.appointments
  FOR EACH ROW EXECUTE FUNCTION sandbox.note_appointment_change();

-- Completed writes by operation id, so that a retry changes nothing.
CREATE TABLE sandbox.operations (
  emr text COLLATE "C" NOT NULL,
  operation_id uuid NOT NULL,
  appointment_ids text[] NOT NULL,
  completed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (emr, operation_id)
);

-- An appointment as a write leaves it.
CREATE TYPE sandbox.written_appointment AS (
  id text,
  -- The `xmin` of the row that the caller read, which every change of a row replaces. Null for a new row.
  read_version text,
  -- Its time must be free.
  takes_time boolean,
  care_unit_id text,
  patient_id text,
  resource_id text,
  healthcare_service_id text,
  starts_at timestamptz,
  ends_at timestamptz,
  state text,
  held_until timestamptz,
  comment text
);

-- Makes all changes of a write or none, in one round trip. Returns false if the write was done before. Fails with
-- `serialization_failure` if what the caller read has changed since, and with `exclusion_violation` if a time is not free.
CREATE FUNCTION sandbox.write_appointments(
  for_emr text,
  for_operation_id uuid,
  -- In the order of the changes.
  written_ids text[],
  -- `written_appointment` records.
  written_rows json,
  -- Names of locks, which resource-locks.ts explains.
  shared_locks text[],
  exclusive_locks text[],
  -- The schedules that the caller checked the times against. Null: no time was checked.
  read_schedule_version bigint,
  -- The earliest of the times that must not have begun.
  earliest_start timestamptz
) RETURNS boolean LANGUAGE plpgsql AS $$
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

CREATE TABLE sandbox.medical_notes (
  emr text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  care_unit_id text COLLATE "C" NOT NULL,
  patient_id text COLLATE "C" NOT NULL,
  author_id text,
  title text,
  text text NOT NULL,
  appointment_id text,
  -- In milliseconds, like the dates of the port.
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  is_entered_in_error boolean NOT NULL DEFAULT false,
  operation_id uuid NOT NULL,
  -- Hash of the content at creation, to tell whether somebody has changed the note since.
  created_hash text NOT NULL,
  PRIMARY KEY (emr, id),
  UNIQUE (emr, operation_id)
);
CREATE INDEX medical_notes_of_a_patient ON sandbox.medical_notes (emr, patient_id, care_unit_id, created_at, id);

CREATE TABLE sandbox.documents (
  emr text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  care_unit_id text COLLATE "C" NOT NULL,
  patient_id text COLLATE "C" NOT NULL,
  author_id text COLLATE "C",
  title text,
  content_type text NOT NULL,
  -- Bytes.
  size integer NOT NULL,
  content_id uuid NOT NULL,
  operation_id uuid NOT NULL,
  -- As precise as the dates of the port.
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  -- When somebody changed it after its write. Null: never.
  changed_at timestamptz,
  is_entered_in_error boolean NOT NULL DEFAULT false,
  PRIMARY KEY (emr, id),
  UNIQUE (emr, operation_id)
);
CREATE INDEX documents_of_a_patient ON sandbox.documents (emr, care_unit_id, patient_id, created_at, id);

-- The content of documents, in parts that fit into memory.
CREATE TABLE sandbox.document_chunks (
  emr text COLLATE "C" NOT NULL,
  content_id uuid NOT NULL,
  -- 0, 1, 2, …
  position integer NOT NULL,
  content bytea NOT NULL,
  PRIMARY KEY (emr, content_id, position)
);
CREATE INDEX documents_by_content ON sandbox.documents (emr, content_id);
