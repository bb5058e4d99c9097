-- Several care units can show an appointment, and a change by staff can take it out of all of them.
ALTER TABLE ehr_changes
  -- The appointment as each care unit shows it, a JSON object for each: ids, times and states only. Empty: none shows it.
  ADD COLUMN views jsonb,
  -- Read again in every care unit that has events of it. Before, none is told that the appointment has gone.
  ADD COLUMN is_checked boolean NOT NULL DEFAULT false;
UPDATE ehr_changes SET views = jsonb_build_array(jsonb_build_object(
  'care_unit_id', care_unit_id, 'state', state, 'start', starts_at, 'end', ends_at, 'resource_id', resource_id,
  'healthcare_service_id', healthcare_service_id));
ALTER TABLE ehr_changes
  ALTER COLUMN views SET NOT NULL,
  DROP COLUMN care_unit_id, DROP COLUMN state, DROP COLUMN starts_at, DROP COLUMN ends_at, DROP COLUMN resource_id,
  DROP COLUMN healthcare_service_id;
