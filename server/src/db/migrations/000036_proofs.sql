-- Rows that open something to whoever knows a secret. A keyed hash of what the row grants, without which it opens nothing, so that
-- nobody gets in who can write to the database and does not have the secret key. It begins with the id of its key. The gateway that
-- applies this migration proves the rows that exist, in this transaction and at no other time.
LOCK TABLE clients, operator_sessions, operator_sign_in_links, operators IN ACCESS EXCLUSIVE MODE;
ALTER TABLE clients ADD COLUMN sealed_proof bytea;
ALTER TABLE operator_sessions ADD COLUMN sealed_proof bytea;
ALTER TABLE operator_sign_in_links ADD COLUMN sealed_proof bytea;
ALTER TABLE operators ADD COLUMN sealed_proof bytea;
