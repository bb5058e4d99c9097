-- Deliveries that were postponed together are due at the same time. In the order of the index, the first few are found without
-- a look at the others.
DROP INDEX webhook_deliveries_due;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, next_attempt_at, event_position)
  WHERE state = 'pending';
