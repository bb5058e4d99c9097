-- Binds a webhook endpoint to its client, as the rows of 000036 are bound: whoever can write to the database and lacks the secret
-- key cannot give an endpoint the events of another client. The gateway that applies this migration proves the rows that exist.
ALTER TABLE webhook_endpoints ADD COLUMN sealed_proof bytea;
