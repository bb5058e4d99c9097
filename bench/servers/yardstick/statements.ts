import pg from 'pg';

/** Runs a statement that each connection prepares at its first use. */
export type Run = (name: string, text: string, values: readonly unknown[]) => Promise<readonly object[]>;

/** The gateway uses as many connections by default. */
const connections = 20;

/** Tables of the yardstick, next to those of the gateway, which has started before. */
const tables = `
  CREATE SCHEMA yardstick;
  -- With two indexes: what is needed to find an appointment, and to never book a time twice.
  CREATE TABLE yardstick.appointments (LIKE sandbox.appointments INCLUDING DEFAULTS,
    PRIMARY KEY (emr, id),
    EXCLUDE USING gist (emr WITH =, resource_id WITH =, tstzrange(starts_at, ends_at) WITH &&));
  -- One row for each write under a key.
  CREATE TABLE yardstick.writes (key uuid PRIMARY KEY, request text NOT NULL, response text);
  -- Free slots as the response shows them.
  CREATE TABLE yardstick.time_slots (
    resource_id text, healthcare_service_id text, starts_at timestamptz, ends_at timestamptz, "start" text, "end" text,
    PRIMARY KEY (resource_id, starts_at, healthcare_service_id));
  INSERT INTO yardstick.time_slots
    SELECT 'emr_id:' || resource, service, at, at + interval '30 minutes',
      to_char(at, 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"'), to_char(at + interval '30 minutes', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"')
    FROM unnest(ARRAY['r-1', 'r-2', 'r-3', 'r-4', 'r-5']) resource, unnest(ARRAY['consultation', 'vaccination']) service,
      generate_series(date_trunc('day', now()) + interval '8 hours', now() + interval '100 days', interval '30 minutes') at
    WHERE extract(isodow FROM at) < 6 AND extract(hour FROM at) IN (8, 9, 10, 11, 13, 14, 15);
  ANALYZE yardstick.time_slots`;

export async function openDatabase(url: string): Promise<{ readonly run: Run; close(): Promise<void> }> {
  const pool = new pg.Pool({ connectionString: url, max: connections, options: '-c timezone=UTC' });
  await pool.query(tables);
  return {
    run: async (name, text, values) => (await pool.query({ name, text, values: [...values] })).rows,
    close: () => pool.end(),
  };
}
