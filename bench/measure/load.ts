import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import type { Postgres } from './postgres.ts';
import { usageOf } from './processes.ts';
import type { Server } from './server.ts';

/** A kind of request that is sent again and again. */
export interface Load {
  readonly server: Server;
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  /** Returns the body of the next request. */
  readonly body?: () => object;
  /** Whether each request has an `Idempotency-Key` of its own. */
  readonly withKey?: boolean;
}

/** What a round showed. All but `perSecond` are for one request. */
export interface Round {
  readonly perSecond: number;
  /** Median duration in milliseconds. */
  readonly p50: number;
  /** Processor time of the server in milliseconds. */
  readonly cpu: number;
  /** Processor time of PostgreSQL in milliseconds. */
  readonly databaseCpu: number;
  readonly statements: number;
  readonly commits: number;
}

const connections = 32;
/** Requests that are cut off at the end of a round may still run for this long. */
const settleMilliseconds = 100;

/**
 * Sends requests on all connections for a while.
 *
 * @throws {Error} unless every response is successful
 */
export async function runRound(postgres: Postgres, load: Load, seconds: number): Promise<Round> {
  const before = await readCounters(postgres, load.server);
  const result = await autocannon({
    url: load.server.url,
    connections,
    duration: seconds,
    requests: [requestOf(load)],
  });
  await sleep(settleMilliseconds);
  const after = await readCounters(postgres, load.server);
  requireSuccess(load.path, result);
  const perRequest = (name: keyof typeof after) => (after[name] - before[name]) / result['2xx'];
  return {
    perSecond: result['2xx'] / result.duration,
    p50: result.latency.p50,
    cpu: perRequest('cpu'),
    databaseCpu: perRequest('databaseCpu'),
    statements: perRequest('statements'),
    commits: perRequest('commits'),
  };
}

function requestOf({ server, path, method = 'GET', body, withKey = false }: Load): autocannon.Request {
  if (!body) return { method, path, headers: { ...server.headers } };
  const headers = { ...server.headers, 'content-type': 'application/json' };
  return {
    method,
    path,
    headers,
    setupRequest: (request) => ({
      ...request,
      headers: withKey ? { ...headers, 'idempotency-key': crypto.randomUUID() } : headers,
      body: JSON.stringify(body()),
    }),
  };
}

/** @throws {Error} unless every response is successful */
function requireSuccess(name: string, { non2xx, errors }: autocannon.Result): void {
  if (non2xx > 0 || errors > 0) throw new Error(`${name}: ${non2xx} unsuccessful responses, ${errors} errors`);
}

async function readCounters(postgres: Postgres, server: Server) {
  const [{ statements, commits }, own, database] = await Promise.all([
    postgres.counts(),
    usageOf(server.pid),
    usageOf(postgres.pid),
  ]);
  return { statements, commits, cpu: own.cpuMilliseconds, databaseCpu: database.cpuMilliseconds };
}
