import type { Database } from '../../server/src/db/database.ts';
import type { Statement } from './statements.ts';

/** Tables that grow with use. */
export const largeTables = [
  'operations',
  'confirmations',
  'confirmation_items',
  'messages',
  'events',
  'webhook_deliveries',
  'audit_entries',
  'history_counts',
  'ehr_history',
  'used_assertions',
  'failed_credentials',
  'client_messages',
] as const;

/*
 * A busy month: nearly all rows are finished and kept for a while, a few are pending, a few are expired or due. Encrypted
 * columns contain dummy data that cannot be decrypted.
 */
const fill = [
  `INSERT INTO operations (id, client_id, idempotency_key_hash, request_hash, emr, care_unit_id, kind, state, sealed_plan,
     sealed_response, lease_expires_at, next_attempt_at, consecutive_failures, first_sent_at, last_sent_at, suspended_at, created_at)
   SELECT gen_random_uuid(), 'everything', decode(md5(n::text), 'hex'), decode(md5(n::text), 'hex'), emr, 'oslo-sentrum',
     'appointments', CASE WHEN ended THEN 'done' ELSE 'pending' END, CASE WHEN NOT ended OR monitored THEN '\\x00'::bytea END,
     CASE WHEN ended THEN '\\x00'::bytea END, NULL,
     CASE WHEN due THEN now() - interval '1 second' WHEN suspended THEN NULL WHEN monitored OR NOT ended THEN now() + interval '1 hour' END,
     0, now(), now(), CASE WHEN suspended THEN now() END, now() - n * interval '2 seconds'
   FROM (
     SELECT n, (ARRAY['sandbox-no', 'sandbox-se', 'sandbox-uk', 'gone'])[CASE WHEN n % 1000 = 1 THEN 4 ELSE n % 3 + 1 END] AS emr,
       n % 50 > 0 AS ended, n % 10 = 7 AS monitored, n % 20000 = 0 OR n % 50000 = 1 AS due, n % 5000 = 50 AS suspended
     FROM generate_series(1, 60000) AS n
   ) AS numbered`,
  `INSERT INTO confirmations (id, client_id, emr, care_unit_id, kind, channel, code_hash, max_attempts, last_code_sent_at,
     expires_at, patient_hash, created_at, confirmed_at, purged_at)
   SELECT md5(n::text)::uuid, 'everything', 'sandbox-se', 'sodermalm', 'booking', 'sms',
     CASE WHEN n % 100 = 0 OR at > now() - interval '25 hours' THEN '\\x00'::bytea END, 5, at, at + interval '10 minutes',
     CASE WHEN at > now() - interval '90 days' THEN decode(md5((n % 5000)::text), 'hex') END, at,
     CASE WHEN n % 100 > 0 THEN at + interval '1 minute' END, CASE WHEN at < now() - interval '90 days' AND n % 7 > 0 THEN now() END
   FROM (SELECT n, CASE WHEN n % 100 = 0 AND n % 4000 > 0 THEN now() ELSE now() - n * interval '150 seconds' END AS at
         FROM generate_series(1, 60000) AS n) AS numbered`,
  `INSERT INTO confirmation_items (emr, appointment_id, confirmation_id, care_unit_id, position, kind, state, ehr_appointment_id)
   SELECT emr, 'a-' || id, id, care_unit_id, 0, kind,
     CASE WHEN confirmed_at IS NULL THEN 'pending' ELSE 'confirmed' END, 'a-' || id FROM confirmations`,
  `INSERT INTO messages (id, confirmation_id, sequence, emr, care_unit_id, channel, first_appointment_id, sealed_content, state,
     expires_at, created_at, completed_at, needs_job)
   SELECT gen_random_uuid(), id, 1, emr, care_unit_id, channel, 'a-' || id, CASE WHEN state <> 'sent' THEN '\\x00'::bytea END,
     state, expires_at, created_at, CASE WHEN state <> 'queued' THEN created_at END, false
   FROM confirmations, LATERAL (SELECT CASE
     WHEN confirmed_at IS NOT NULL THEN 'sent' WHEN code_hash IS NOT NULL AND get_byte(uuid_send(id), 0) > 200 THEN 'failed'
     ELSE 'queued' END AS state) AS it`,
  `UPDATE event_positions SET position = position + 59989 WHERE name = 'published'`,
  `INSERT INTO events (type, emr, care_unit_id, subject, data, position, occurred_at)
   SELECT 'appointment.booked', 'sandbox-no', 'oslo-sentrum', 'a-' || n, '{}',
     CASE WHEN n < 59990 THEN published.position - 59989 + n END, now() - (60000 - n) * interval '60 seconds'
   FROM generate_series(1, 60000) AS n, event_positions AS published WHERE published.name = 'published'`,
  `INSERT INTO webhook_endpoints (id, client_id, sealed_url, sealed_secret, disabled_reason)
   SELECT md5(n::text)::uuid, 'everything', '\\x00', '\\x00', 'client' FROM generate_series(1, 10) AS n`,
  `INSERT INTO webhook_deliveries (endpoint_id, event_id, event_position, subject, state, attempts, next_attempt_at)
   SELECT md5((position % 10 + 1)::text)::uuid, id, position, subject,
     CASE WHEN position % 100 = 0 THEN 'pending' ELSE 'delivered' END, 1, now() + interval '1 hour'
   FROM events WHERE position IS NOT NULL`,
  `INSERT INTO history_counts (quarter, kind, count)
   SELECT now() - n / 10 * interval '15 minutes', 'kind-' || n % 10, 1 FROM generate_series(1, 60000) AS n`,
  `INSERT INTO ehr_history (quarter, emr, process, running, known, unavailable, calls, failures, latencies)
   SELECT now() - n / 20 * interval '15 minutes', 'ehr-' || n % 20, md5('process')::uuid, 32767, 32767, 0, 100, 0,
     array_fill(1, ARRAY[31]) FROM generate_series(1, 60000) AS n`,
  `INSERT INTO audit_chains (id, key_id, started_at, anchor_position, anchor_hash, anchored_at, anchor_mac)
   SELECT md5(n::text)::uuid, md5('key')::uuid, now() - interval '6 years', 0, '\\x00', now(), '\\x00' FROM generate_series(0, 9) AS n`,
  `INSERT INTO audit_entries (chain_id, position, at, actor_kind, client_id, operation, emr, care_unit_id, patient_hashes, record_ids,
     outcome, request_id, hash, export_position)
   SELECT md5((n % 10)::text)::uuid, n / 10 + 1, now() - (60000 - n) * interval '1 hour', 'client', 'client-' || n % 100, 'get_patient',
     'sandbox-no', 'oslo-sentrum', ARRAY[decode(md5((n % 5000)::text), 'hex')], '{}', 'success', md5(n::text), '\\x00', n
   FROM generate_series(1, 60000) AS n`,
  `INSERT INTO used_assertions (client_id, jti_hash, request_id, expires_at)
   SELECT 'client-' || n % 100, decode(md5(n::text), 'hex'), gen_random_uuid(), now() - interval '61 minutes' + n * interval '1 second'
   FROM generate_series(1, 60000) AS n`,
  `INSERT INTO failed_credentials (key_hash, failures, counted, paused_until, failed_at)
   SELECT decode(md5(n::text), 'hex'), 1, 1, now(), now() - interval '16 minutes' + n * interval '1 second'
   FROM generate_series(1, 60000) AS n`,
  `INSERT INTO client_messages (client_id, channel, day, slot, sent)
   SELECT 'client-' || n, 'sms', (now() AT TIME ZONE 'UTC')::date - CASE WHEN n % 1000 = 0 THEN 2 ELSE 0 END, 0, 1
   FROM generate_series(1, 60000) AS n`,
];

