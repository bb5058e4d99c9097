import { setTimeout as sleep } from 'node:timers/promises';
import { type Load, type Sample, send } from './load.ts';
import type { Postgres } from './postgres.ts';
import { usageOf } from './processes.ts';
import type { Server } from './server.ts';
import { median } from './statistics.ts';

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
  /** Attempts that the server refused, for one that it did not. */
  readonly refused: number;
}

/** How long a round lasts. */
export type Length = { readonly seconds: number } | { readonly requests: number };

/** Milliseconds after a round in which processor time still counts: the gateway links audit entries and places events. */
const aftermath = 500;

/** Sends requests on so many connections. Every response must be successful. */
export async function runRound(
  postgres: Postgres,
  load: Load,
  { connections, length }: { readonly connections: number; readonly length: Length },
): Promise<Round> {
  const before = await readCounters(postgres, load.server);
  const begin = performance.now();
  const all = await send(load, connections, isOver(length, begin));
  const end = performance.now();
  const samples = all.filter(({ refused }) => !refused);
  await sleep(aftermath);
  const after = await readCounters(postgres, load.server);
  const perRequest = (name: keyof typeof after) => (after[name] - before[name]) / samples.length;
  return {
    perSecond: rateOf(samples, length, begin, end),
    p50: median(samples.map(({ milliseconds }) => milliseconds)),
    cpu: perRequest('cpu'),
    databaseCpu: perRequest('databaseCpu'),
    statements: perRequest('statements'),
    commits: perRequest('commits'),
    refused: (all.length - samples.length) / samples.length,
  };
}

function isOver(length: Length, begin: number): () => boolean {
  if ('seconds' in length) return () => performance.now() >= begin + length.seconds * 1000;
  let sent = 0;
  return () => sent++ >= length.requests;
}

/** Requests that end after the time are not part of the rate: fewer and fewer connections are busy then. */
function rateOf(samples: readonly Sample[], length: Length, begin: number, end: number): number {
  const seconds = 'seconds' in length ? length.seconds : (end - begin) / 1000;
  return samples.filter(({ endedAt }) => endedAt <= begin + seconds * 1000).length / seconds;
}

export function medianRound(rounds: readonly Round[]): Round {
  const of = (name: keyof Round) => median(rounds.map((round) => round[name]));
  return {
    perSecond: of('perSecond'),
    p50: of('p50'),
    cpu: of('cpu'),
    databaseCpu: of('databaseCpu'),
    statements: of('statements'),
    commits: of('commits'),
    refused: of('refused'),
  };
}

async function readCounters(postgres: Postgres, server: Server) {
  const [{ statements, commits }, own, database] = await Promise.all([
    postgres.counts(),
    usageOf(server.pid),
    usageOf(postgres.pid),
  ]);
  return { statements, commits, cpu: own.cpuMilliseconds, databaseCpu: database.cpuMilliseconds };
}
