-- Uploads: content of requests, stored here while it arrives, until the EHR has it. Encrypted (AES-256-GCM) chunk by chunk,
-- so that no process holds more than one chunk in memory.

CREATE TABLE uploads (
  id uuid PRIMARY KEY,
  -- The operation whose plan refers to it. Null: its request has not started one yet.
  operation_id uuid,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX uploads_by_age ON uploads (created_at);

CREATE TABLE upload_chunks (
  upload_id uuid NOT NULL REFERENCES uploads (id) ON DELETE CASCADE,
  -- 0, 1, 2, …
  position integer NOT NULL,
  sealed_content bytea NOT NULL,
  PRIMARY KEY (upload_id, position)
);
-- Encrypted content cannot be compressed.
ALTER TABLE upload_chunks ALTER COLUMN sealed_content SET STORAGE EXTERNAL;
