-- A rotation ends no secret before its own end, also if another rotation follows. So several previous secrets can be valid.

-- Those before `sealed_previous_secret`, the newest first, encrypted: [{"secret": "…", "expires_at": "…"}]. Null: none.
ALTER TABLE webhook_endpoints ADD COLUMN sealed_earlier_secrets bytea;

-- Those before `previous_secret_hash`, the newest first: [{"hash": "…", "created_at": "…", "expires_at": "…"}], with the hash in
-- hexadecimal. They count only beside a previous secret: a gateway of the previous release that ends all others removes that one.
ALTER TABLE clients ADD COLUMN earlier_secrets jsonb NOT NULL DEFAULT '[]';
