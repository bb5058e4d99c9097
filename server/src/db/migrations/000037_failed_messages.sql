-- Whether the provider of a channel answers nothing but faults is read with the metrics, so it must not scan all messages.
CREATE INDEX messages_failed_by_time ON messages (completed_at) WHERE state = 'failed';
