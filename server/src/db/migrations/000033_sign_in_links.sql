-- Links with which an operator signs in once without a password. Deleted when they are used.
CREATE TABLE operator_sign_in_links (
  -- SHA-256 of the token in the link, which has 256 random bits.
  token_hash bytea PRIMARY KEY,
  operator_id uuid NOT NULL REFERENCES operators (id) ON DELETE CASCADE,
  expires_at timestamptz NOT NULL
);
CREATE INDEX operator_sign_in_links_by_expiry ON operator_sign_in_links (expires_at);
CREATE INDEX operator_sign_in_links_by_operator ON operator_sign_in_links (operator_id);
