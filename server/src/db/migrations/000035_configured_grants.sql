-- What clients of configuration files are granted, so that gateways with different files agree on who gets an event.
CREATE TABLE configured_grants (
  -- Of `clients`. Gateways with equal files share a row.
  revision text PRIMARY KEY,
  -- [{"id": …, "scopes": […], "grants": [{"emr": …, "care_units": […]}]}]
  clients jsonb NOT NULL,
  -- When a gateway with this revision last ran.
  seen_at timestamptz NOT NULL DEFAULT now()
);
