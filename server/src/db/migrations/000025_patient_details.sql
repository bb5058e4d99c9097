-- Name, phone number and e-mail address of a patient whom the EHR cannot look up, encrypted. Until the code is confirmed or
-- has expired.
ALTER TABLE confirmation_items ADD COLUMN sealed_patient_details bytea;
