import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, type Transaction } from 'kysely';
import type { DatabaseClient } from './pool.ts';
import type { Tables } from './tables/index.ts';

export type Db = Kysely<Tables>;
/** Parameter type of functions that must run in a transaction. Enforces it at compile time. */
export type Tx = Transaction<Tables>;

export function createDb({ pool }: { readonly pool: PostgresPool }): Db {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

/** For statements in a transaction that is open on this connection. */
export function createDbOn(client: DatabaseClient): Db {
  const borrowed = { query: client.query.bind(client) as PostgresPoolClient['query'], release: () => undefined };
  return new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: { connect: async () => borrowed, options: {}, end: async () => undefined } }),
  });
}
