-- Codes come from the gateway alone, so nothing refers to a code of an EHR.
ALTER TABLE confirmations DROP COLUMN ehr_reference;
