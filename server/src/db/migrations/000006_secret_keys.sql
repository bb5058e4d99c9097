-- Which secret keys this database has been used with. A start with another one is refused: it could open nothing, would
-- take right codes for wrong ones, and would run kept idempotency keys again.
CREATE TABLE secret_keys (
  -- What sealed text begins with, in hexadecimal. It says which key it is and nothing about the key.
  id text PRIMARY KEY,
  -- HMAC-SHA-256 under a key derived for this purpose alone.
  check_value bytea NOT NULL,
  first_used_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- When a start made another key the newest. Null: the key that seals.
  replaced_at timestamptz,
  -- When an operator gave up what is left under it.
  retired_at timestamptz
);
