-- An appointment that the EHR has no more is answered from its events. They name no patient in plain text.
ALTER TABLE events
  -- The patient's id and the comment, encrypted (AES-256-GCM). Null: not an event of an appointment, or erased.
  ADD COLUMN sealed_appointment bytea;
