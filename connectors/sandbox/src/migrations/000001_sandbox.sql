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
