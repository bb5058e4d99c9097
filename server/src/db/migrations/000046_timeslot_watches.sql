-- Whose event it is. Null: of every client that is granted its care unit.
ALTER TABLE events ADD COLUMN client_id text;
-- Searches for free time slots that the gateway repeats until it finds one that was not there before.
CREATE TABLE timeslot_watches (
  id uuid PRIMARY KEY,
  client_id text NOT NULL,
  -- The search, and the client's reference.
  sealed_search bytea NOT NULL,
  ends_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  next_look_at timestamptz NOT NULL DEFAULT now(),
  -- Counted when a look begins. Who ends a look names its number, so that one that was overtaken stores nothing.
  looks integer NOT NULL DEFAULT 0,
  looked_at timestamptz,
  found_at timestamptz,
  -- By care unit: the slots of the last look that its EHR has answered, as hashes, and until when they are complete.
  seen json NOT NULL DEFAULT '{}'
);
CREATE INDEX timeslot_watches_of_client ON timeslot_watches (client_id, id);
CREATE INDEX timeslot_watches_due ON timeslot_watches (next_look_at);
CREATE INDEX timeslot_watches_by_end ON timeslot_watches (ends_at);
