import { sql } from 'kysely';

/** A published event, as read from the database. */
export interface StoredEvent {
  readonly id: string;
  readonly position: number;
  readonly type: string;
  readonly emr: string;
  readonly care_unit_id: string | null;
  readonly subject: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly endpoint_id: string | null;
  /** For this client only. `null`: for every client that is granted the care unit. */
  readonly client_id: string | null;
  readonly occurred_at: Date;
}

/** The columns of `StoredEvent`, in SQL over `events`. */
export const storedEventColumns = sql`
  events.id, events.position, events.type, events.emr, events.care_unit_id, events.subject, events.data, events.endpoint_id, events.client_id,
  events.occurred_at`;
