import { detailsOf, type Result } from '../measure/bench.ts';
import type { Comparison } from '../measure/compare.ts';
import { type GatewayOptions, startGateway } from '../measure/gateway.ts';
import type { Postgres } from '../measure/postgres.ts';
import { type Server, startServer } from '../measure/server.ts';
import { inverse } from '../measure/statistics.ts';

interface Pair {
  readonly gateway: Server;
  readonly yardstick: Server;
}

/** Runs `work` with a gateway and the yardstick on one new database. */
export async function withPair<T>(
  postgres: Postgres,
  options: Pick<GatewayOptions, 'command'>,
  work: (pair: Pair) => Promise<T>,
): Promise<T> {
  const databaseUrl = await postgres.createDatabase();
  // First the gateway, which creates the sandbox's tables: the yardstick copies one.
  const gateway = await startGateway({ folder: postgres.folder, databaseUrl, ...options });
  const yardstick = await startServer('yardstick/main', { databaseUrl });
  try {
    return await work({ gateway, yardstick });
  } finally {
    await Promise.all([gateway.stop(), yardstick.stop()]);
  }
}

/** A line that compares requests per second. */
export function throughputResult(
  name: string,
  yardstick: string,
  atLeast: number | undefined,
  comparison: Comparison,
): Result {
  return {
    name,
    measure: `requests/s ÷ ${yardstick}`,
    value: comparison.throughput,
    reach: atLeast === undefined ? undefined : { atLeast },
    details: detailsOf(comparison.ours, comparison.yardstick),
  };
}

/** A line that compares durations of a request. */
export function durationResult(name: string, yardstick: string, atMost: number, comparison: Comparison): Result {
  return {
    name,
    measure: `duration ÷ ${yardstick}`,
    value: inverse(comparison.throughput),
    reach: { atMost },
    details: detailsOf(comparison.ours, comparison.yardstick),
  };
}
