import { detailsOf, type Result } from '../measure/bench.ts';
import { type Comparison, compare } from '../measure/compare.ts';
import { type GatewayOptions, startGateway } from '../measure/gateway.ts';
import type { Load } from '../measure/load.ts';
import type { Postgres } from '../measure/postgres.ts';
import { type Server, startServer } from '../measure/server.ts';
import { inverse, type Spread } from '../measure/statistics.ts';

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

interface LoadReach {
  /** Of the gateway and of PostgreSQL: processor time ÷ the yardstick's, with 32 connections. */
  readonly cpu: number;
  readonly databaseCpu: number;
  /** Requests per second ÷ the yardstick's, with 32 and with 256 connections. */
  readonly throughput: number;
  /** Median duration ÷ the yardstick's, with one connection. */
  readonly p50: number;
}

interface LoadLine {
  readonly name: string;
  readonly yardstick: string;
  readonly reach: LoadReach;
}

/**
 * Compares with 32, 256 and one connection. Processor time comes first: it limits under load, and other programs disturb it
 * least. One connection shows what a lone caller waits for.
 */
export async function loadResults(
  postgres: Postgres,
  loads: { readonly ours: Load; readonly yardstick: Load },
  { name, yardstick, reach }: LoadLine,
): Promise<readonly Result[]> {
  const by = (connections: number) => compare(postgres, loads.ours, loads.yardstick, { connections });
  const [busy, crowded, alone] = [await by(32), await by(256), await by(1)];
  const cpu = (of: string, value: Spread, atMost: number): Result => {
    return { name, measure: `processor time of ${of} ÷ ${yardstick}`, value, reach: { atMost }, details: {} };
  };
  return [
    throughputResult(name, yardstick, reach.throughput, busy),
    cpu('the gateway', busy.cpu, reach.cpu),
    cpu('PostgreSQL', busy.databaseCpu, reach.databaseCpu),
    throughputResult(`${name}, 256 connections`, yardstick, reach.throughput, crowded),
    {
      name: `${name}, one connection`,
      measure: `median duration ÷ ${yardstick}`,
      value: alone.p50,
      reach: { atMost: reach.p50 },
      details: detailsOf(alone.ours, alone.yardstick),
    },
  ];
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
