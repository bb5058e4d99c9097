import { AsyncLocalStorage } from 'node:async_hooks';
import type { Connector } from '@crossward/connector-kit';
import type { DatabasePool } from '../server/src/db/pool.ts';

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

const unseen = new AsyncLocalStorage<true>();

/** What `work` asks of the database is nobody's business. */
export function unobserved<Result>(work: () => Result): Result {
  return unseen.run(true, work);
}

/** A connector whose own statements `observeStatements` leaves out: another EHR would not keep its data with ours. */
export function keepingItsStatements(connector: Connector): Connector {
  const members = Object.entries(connector).map(([name, member]) => [
    name,
    typeof member === 'function' ? (...input: unknown[]) => unobserved(() => member(...input)) : member,
  ]);
  return Object.fromEntries(members) as Connector;
}

/** Everything that is asked of a pool while `work` runs, in its order. Whoever else uses the pool is heard, too. */
export async function observeStatements(pool: DatabasePool, work: () => Promise<unknown>): Promise<Statement[]> {
  const seen: Statement[] = [];
  const { connect } = pool;
  pool.connect = async () => {
    const client = await Reflect.apply(connect, pool, []);
    const { query } = client;
    const observed = (...input: readonly unknown[]) => {
      const [first, values] = input;
      const config = typeof first === 'string' ? { text: first, values } : (first as Partial<Statement>);
      const statement = { text: config.text ?? '', values: (config.values ?? []) as readonly unknown[] };
      if (!unseen.getStore()) seen.push(statement);
      return Reflect.apply(query, client, input);
    };
    client.query = observed as typeof query;
    return client;
  };
  try {
    await work();
  } finally {
    pool.connect = connect;
  }
  return seen;
}
