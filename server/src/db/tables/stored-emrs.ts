import type { ColumnType, Generated } from 'kysely';

interface StoredEmrRow {
  id: string;
  /** Written as JSON text. */
  definition: ColumnType<unknown, string, string>;
  is_open: boolean;
  sealed_secrets: Buffer;
  version: Generated<string>;
  created_at: Generated<Date>;
  changed_at: Generated<Date>;
}

interface StoredEmrsRevisionRow {
  is_only: Generated<boolean>;
  revision: string;
}

export interface StoredEmrTables {
  stored_emrs: StoredEmrRow;
  stored_emrs_revision: StoredEmrsRevisionRow;
}
