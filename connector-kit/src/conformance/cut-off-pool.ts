import type { PostgresPool, PostgresPoolClient } from 'kysely';

/** A pool that can be cut off at any moment, as if the process that uses it were killed. */
export interface CutOffPool extends PostgresPool {
  /** Fails all running and later queries. Open transactions are rolled back. */
  cut(): void;
}

export function cutOffPool(pool: PostgresPool): CutOffPool {
  const lent = new Set<() => void>();
  const { promise: end, reject } = Promise.withResolvers<never>();
  end.catch(() => undefined);
  let isCut = false;
  const cutOff = () => new Error('The connection was cut off');

  return {
    options: pool.options,
    async connect() {
      if (isCut) throw cutOff();
      const client = (await pool.connect()) as PostgresPoolClient & { release(destroy?: boolean): void };
      let isBack = false;
      const release = (destroy?: boolean) => {
        lent.delete(giveBack);
        if (!isBack) client.release(destroy);
        isBack = true;
      };
      const giveBack = () => release(true);
      if (isCut) {
        giveBack();
        throw cutOff();
      }
      lent.add(giveBack);
      const query = (sql: string, values: readonly unknown[]) =>
        isCut ? Promise.reject(cutOff()) : Promise.race([client.query(sql, values), end]);
      return { query: query as PostgresPoolClient['query'], release: () => release() };
    },
    end: async () => undefined,
    cut() {
      isCut = true;
      reject(cutOff());
      for (const giveBack of [...lent]) giveBack();
    },
  };
}
