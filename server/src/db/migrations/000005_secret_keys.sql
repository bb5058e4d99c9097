-- The secret keys that this database has been used with. A start with an unknown key is rejected: it could not open
-- encrypted data, would reject valid codes, and would run requests with known idempotency keys again.
CREATE TABLE secret_keys (
  -- The prefix of encrypted data, in hexadecimal. It identifies the key and reveals nothing about it.
  id text PRIMARY KEY,
  -- HMAC-SHA-256 under a key derived for this purpose alone.
  check_value bytea NOT NULL,
  first_used_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- When a newer key replaced it. Null: the key that encrypts.
  replaced_at timestamptz,
  -- When an operator gave up the data that is still encrypted with it.
  retired_at timestamptz
);
