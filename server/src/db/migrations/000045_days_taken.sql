LOCK TABLE kept_timeslots, operations IN ACCESS EXCLUSIVE MODE;
-- `source`: keyed hash of what the connection to the EHR is made of. Slots that another server has shown, or in another time zone,
-- are not used. `last_day`: on which the last of them ends. Null: kept by an earlier version, and not used.
ALTER TABLE kept_timeslots ADD COLUMN source text, ADD COLUMN last_day date;
-- The local days on which the write may take time in the EHR. Null: none, or stored by an earlier version.
ALTER TABLE operations ADD COLUMN takes_from date, ADD COLUMN takes_until date;
CREATE INDEX operations_that_take_time ON operations (emr, care_unit_id)
  WHERE takes_from IS NOT NULL AND sealed_plan IS NOT NULL;
