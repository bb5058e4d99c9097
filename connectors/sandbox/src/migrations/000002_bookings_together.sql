-- Makes bookings, each of them a write of one new appointment, in one statement: all, or if anything stands in the way of one,
-- none. Then it fails, and write_appointments makes each alone: it knows writes that were made before, and expired holds.
CREATE FUNCTION sandbox.book_together(
  for_emr text,
  -- Objects with the columns of an appointment, and `operation_id`.
  bookings json,
  -- As for write_appointments.
  shared_locks text[],
  exclusive_locks text[],
  -- The versions of the schedules that the caller checked the times against.
  read_schedule_versions bigint[],
  earliest_start timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
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
