import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

// SQL that fills the tables of a gateway as time would.

/** Operations that have ended in the last hours, with the event of each. */
export function operationsAndEvents(count: number): readonly string[] {
  return [
    `INSERT INTO operations (id, client_id, idempotency_key_hash, request_hash, emr, care_unit_id, kind, state, sealed_response,
       created_at)
     SELECT gen_random_uuid(), 'bench-1', uuid_send(gen_random_uuid()), uuid_send(gen_random_uuid()), 'sandbox-no', 'bergen',
       'appointments', 'done', decode(repeat('00', 300), 'hex'), now() - random() * interval '20 hours'
     FROM generate_series(1, ${count})`,
    events(count, "now() - random() * interval '20 days'"),
    'VACUUM ANALYZE operations, events',
  ];
}

/** Events that were published. */
function events(count: number, at: string): string {
  return `
    WITH published AS (
      UPDATE event_positions SET position = position + ${count} WHERE name = 'published' RETURNING position - ${count} AS before)
    INSERT INTO events (type, emr, care_unit_id, subject, data, position, occurred_at)
    SELECT 'appointment.booked', 'sandbox-no', 'bergen', 'grown-' || gen_random_uuid(), '{}', before + n, ${at}
    FROM published, generate_series(1, ${count}) AS n`;
}

/** Entries of five years, a hundred thousand patients and ten processes that have stopped. */
export function auditEntries(count: number): readonly string[] {
  const years = 5;
  return [
    `SELECT create_audit_month(month) FROM (
       SELECT (date_trunc('month', now(), 'UTC') - n * interval '1 month')::date AS month
       FROM generate_series(1, ${years * 12}) AS n) AS months WHERE month NOT IN (SELECT month FROM audit_months)`,
    `INSERT INTO audit_chains (id, key_id, started_at, closed_at, anchor_position, anchor_hash, anchored_at, anchor_mac)
     SELECT md5(n::text)::uuid, md5('key')::uuid, now(), now(), 0, '\\x00', now(), '\\x00' FROM generate_series(0, 9) AS n
     ON CONFLICT DO NOTHING`,
    `INSERT INTO audit_entries (chain_id, position, id, at, actor_kind, client_id, operation, emr, care_unit_id, patient_hashes,
       record_ids, outcome, request_id, hash, export_position)
     SELECT md5((n % 10)::text)::uuid, n, n, now() - (${count} - n) * (interval '${years} years' / ${count}), 'client',
       'client-' || n % 20, 'get_appointment', 'sandbox-no', 'oslo-sentrum',
       ARRAY[substring(sha256((n % 100000)::text::bytea) FOR 16)], ARRAY['a-' || n], 'success', md5(n::text)::uuid::text,
       sha256(n::text::bytea), n
     FROM generate_series(1, ${count}) AS n`,
    'VACUUM ANALYZE audit_entries',
  ];
}

/** Deliveries that are due to all endpoints. */
export function pendingDeliveries(count: number): readonly string[] {
  return [
    events(count, 'now()'),
    `INSERT INTO webhook_deliveries (endpoint_id, event_id, event_position, subject)
     SELECT webhook_endpoints.id, events.id, events.position, events.subject FROM webhook_endpoints, events
     WHERE subject LIKE 'grown-%'`,
    'VACUUM ANALYZE events, webhook_deliveries',
  ];
}

/** Longer than the pause of most background jobs. */
const idleSeconds = 20;
/** In which jobs work off what the preparation has left. */
const settlingSeconds = 15;

/** Blocks that statements touch in a second while nobody sends requests. Unlike their time, other programs do not change it. */
export async function idleBlocks(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  // The extension is in another database: its function shows the statements of all.
  const read = async () => {
    const { rows } = await client.query<{ blocks: number }>(
      `SELECT sum(shared_blks_hit + shared_blks_read)::float AS blocks FROM pg_stat_statements
       WHERE toplevel AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    return rows[0]?.blocks ?? Number.NaN;
  };
  try {
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
    await sleep(settlingSeconds * 1000);
    const before = await read();
    await sleep(idleSeconds * 1000);
    return ((await read()) - before) / idleSeconds;
  } finally {
    await client.end();
  }
}
