import { type RawBuilder, sql } from 'kysely';
import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import { factsOfClient, isProvenClient, provenClientColumns } from '../../clients/client-proof.ts';
import { createDbOn, type Db } from '../../db/kysely.ts';
import type { DatabaseClient } from '../../db/pool.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import { type Facts, isProven, type ProofKind, prove } from '../../secrets/proofs.ts';
import { factsOfEndpoint, isProvenEndpoint, provenEndpointColumns } from '../../webhooks/endpoint-proof.ts';
import { factsOfLink, factsOfOperator, factsOfSession, isProvenOperator, provenOperatorColumns } from './proofs.ts';

interface Found {
  /** Of the row in its table. */
  readonly key: RawBuilder<unknown>;
  readonly kind: ProofKind;
  readonly facts: Facts;
  readonly proof: Buffer | null;
}

const tables: readonly { readonly name: string; read(db: Db): Promise<Found[]> }[] = [
  {
    name: 'clients',
    async read(db) {
      const rows = await db.selectFrom('clients').select(provenClientColumns).where('revoked_at', 'is', null).execute();
      return rows.map((row) => found('client', sql`id = ${row.id}`, factsOfClient(row), row));
    },
  },
  {
    name: 'operators',
    async read(db) {
      const rows = await db.selectFrom('operators').select(provenOperatorColumns).execute();
      return rows.map((row) => found('operator', sql`id = ${row.id}`, factsOfOperator(row), row));
    },
  },
  {
    name: 'operator_sessions',
    async read(db) {
      const rows = await db.selectFrom('operator_sessions').selectAll().execute();
      return rows.map((row) => found('session', sql`token_hash = ${row.token_hash}`, factsOfSession(row), row));
    },
  },
  {
    name: 'operator_sign_in_links',
    async read(db) {
      const rows = await db.selectFrom('operator_sign_in_links').selectAll().execute();
      return rows.map((row) => found('sign-in link', sql`token_hash = ${row.token_hash}`, factsOfLink(row), row));
    },
  },
  {
    name: 'webhook_endpoints',
    async read(db) {
      const rows = await db.selectFrom('webhook_endpoints').select(provenEndpointColumns).execute();
      return rows.map((row) => found('webhook endpoint', sql`id = ${row.id}`, factsOfEndpoint(row), row));
    },
  },
];

function found(
  kind: ProofKind,
  key: RawBuilder<unknown>,
  facts: Facts,
  { sealed_proof }: { readonly sealed_proof: Buffer | null },
): Found {
  return { kind, key, facts, proof: sealed_proof };
}

/**
 * Proves every row of these tables that exists. For the transaction of the migration that adds the proofs, and nothing else:
 * repeated, it would prove what somebody has written since. Who can only write rows cannot repeat it, because the columns exist.
 */
export async function proveExisting(client: DatabaseClient, keys: KeyRing, proven: readonly string[]): Promise<void> {
  const db = createDbOn(client);
  for (const { name, read } of tables.filter((it) => proven.includes(it.name)))
    for (const row of await read(db)) await store(db, keys, name, row);
}

/** Proves again, with the newest secret key, what is proven with an older one, so that the older one can be removed. */
export async function renewProofs(db: Db, keys: KeyRing): Promise<void> {
  for (const { name, read } of tables) {
    for (const row of await read(db)) {
      const { kind, facts, proof } = row;
      if (proof && !keys.isUnderNewest(proof) && isProven(keys, kind, facts, proof)) await store(db, keys, name, row);
    }
  }
}

/** Unless it has been proven anew meanwhile. */
async function store(db: Db, keys: KeyRing, table: string, { kind, key, facts, proof }: Found): Promise<void> {
  await sql`
    UPDATE ${sql.table(table)} SET sealed_proof = ${prove(keys, kind, facts)}
    WHERE ${key} AND sealed_proof IS NOT DISTINCT FROM ${proof}`.execute(db);
}

/** Rows that open nothing, because no gateway has made them as they are. */
export interface Unproven {
  /** Ids. */
  readonly clients: readonly string[];
  /** Names of enabled accounts. */
  readonly operators: readonly string[];
  /** How many of those that have not expired. */
  readonly sessions: number;
  /** Webhook endpoints, which get no events. */
  readonly endpoints: readonly { readonly id: string; readonly clientId: string }[];
}

export async function listUnproven(db: Db, keys: KeyRing): Promise<Unproven> {
  const clients = await db.selectFrom('clients').select(provenClientColumns).where('revoked_at', 'is', null).execute();
  const operators = await db
    .selectFrom('operators')
    .select(provenOperatorColumns)
    .where('disabled_at', 'is', null)
    .execute();
  const sessions = await db
    .selectFrom('operator_sessions')
    .selectAll()
    .where('expires_at', '>', sql<Date>`clock_timestamp()`)
    .execute();
  const endpoints = await db.selectFrom('webhook_endpoints').select(provenEndpointColumns).execute();
  return {
    clients: clients.flatMap((row) => (isProvenClient(keys, row) ? [] : row.id)),
    operators: operators.flatMap((row) => (isProvenOperator(keys, row) ? [] : row.name)),
    sessions: sessions.filter((row) => !isProven(keys, 'session', factsOfSession(row), row.sealed_proof)).length,
    endpoints: endpoints.flatMap((row) => (isProvenEndpoint(keys, row) ? [] : { id: row.id, clientId: row.client_id })),
  };
}

/** Returns a function that counts rows without a proof, and logs each change of them once. */
export function watchProofs(registry: Registry, keys: KeyRing, log: Logger): (db: Db) => Promise<void> {
  const unproven = new Gauge({
    name: 'crossward_rows_unproven',
    help: 'Rows that would let somebody in and that no gateway of this version has made as they are, by table: clients, operators, operator_sessions or webhook_endpoints. They open nothing.',
    labelNames: ['table'],
    registers: [registry],
    aggregator: 'max',
  });
  let known = '';
  return async (db) => {
    const { clients, operators, sessions, endpoints } = await listUnproven(db, keys);
    unproven.set({ table: 'clients' }, clients.length);
    unproven.set({ table: 'operators' }, operators.length);
    unproven.set({ table: 'operator_sessions' }, sessions);
    unproven.set({ table: 'webhook_endpoints' }, endpoints.length);
    const endpointIds = endpoints.map(({ id }) => id);
    const now = JSON.stringify([clients, operators.length, sessions, endpointIds]);
    const isSome = clients.length + operators.length + sessions + endpoints.length > 0;
    if (now !== known && isSome) {
      log.error(
        { client_ids: clients, operators: operators.length, sessions, endpoint_ids: endpointIds },
        'rows of the database open nothing: no gateway of this version has made them as they are',
      );
    }
    if (now !== known && known !== '' && !isSome)
      log.info('all clients, operators, sessions and webhook endpoints are proven again');
    known = isSome ? now : '';
  };
}
