import type { ColumnType, Generated } from 'kysely';

interface EventRow {
  id: Generated<string>;
  sequence: Generated<number>;
  position: Generated<number | null>;
  type: string;
  emr: string;
  care_unit_id: string | null;
  subject: string | null;
  /** Written as JSON text. */
  data: ColumnType<Readonly<Record<string, unknown>>, string, string>;
  sealed_appointment: Generated<Buffer | null>;
  client_id: Generated<string | null>;
  endpoint_id: Generated<string | null>;
  is_observed: Generated<boolean>;
  occurred_at: Generated<Date>;
  began_at: Generated<Date>;
}

export interface EventTables {
  events: EventRow;
}
