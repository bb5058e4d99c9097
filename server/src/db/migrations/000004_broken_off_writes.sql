-- `expiring`: its time is over, and the EHR has still to be asked to give up the hold. No code confirms it any more.
ALTER TABLE confirmation_items
  DROP CONSTRAINT confirmation_items_state_check,
  ADD CONSTRAINT confirmation_items_state_check
    CHECK (state IN ('pending', 'confirming', 'confirmed', 'released', 'expiring', 'expired'));
DROP INDEX confirmation_items_waiting;
CREATE INDEX confirmation_items_waiting ON confirmation_items (state)
  WHERE state IN ('pending', 'confirming', 'expiring');

CREATE INDEX idempotency_keys_running ON idempotency_keys (owner) WHERE state = 'running';

-- `undoing`: where an EHR does changes one by one, one of them failed, and those before it are being undone.
ALTER TABLE writes
  DROP CONSTRAINT writes_state_check,
  ADD CONSTRAINT writes_state_check CHECK (state IN ('running', 'unknown', 'undoing')),
  -- Since when an EHR that cannot be asked by operation id has shown nothing of it.
  ADD COLUMN missing_since timestamptz;

-- How often a confirmation was undone in the EHR: the next one is another operation.
ALTER TABLE confirmations ADD COLUMN times_undone integer NOT NULL DEFAULT 0;
-- Which operation of the EHR confirms it, or has: another one waits meanwhile.
ALTER TABLE confirmation_items ADD COLUMN operation_id uuid;
