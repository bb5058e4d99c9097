import type { DatabasePool } from './pool.ts';

/** Makes one round trip. Throws the errors of the pool. */
export async function ping(pool: DatabasePool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('SELECT 1', []);
  } finally {
    client.release();
  }
}
