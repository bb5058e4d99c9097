import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import type { Database } from './database.ts';
import type { Tables } from './tables/index.ts';

export type Db = Kysely<Tables>;
/** Functions that lock or belong together with others ask for this, so that misuse does not compile. */
export type Tx = Transaction<Tables>;

export function createDb({ pool }: Pick<Database, 'pool'>): Db {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}
