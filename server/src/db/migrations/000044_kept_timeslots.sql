-- Free time slots as the EHRs showed them, for searches over many care units. Names no patient. Not logged: after a crash the
-- EHRs are asked again.
CREATE UNLOGGED TABLE kept_timeslots (
  emr text NOT NULL,
  care_unit_id text NOT NULL,
  -- Empty: every healthcare service.
  healthcare_service_id text NOT NULL,
  -- Of the care unit's time zone.
  day date NOT NULL,
  -- Just before the EHR was asked.
  asked_at timestamptz NOT NULL,
  slots json NOT NULL,
  PRIMARY KEY (emr, care_unit_id, healthcare_service_id, day)
);
CREATE INDEX kept_timeslots_by_age ON kept_timeslots (asked_at);
-- When a schedule of a care unit was last changed through the gateway: what was kept before is not shown any more. Changes of
-- appointments are told by their events.
CREATE UNLOGGED TABLE timeslot_changes (
  emr text NOT NULL,
  care_unit_id text NOT NULL,
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (emr, care_unit_id)
);
CREATE INDEX events_of_a_care_unit ON events (emr, care_unit_id, occurred_at) WHERE care_unit_id IS NOT NULL;
