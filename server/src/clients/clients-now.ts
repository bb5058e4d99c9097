import { type RawBuilder, sql } from 'kysely';
import type { Client } from './client-registry.ts';
import { grantsOfGateways } from './configured-grants.ts';

/**
 * A query for the `id`, `scopes` and `grants` of all clients that are not revoked, for statements that must know every change
 * committed before them, and what the configuration files of other gateways grant. `grants` is JSON as in the table
 * `clients`. A client can have several rows, of which each counts.
 *
 * @param configured the clients of this gateway's configuration file, which take the place of stored ones with their ids
 */
export function clientsNow(configured: readonly Client[]): RawBuilder<unknown> {
  return sql`
    SELECT id, scopes, grants FROM (${grantsOfGateways(configured)}) AS of_gateways
    UNION ALL
    SELECT id, scopes, grants FROM clients
    WHERE revoked_at IS NULL AND id <> ALL(${configured.map(({ id }) => id)}::text[])`;
}
