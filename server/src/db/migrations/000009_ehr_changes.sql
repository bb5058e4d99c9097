-- Changes that are made directly in an EHR, read from the EHR by one gateway at a time.
CREATE TABLE ehr_change_feeds (
  emr text PRIMARY KEY,
  -- Where the EHR continues. Null: nothing has been read.
  cursor text,
  -- Which connector has read: another one cannot continue.
  connector text,
  -- Of the process that reads.
  lease_token uuid,
  -- While a process reads: when another one may.
  next_read_at timestamptz NOT NULL DEFAULT now(),
  -- Every change that was made before this time has been read.
  caught_up_at timestamptz NOT NULL DEFAULT now()
);

-- Appointments that have changed and may need an event, as they were when they were read. Ids, times and statuses only.
CREATE TABLE ehr_changes (
  emr text NOT NULL,
  -- The EHR's id.
  appointment_id text NOT NULL,
  care_unit_id text NOT NULL,
  state text NOT NULL,
  starts_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,
  resource_id text NOT NULL,
  healthcare_service_id text NOT NULL,
  -- It was booked since the earlier reading.
  is_new boolean NOT NULL,
  -- Before it was read.
  read_at timestamptz NOT NULL,
  -- After it was read. An operation that was unfinished then may have made the change, and writes the event.
  stored_at timestamptz NOT NULL,
  -- An event was written after it was read.
  is_stale boolean NOT NULL DEFAULT false,
  PRIMARY KEY (emr, appointment_id)
);
