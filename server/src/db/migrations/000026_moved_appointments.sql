-- Appointments of EHRs that cannot move one: each was booked anew for a former one, which was cancelled.
CREATE TABLE moved_appointments (
  emr text NOT NULL,
  -- The EHR's ids of the new appointment and of the former one.
  appointment_id text NOT NULL,
  former_id text NOT NULL,
  -- The id by which callers know the former one.
  supersedes_id text NOT NULL,
  PRIMARY KEY (emr, appointment_id),
  -- Of two moves of one appointment at the same time, one succeeds.
  UNIQUE (emr, former_id)
);
