-- Patients whom callers have created. Those that the sandbox begins with are in its code.
CREATE TABLE sandbox.patients (
  emr text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  identifier_type text NOT NULL,
  identifier_value text COLLATE "C" NOT NULL,
  given_name text NOT NULL,
  family_name text NOT NULL,
  birth_date text NOT NULL,
  gender text,
  phone text,
  email text,
  address json,
  operation_id uuid NOT NULL,
  PRIMARY KEY (emr, id),
  UNIQUE (emr, identifier_type, identifier_value)
);
CREATE INDEX patients_by_birth_date ON sandbox.patients (emr, birth_date);
CREATE INDEX patients_by_phone ON sandbox.patients (emr, phone);
