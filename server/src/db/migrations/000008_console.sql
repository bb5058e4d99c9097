-- The console: operators, their sessions and what they did. Contains no data of patients.

-- Accounts of the gateway itself. Operators who sign in with OpenID Connect have none.
CREATE TABLE operators (
  id uuid PRIMARY KEY,
  -- In lower case.
  name text NOT NULL UNIQUE,
  role text NOT NULL CHECK (role IN ('view', 'operate', 'admin')),
  -- Argon2id, in the PHC string format.
  password_hash text NOT NULL,
  -- The secret of the one-time codes (AES-256-GCM). Null: the account of the demo, which has none.
  sealed_totp_secret bytea,
  -- The time step of the last one-time code. It and earlier ones are not accepted again.
  last_totp_step bigint,
  last_sign_in_at timestamptz,
  disabled_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE operator_sessions (
  -- SHA-256 of the token in the browser's cookie.
  token_hash bytea PRIMARY KEY,
  -- Null: signed in with OpenID Connect.
  operator_id uuid REFERENCES operators (id) ON DELETE CASCADE,
  -- SHA-256 of issuer and subject, because the name of an operator can change at the provider. Null: an account.
  subject_hash bytea,
  name text NOT NULL,
  -- The role at the sign-in. That of an account is read anew with each request.
  role text NOT NULL CHECK (role IN ('view', 'operate', 'admin')),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_used_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX operator_sessions_by_expiry ON operator_sessions (expires_at);
CREATE INDEX operator_sessions_by_operator ON operator_sessions (operator_id);
CREATE INDEX operator_sessions_by_subject ON operator_sessions (subject_hash);
CREATE INDEX operator_sessions_by_name ON operator_sessions (name);

-- Sign-ins that failed, by account and by address.
CREATE TABLE failed_sign_ins (
  -- Keyed hash (HMAC-SHA-256): people type passwords into the wrong field.
  key_hash bytea PRIMARY KEY,
  failures integer NOT NULL,
  paused_until timestamptz NOT NULL,
  last_failed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX failed_sign_ins_by_age ON failed_sign_ins (last_failed_at);

CREATE TABLE operator_activity (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  operator_name text NOT NULL,
  action text NOT NULL,
  -- The id of an operation, a message, an EHR or an account.
  target text,
  outcome text NOT NULL
);
CREATE INDEX operator_activity_by_age ON operator_activity (at);
