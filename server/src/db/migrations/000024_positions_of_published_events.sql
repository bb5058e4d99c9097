-- An event has no position when it is written, so the index gets its entry with the position, not twice.
DROP INDEX events_by_position;
CREATE UNIQUE INDEX events_by_position ON events (position) WHERE position IS NOT NULL;
