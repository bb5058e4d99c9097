/** The variables that `readEnvironment` reads, in the order in which people need them. */
export const environmentVariables = {
  CROSSWARD_CONFIG: 'path of the configuration file. Unset: the demo',
  CROSSWARD_SECRET_KEY: 'encrypts personal data at rest, 32 random bytes. Required with CROSSWARD_CONFIG',
  CROSSWARD_PREVIOUS_SECRET_KEYS: 'earlier secret keys, separated by commas',
  DATABASE_URL: 'PostgreSQL, postgres://user:password@host:5432/database. Unset: the embedded database',
  DATABASE_POOL_SIZE: 'connections to PostgreSQL for requests (20)',
  CROSSWARD_DATA_DIR: "folder of the embedded database and of the demo's credentials (.data)",
  HOST: 'address to listen on (127.0.0.1)',
  PORT: 'port to listen on, 0 for a free one (8080)',
  CROSSWARD_WORKERS: 'processes that share the port (1)',
  LOG_LEVEL: 'fatal, error, warn, info, debug, trace or silent (info)',
  LOG_FORMAT: 'json or pretty. Unset: pretty for the demo in a terminal, otherwise json',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'sends traces and metrics to a collector of OpenTelemetry. Unset: off',
} as const;
