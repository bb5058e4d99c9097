-- Limits that all processes share. Unlogged: after a crash of the database the counts begin again.

-- The requests of a client in a minute. Processes take them in batches, so that there is no statement for a request.
CREATE UNLOGGED TABLE client_requests (
  client_id text PRIMARY KEY,
  -- Minutes since 1970, by the clock of the database.
  minute bigint NOT NULL,
  -- Requests that processes have taken in that minute.
  taken integer NOT NULL,
  -- The last batch.
  batch integer NOT NULL
);

-- Incorrect credentials, by address and by client id.
CREATE UNLOGGED TABLE failed_credentials (
  -- Keyed hash (HMAC-SHA-256): people type passwords into the wrong field.
  key_hash bytea PRIMARY KEY,
  failures integer NOT NULL,
  -- How many of the last failures were counted. Those during a pause are not.
  counted integer NOT NULL,
  paused_until timestamptz NOT NULL,
  failed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX failed_credentials_by_age ON failed_credentials (failed_at);
