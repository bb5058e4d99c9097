import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import type { Client } from './client-registry.ts';

/**
 * How long the grants of a gateway count after it was last seen. A gateway that restarts is back by then; one that has lost the
 * database notes itself again when it is back.
 */
const counts = sql`interval '10 minutes'`;

/** The clients of the configuration file as JSON: the same text for the same grants. */
function grantsAsJson(configured: readonly Client[]): string {
  return JSON.stringify(
    configured
      .map(({ id, scopes, grants }) => ({
        id,
        scopes: [...scopes].toSorted(),
        grants: [...grants]
          .map(([emr, careUnits]) => ({ emr, care_units: [...careUnits].toSorted() }))
          .toSorted((a, b) => (a.emr < b.emr ? -1 : 1)),
      }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  );
}

/**
 * Notes what the configuration file of this gateway grants, for the gateways beside it: while operators change the files one
 * gateway after another, some know less than others.
 */
export async function noteGrants(db: Db, configured: readonly Client[]): Promise<void> {
  const clients = grantsAsJson(configured);
  const revision = createHash('sha256').update(clients).digest('base64url');
  await sql`
    WITH deleted AS (
      DELETE FROM configured_grants WHERE seen_at < now() - interval '1 day' AND revision <> ${revision})
    INSERT INTO configured_grants (revision, clients) VALUES (${revision}, ${clients}::jsonb)
    ON CONFLICT (revision) DO UPDATE SET seen_at = now()`.execute(db);
}

/** A query for `id`, `scopes` and `grants` of the configured clients of all gateways. A client can have several rows. */
function grantsOfGateways(configured: readonly Client[]): RawBuilder<unknown> {
  return sql`
    SELECT it.* FROM (
      SELECT ${grantsAsJson(configured)}::jsonb AS clients
      UNION ALL SELECT clients FROM configured_grants WHERE seen_at > now() - ${counts}) AS files,
      jsonb_to_recordset(files.clients) AS it (id text, scopes text[], grants jsonb)`;
}

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
