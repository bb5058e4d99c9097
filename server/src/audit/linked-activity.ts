import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import type { Linkable, Linked } from './chain.ts';

/** What an operator did, with the time in microseconds: the column has them. */
export interface ActivityRow {
  readonly id: number;
  readonly micros: number;
  readonly operator_name: string;
  readonly action: string;
  readonly target: string | null;
  readonly outcome: string;
}

const columns = sql`id, (extract(epoch FROM at) * 1000000)::bigint AS micros, operator_name, action, target, outcome`;

/** What operators did. */
export const linkedActivity: Linkable<ActivityRow, ActivityRow & Linked> = {
  subject: 'activity',
  textOf: ({ id, micros, operator_name, action, target, outcome }, { chain_id, position }) =>
    JSON.stringify([chain_id, position, id, micros, operator_name, action, target, outcome]),
  async readLinked(db, chainId, behind, limit) {
    const { rows } = await sql<ActivityRow & Linked>`
      SELECT ${columns}, chain_id, position, hash, at FROM operator_activity
      WHERE chain_id = ${chainId} AND position > ${behind} ORDER BY position LIMIT ${limit}`.execute(db);
    return rows;
  },
};

/**
 * Rows that are not linked yet, in the order of writing. A sign-in is recorded before it is checked, and its outcome with the
 * result: it is linked when no request can still change it.
 */
export async function readUnlinkedActivity(db: Db, limit: number): Promise<ActivityRow[]> {
  const { rows } = await sql<ActivityRow>`
    SELECT ${columns} FROM operator_activity
    WHERE chain_id IS NULL AND (action <> 'sign_in' OR at < now() - interval '1 minute')
    ORDER BY id LIMIT ${limit}`.execute(db);
  return rows;
}
