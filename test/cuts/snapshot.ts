import type pg from 'pg';
import { previousColumns, previousSecrets } from '../../server/src/clients/previous-secrets.ts';
import { openDatabase } from '../../server/src/db/database.ts';
import { createKeyRing } from '../../server/src/secrets/key-ring.ts';
import { listEndpoints } from '../../server/src/webhooks/endpoint-store.ts';
import { findViolations } from '../database/invariants.ts';
import { hashOf } from './forms.ts';
import type { Snapshot } from './history.ts';
import { type World, withDb } from './world.ts';

/** When an event was first seen, and first seen as published. In milliseconds of `performance.now()`. */
export interface Watched {
  readonly seen: number;
  readonly published: number;
}

const lookMilliseconds = 200;

/** Watches how long events wait for their publication. */
export function watchEvents(database: pg.Pool): {
  readonly watched: ReadonlyMap<string, Watched>;
  stop(): Promise<void>;
} {
  const firstSeen = new Map<string, number>();
  const watched = new Map<string, Watched>();
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const { rows } = await database.query<{ id: string; published: boolean }>(
        `SELECT id, position IS NOT NULL AS published FROM events ORDER BY sequence DESC LIMIT 2000`,
      );
      const now = performance.now();
      for (const { id, published } of rows) {
        const seen = firstSeen.get(id) ?? now;
        firstSeen.set(id, seen);
        if (published && !watched.has(id)) watched.set(id, { seen, published: now });
      }
      await new Promise((resolve) => setTimeout(resolve, lookMilliseconds));
    }
  })();
  return {
    watched,
    async stop() {
      isOver = true;
      await watching;
    },
  };
}

/** What never ended, by the invariant that it violates. */
export async function unfinished(databaseUrl: string, database: pg.Pool): Promise<Snapshot['unfinished']> {
  const opened = await openDatabase({ databaseUrl, dataDir: '' });
  const violations = await findViolations(opened).finally(() => opened.close());
  const { rows: waiting } = await database.query(
    `SELECT 'a delivery is pending' AS promise, id FROM webhook_deliveries WHERE state = 'pending'
     UNION ALL SELECT 'an event is not published', id FROM events WHERE position IS NULL
     UNION ALL SELECT 'a replay is in progress', id FROM webhook_endpoints WHERE replay_until IS NOT NULL`,
  );
  return [
    ...Object.entries(violations).flatMap(([promise, rows]) =>
      rows.map((row) => ({ promise, what: JSON.stringify(row) })),
    ),
    ...waiting.map(({ promise, id }) => ({ promise, what: id })),
  ];
}

/** The ids of the events that each endpoint has accepted, by its name. */
export type Deliveries = ReadonlyMap<string, ReadonlySet<string>>;

interface Seen {
  readonly watched: ReadonlyMap<string, Watched>;
  readonly deliveries: Deliveries;
  readonly unfinished: Snapshot['unfinished'];
}

/** Reads what the EHRs and the gateways have stored. */
export async function readSnapshot(world: World, { watched, deliveries, unfinished: left }: Seen): Promise<Snapshot> {
  const all = async <Row extends object>(sql: string) => (await world.database.query<Row>(sql)).rows;
  const appointments = await all<Snapshot['appointments'][number]>(
    `SELECT id, CASE WHEN held_until <= clock_timestamp() THEN 'cancelled' ELSE state END AS state, comment,
       to_char(starts_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || ' at ' || resource_id AS slot
     FROM sandbox.appointments`,
  );
  const records = await all<Snapshot['records'][number]>(
    `SELECT text AS name, id FROM sandbox.medical_notes WHERE NOT is_entered_in_error
     UNION ALL SELECT title, id FROM sandbox.documents
     UNION ALL SELECT local_start, id FROM sandbox.schedules
       WHERE id NOT IN (SELECT schedule_id FROM sandbox.schedule_writes WHERE kind = 'create' AND withdrawn)
     UNION ALL SELECT 'schedule ' || kind || ' of ' || schedule_id, schedule_id FROM sandbox.schedule_writes
       WHERE kind IN ('end', 'exception') AND NOT withdrawn
     UNION ALL SELECT 'endpoint test of ' || endpoint_id, id::text FROM events WHERE endpoint_id IS NOT NULL
     UNION ALL SELECT id, id FROM clients
     UNION ALL SELECT 'dropped ' || target, target FROM operator_activity
       WHERE action = 'operation_drop' AND outcome = 'done' AND target NOT IN (SELECT id::text FROM operations)`,
  );
  const confirmations = await all<Snapshot['confirmations'][number]>(
    `SELECT id, failed_attempts AS "failedAttempts", codes_sent AS "codesSent",
       (SELECT json_agg(json_build_object('id', appointment_id, 'ehrId', ehr_appointment_id,
         'subjectId', coalesce(replaces_id, appointment_id)))
        FROM confirmation_items WHERE confirmation_id = confirmations.id) AS items
     FROM confirmations`,
  );
  const events = await all<Pick<Snapshot['events'][number], 'id' | 'type' | 'subject' | 'messageId'>>(
    `SELECT id, type, subject, data ->> 'message_id' AS "messageId" FROM events WHERE endpoint_id IS NULL`,
  );
  const late = await all<{ readonly id: string }>(
    `SELECT id FROM messages
     WHERE delayed_at >= created_at + interval '1 minute' AND (completed_at IS NULL OR completed_at >= delayed_at)`,
  );
  const audit = await all<Snapshot['audit'][number]>(
    `SELECT operation, record_ids AS "recordIds", outcome, request_id AS "requestId" FROM audit_entries`,
  );
  const activity = await all<Snapshot['activity'][number]>(
    `SELECT action, target FROM operator_activity WHERE outcome = 'done'`,
  );
  const secrets = await readSecrets(world);
  return {
    appointments,
    records: [...records, ...secrets.flatMap((it) => it.records)],
    confirmations,
    events: events.map((event) => {
      const { seen, published } = watched.get(event.id) ?? { seen: 0, published: 0 };
      const meanwhile = world.disturbances(seen, published);
      return { ...event, lateSeconds: Math.round((published - seen) / 100) / 10, meanwhile };
    }),
    lateMessageIds: late.map(({ id }) => id),
    deliveries: [...deliveries].map(([endpoint, eventIds]) => ({ endpoint, eventIds: [...eventIds] })),
    secrets: secrets.map(({ id, hashes }) => ({ id, hashes })),
    activity,
    audit,
    unfinished: left,
  };
}

/** Endpoints and clients with their secrets, the newest first, and a record for each previous one: it was rotated. */
function readSecrets({ databaseUrl, secretKey, clientId, endpointName }: World) {
  return withDb(databaseUrl, async (db) => {
    const endpoints = await listEndpoints(db, createKeyRing([secretKey]), clientId, undefined, 100);
    const clients = await db
      .selectFrom('clients')
      .select(['id', 'secret_hash', ...previousColumns])
      .execute();
    return [
      ...endpoints.map(({ id, url, secret, previousSecrets: previous }) => ({
        id,
        hashes: [secret, ...previous.map((it) => it.secret)].map(hashOf),
        records: [{ name: endpointName(url), id }, ...previous.map(() => ({ name: `endpoint rotation of ${id}`, id }))],
      })),
      ...clients.map((row) => ({
        id: row.id,
        hashes: [row.secret_hash, ...previousSecrets(row).map((it) => it.hash)].map((it) => it?.toString('hex') ?? ''),
        records: previousSecrets(row).map(() => ({ name: `client rotation of ${row.id}`, id: row.id })),
      })),
    ];
  });
}
