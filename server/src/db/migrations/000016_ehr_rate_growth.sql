-- The part by which the next step raises the rate of an EHR. It doubles with each step.
ALTER TABLE ehr_rates ADD COLUMN growth double precision NOT NULL DEFAULT 0.025 CHECK (growth > 0);
