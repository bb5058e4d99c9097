-- Clients can have public keys, with which they sign assertions for access tokens, and then need no secret.
ALTER TABLE clients
  -- The keys as a JWK Set, or the URL of them. Public keys only.
  ADD COLUMN jwks jsonb,
  ADD COLUMN jwks_uri text,
  ADD CHECK (jwks IS NULL OR jwks_uri IS NULL),
  DROP CONSTRAINT clients_check,
  ADD CONSTRAINT clients_credentials CHECK (
    CASE WHEN revoked_at IS NULL THEN coalesce(secret_hash IS NOT NULL OR jwks IS NOT NULL OR jwks_uri IS NOT NULL, false)
      ELSE secret_hash IS NULL END
  );

-- Assertions that were used, so that none is used twice (SMART App Launch 2.2). Rows are deleted when the assertion has expired.
CREATE TABLE used_assertions (
  client_id text NOT NULL,
  -- SHA-256 of the `jti`, which is text of the client.
  jti_hash bytea NOT NULL,
  -- The request that used it, so that a statement whose answer was lost can be sent again.
  request_id uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (client_id, jti_hash)
);
CREATE INDEX used_assertions_by_expiry ON used_assertions (expires_at);
