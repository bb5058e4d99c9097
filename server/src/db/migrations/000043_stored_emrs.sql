-- EHRs that operators manage, beside those of the configuration files.
CREATE TABLE stored_emrs (
  id text PRIMARY KEY,
  -- As in the configuration file, in the order of its keys. A secret is { "env": NAME }.
  definition json NOT NULL,
  -- Whether gateways connect to it. Otherwise it is a draft, which nobody calls.
  is_open boolean NOT NULL,
  -- The secrets by their names. It opens only with the rest of the row as a gateway has written it.
  sealed_secrets bytea NOT NULL,
  version uuid NOT NULL DEFAULT gen_random_uuid(),
  created_at timestamptz NOT NULL DEFAULT now(),
  changed_at timestamptz NOT NULL DEFAULT now()
);

-- Changes with each of them. A failover to a standby that lacks the last commits would set a counter back.
CREATE TABLE stored_emrs_revision (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  revision uuid NOT NULL
);
