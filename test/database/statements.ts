import { AsyncLocalStorage } from 'node:async_hooks';
import type { Connector } from '@crossward/connector-kit';
import type { DatabasePool } from '../../server/src/db/pool.ts';

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

const unrecorded = new AsyncLocalStorage<true>();

/**
 * Runs `work` without recording its statements. If `work` starts a gateway, those of its background jobs and of requests to
 * its port are not recorded either, only those of requests that are injected.
 */
export function unobserved<Result>(work: () => Result): Result {
  return unrecorded.run(true, work);
}

/** Excludes the connector's own statements from `observeStatements`: a real EHR does not use the gateway's database. */
export function hidingItsStatements(connector: Connector): Connector {
  const members = Object.entries(connector).map(([name, member]) => [
    name,
    typeof member === 'function' ? (...input: unknown[]) => unobserved(() => member(...input)) : member,
  ]);
  return Object.fromEntries(members) as Connector;
}

/** Records all statements that run on the pool during `work`, in order, including those of concurrent users of the pool. */
export async function observeStatements(pool: DatabasePool, work: () => Promise<unknown>): Promise<Statement[]> {
  const recorded: Statement[] = [];
  const { connect } = pool;
  pool.connect = async () => {
    const client = await Reflect.apply(connect, pool, []);
    const { query } = client;
    const recordingQuery = (...input: readonly unknown[]) => {
      const [first, values] = input;
      const config = typeof first === 'string' ? { text: first, values } : (first as Partial<Statement>);
      const statement = { text: config.text ?? '', values: (config.values ?? []) as readonly unknown[] };
      if (!unrecorded.getStore()) recorded.push(statement);
      return Reflect.apply(query, client, input);
    };
    client.query = recordingQuery as typeof query;
    return client;
  };
  try {
    await work();
  } finally {
    pool.connect = connect;
  }
  return recorded;
}
