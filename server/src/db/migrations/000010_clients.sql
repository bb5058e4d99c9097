-- Clients that operators manage in the console and on the command line. Those of the configuration file are not here.
CREATE TABLE clients (
  id text PRIMARY KEY,
  name text NOT NULL,
  scopes text[] NOT NULL,
  -- [{"emr": "…", "care_units": ["…"]}]. Without care_units: all care units of the EHR.
  grants jsonb NOT NULL,
  return_urls text[] NOT NULL,
  -- Grows with each change. A form that was made for an older version changes nothing.
  version integer NOT NULL DEFAULT 1,
  -- SHA-256 of the secret, which has 256 random bits. The secret itself is not stored.
  secret_hash bytea,
  secret_created_at timestamptz DEFAULT now(),
  -- The secret before the last rotation, during the overlap.
  previous_secret_hash bytea,
  previous_secret_created_at timestamptz,
  previous_secret_expires_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- The row of a revoked client stays, so that its id is not used again: operations and confirmations belong to it.
  revoked_at timestamptz,
  CHECK ((revoked_at IS NULL) = (secret_hash IS NOT NULL)),
  CHECK ((previous_secret_hash IS NULL) = (previous_secret_expires_at IS NULL)),
  CHECK (revoked_at IS NULL OR previous_secret_hash IS NULL)
);

-- Changes with each change of a client, so that gateways know when to read them again. One row, or none before the first.
CREATE TABLE clients_revision (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  revision uuid NOT NULL
);
