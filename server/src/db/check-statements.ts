import { DatabaseError, isStaleStatement } from './errors.ts';
import type { DatabaseClient, DatabasePool } from './pool.ts';

/** The same for all gateways, like the names of the other statements. */
const statement = { name: 'crossward.check', text: 'SELECT 1' };

/**
 * Throws a `DatabaseError` if connections do not keep their prepared statements apart: PgBouncer older than 1.21 in transaction
 * mode lends all of them the same connections to the server.
 *
 * @param pools one connection of each is used, at the same time
 */
export async function checkStatements(pools: readonly DatabasePool[]): Promise<void> {
  const clients: DatabaseClient[] = [];
  try {
    for (const pool of pools) {
      const client = await pool.connect();
      clients.push(client);
      // In a transaction, because a statement outside of one is repeated without its name. It ends, so that such a pooler lends
      // the next client the same connection to the server.
      await client.query('BEGIN');
      await client.query(statement);
      await client.query('COMMIT');
    }
  } catch (error) {
    if (!isStaleStatement(error)) throw error;
    throw new DatabaseError(
      'A pooler in front of PostgreSQL mixes up prepared statements. Use PgBouncer 1.21 or newer with max_prepared_statements above 0, or pool_mode = session.',
    );
  } finally {
    for (const client of clients) client.release();
  }
}