/** Fills the growing tables with sixty thousand rows each. PostgreSQL only. */
export async function fillTables({ pool }: Database): Promise<void> {
  const client = await pool.connect();
  try {
    // In one transaction, so that background jobs delete no row that a later statement refers to.
    await client.query('BEGIN');
    for (const text of fill) await client.query(text);
    await client.query('COMMIT');
    await client.query(`ANALYZE ${largeTables.join(', ')}`);
  } finally {
    client.release();
  }
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

/**
 * The large tables that the statement scans sequentially, and their indexes that it scans without a condition.
 *
 * @param isGeneric as PostgreSQL plans a prepared statement for any values. Once it has chosen such a plan, a connection keeps
 *   it until the table is analysed.
 * @param tables default: `largeTables`
 */
export async function fullScans(
  { pool }: Database,
  { text, values }: Statement,
  { isGeneric = false, tables = largeTables }: { isGeneric?: boolean; tables?: readonly string[] } = {},
): Promise<string[]> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (${isGeneric ? 'GENERIC_PLAN, ' : ''}FORMAT JSON) ${text}`,
      isGeneric ? undefined : values,
    );
    const whole = await client.query<{ name: string }>(
      `SELECT indexrelid::regclass::text AS name FROM pg_index
       WHERE indpred IS NULL AND indrelid IN (SELECT relid FROM unnest($1::text[]::regclass[]), pg_partition_tree(unnest))`,
      [tables],
    );
    const indexes = new Set(whole.rows.map(({ name }) => name));
    return rows
      .flatMap((row) => nodesOf(row['QUERY PLAN'][0].Plan))
      .flatMap((node) => {
        const { 'Relation Name': table = '', 'Index Name': index = '' } = node;
        // Of the audit trail, the partition that `fillTables` fills.
        const isLarge = (name: string) => name === table || `${name}_default` === table;
        if (node['Node Type'] === 'Seq Scan') return tables.filter(isLarge);
        return indexes.has(index) && node['Index Cond'] === undefined ? [index] : [];
      });
  } finally {
    client.release();
  }
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}
