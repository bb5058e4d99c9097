-- The rate of HTTP requests to an EHR that limits it, shared by all processes of all gateways. Unlogged: after a crash of the
-- database, the EHR's next response that limits the rate fills them again.
CREATE UNLOGGED TABLE ehr_rates (
  emr text PRIMARY KEY,
  -- Requests per second of all processes together.
  requests_per_second double precision NOT NULL CHECK (requests_per_second > 0),
  -- When the EHR last limited the rate.
  slowed_at timestamptz NOT NULL DEFAULT now(),
  -- When the rate last rose, one step at a time.
  raised_at timestamptz NOT NULL DEFAULT now(),
  -- No process sends a request before this: the EHR's Retry-After.
  paused_until timestamptz NOT NULL DEFAULT now()
);

-- What each process wants to send. The rate is divided in this proportion.
CREATE UNLOGGED TABLE ehr_rate_demands (
  emr text,
  process uuid,
  requests_per_second double precision NOT NULL,
  reported_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (emr, process)
);
