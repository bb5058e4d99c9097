-- `expiring`: its time is over, and the EHR has still to be asked to give up the hold. No code confirms it any more.
ALTER TABLE confirmation_items
  DROP CONSTRAINT confirmation_items_state_check,
  ADD CONSTRAINT confirmation_items_state_check
    CHECK (state IN ('pending', 'confirming', 'confirmed', 'released', 'expiring', 'expired'));
DROP INDEX confirmation_items_waiting;
CREATE INDEX confirmation_items_waiting ON confirmation_items (state)
  WHERE state IN ('pending', 'confirming', 'expiring');

CREATE INDEX idempotency_keys_running ON idempotency_keys (owner) WHERE state = 'running';
