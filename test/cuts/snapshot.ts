import type pg from 'pg';
import { openDatabase } from '../../server/src/db/database.ts';
import { findViolations } from '../database/invariants.ts';
import type { Snapshot } from './history.ts';

/** Seconds from the first look that saw an event to the first that saw it published, by the id of the event. */
export type Lateness = ReadonlyMap<string, number>;

const lookMilliseconds = 200;

/** Watches how long events wait for their publication. */
export function watchEvents(database: pg.Pool): { readonly late: Lateness; stop(): Promise<void> } {
  const firstSeen = new Map<string, number>();
  const late = new Map<string, number>();
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const { rows } = await database.query<{ id: string; published: boolean }>(
        `SELECT id, position IS NOT NULL AS published FROM events ORDER BY sequence DESC LIMIT 2000`,
      );
      const now = performance.now();
      for (const { id, published } of rows) {
        const since = firstSeen.get(id) ?? now;
        firstSeen.set(id, since);
        if (published && !late.has(id)) late.set(id, Math.round((now - since) / 100) / 10);
      }
      await new Promise((resolve) => setTimeout(resolve, lookMilliseconds));
    }
  })();
  return {
    late,
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
     UNION ALL SELECT 'an event is not published', id FROM events WHERE position IS NULL`,
  );
  return [
    ...Object.entries(violations).flatMap(([promise, rows]) =>
      rows.map((row) => ({ promise, what: JSON.stringify(row) })),
    ),
    ...waiting.map(({ promise, id }) => ({ promise, what: id })),
  ];
}

interface Seen {
  readonly late: Lateness;
  readonly delivered: ReadonlySet<string>;
  /** What the API lists, because the gateway encrypts their URLs. */
  readonly endpoints: readonly { readonly id: string; readonly url: string }[];
  readonly unfinished: Snapshot['unfinished'];
}

/** Reads what the EHRs and the gateways have stored. */
export async function readSnapshot(
  database: pg.Pool,
  { late, delivered, endpoints, unfinished: left }: Seen,
): Promise<Snapshot> {
  const all = async <Row extends object>(sql: string) => (await database.query<Row>(sql)).rows;
  const appointments = await all<Snapshot['appointments'][number]>(
    `SELECT id, CASE WHEN held_until <= clock_timestamp() THEN 'cancelled' ELSE state END AS state, comment,
       to_char(starts_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS start
     FROM sandbox.appointments`,
  );
  const records = await all<Snapshot['records'][number]>(
    `SELECT text AS name, id FROM sandbox.medical_notes WHERE NOT is_entered_in_error
     UNION ALL SELECT title, id FROM sandbox.documents
     UNION ALL SELECT local_start, id FROM sandbox.schedules
       WHERE id NOT IN (SELECT schedule_id FROM sandbox.schedule_writes WHERE withdrawn)`,
  );
  const confirmations = await all<Snapshot['confirmations'][number]>(
    `SELECT id, failed_attempts AS "failedAttempts", codes_sent AS "codesSent",
       (SELECT json_agg(json_build_object('id', appointment_id, 'ehrId', ehr_appointment_id,
         'subjectId', coalesce(replaces_id, appointment_id)))
        FROM confirmation_items WHERE confirmation_id = confirmations.id) AS items
     FROM confirmations`,
  );
  const events = await all<{ readonly id: string; readonly type: string; readonly subject: string | null }>(
    `SELECT id, type, subject FROM events WHERE endpoint_id IS NULL`,
  );
  const audit = await all<Snapshot['audit'][number]>(
    `SELECT operation, record_ids AS "recordIds", outcome, request_id AS "requestId" FROM audit_entries`,
  );
  return {
    appointments,
    records: [...records, ...endpoints.map(({ id, url }) => ({ id, name: url }))],
    confirmations,
    events: events.map((event) => ({ ...event, lateSeconds: late.get(event.id) ?? 0 })),
    delivered: [...delivered],
    audit,
    unfinished: left,
  };
}
