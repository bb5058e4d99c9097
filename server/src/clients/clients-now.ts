import { type RawBuilder, sql } from 'kysely';
import type { Client } from './client-registry.ts';

/**
 * A query for the `id`, `scopes` and `grants` of all clients that are not revoked, for statements that must know every change
 * committed before them. `grants` is JSON as in the table `clients`.
 *
 * @param configured the clients of the configuration file, which take the place of stored ones with their ids
 */
export function clientsNow(configured: readonly Client[]): RawBuilder<unknown> {
  const rows = configured.map(({ id, scopes, grants }) => ({
    id,
    scopes: [...scopes],
    grants: [...grants].map(([emr, careUnits]) => ({ emr, care_units: [...careUnits] })),
  }));
  return sql`
    SELECT id, scopes, grants FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS it (id text, scopes text[], grants jsonb)
    UNION ALL
    SELECT id, scopes, grants FROM clients
    WHERE revoked_at IS NULL AND id <> ALL(${configured.map(({ id }) => id)}::text[])`;
}
