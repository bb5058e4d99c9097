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

-- Completed writes by operation id, so that a retry changes nothing.
CREATE TABLE sandbox.operations (
  emr text COLLATE "C" NOT NULL,
  operation_id uuid NOT NULL,
  appointment_ids text[] NOT NULL,
  completed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (emr, operation_id)
);

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
