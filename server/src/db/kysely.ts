import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import type { Database } from './database.ts';
import type { Tables } from './tables/index.ts';

export type Db = Kysely<Tables>;
/** Parameter type of functions that must run in a transaction. Enforces it at compile time. */
export type Tx = Transaction<Tables>;

export function createDb({ pool }: Pick<Database, 'pool'>): Db {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}
