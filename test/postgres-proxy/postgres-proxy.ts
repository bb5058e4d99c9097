import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { freePort } from '../processes/free-port.ts';
import { ProxiedConnection } from './connection.ts';
import type { Unit } from './unit.ts';
import { type Cut, Failure, isWrite, type Matches, type PlannedCut, type Way } from './ways.ts';

interface RandomCuts {
  /** From 0 to 1. */
  readonly random: () => number;
  /** Share of the matching units that fail, from 0 to 1. */
  readonly share: number;
  /** One is taken for each failure. */
  readonly ways: readonly [Way, ...Way[]];
  /** Default: `isWrite`. */
  readonly matches?: Matches;
}

/**
 * A proxy in front of PostgreSQL that lets commits and statements fail. Give each gateway a proxy of its own to cut off only
 * that one. Connections through it are not encrypted.
 */
export interface PostgresProxy {
  /** URL of the database through the proxy. */
  readonly url: string;
  /** Lets the next matching unit fail. Default: the next `isWrite`. Planned failures apply in their order, each once. */
  cutNext(way: Way, matches?: Matches): PlannedCut;
  /** Lets a share of the matching units fail, after planned failures. Returns a function that ends this. */
  cutAtRandom(cuts: RandomCuts): () => void;
  /** What has failed so far. */
  readonly cuts: readonly Cut[];
  /** Number of units that met no failure, by kind. */
  readonly passed: Readonly<Record<Unit['kind'], number>>;
  /** Breaks all connections and refuses new ones, for this many milliseconds or until `comeUp`. */
  goDown(refuseMilliseconds?: number): void;
  comeUp(): Promise<void>;
  /** Forgets planned failures, lets held units through, and comes up. Connections that fell silent stay so. */
  heal(): Promise<void>;
  close(): Promise<void>;
}

/** @param databaseUrl `postgresql://…` with one host */
export async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const target = new URL(databaseUrl);
  // Nobody else gets it while the proxy is down.
  const port = await freePort();
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  const connections = new Set<ProxiedConnection>();
  const planned: { readonly failure: Failure; readonly matches: Matches }[] = [];
  const open = new Set<Failure>();
  const random = new Set<RandomCuts>();
  const cuts: Cut[] = [];
  const passed = { commit: 0, statement: 0, part: 0 };
  let server: Server | undefined;
  let refusal: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function comeUp(): Promise<void> {
    clearTimeout(refusal);
    if (server || isClosed) return;
    server = createServer((client) => {
      const connection = new ProxiedConnection(client, target, { failureOf, goDown });
      connections.add(connection);
      void connection.closed.then(() => connections.delete(connection));
    });
    await once(server.listen(port, '127.0.0.1'), 'listening');
  }

  function goDown(refuseMilliseconds?: number): void {
    clearTimeout(refusal);
    server?.close();
    server = undefined;
    for (const connection of connections) connection.break();
    if (refuseMilliseconds !== undefined) refusal = setTimeout(() => void comeUp(), refuseMilliseconds);
  }

  function failureOf(unit: Unit): Failure | undefined {
    const failure = plannedFor(unit) ?? randomFor(unit);
    if (!failure) {
      passed[unit.kind]++;
      return undefined;
    }
    cuts.push({ way: failure.way.kind, unit, at: performance.now() });
    open.add(failure);
    void failure.settled.then(() => open.delete(failure));
    return failure;
  }

  function plannedFor(unit: Unit): Failure | undefined {
    const index = planned.findIndex(({ matches }) => matches(unit));
    return index < 0 ? undefined : planned.splice(index, 1)[0]?.failure;
  }

  function randomFor(unit: Unit): Failure | undefined {
    for (const { random: next, share, ways, matches = isWrite } of random) {
      if (!matches(unit) || next() >= share) continue;
      return new Failure(ways[Math.floor(next() * ways.length)] ?? ways[0]);
    }
    return undefined;
  }

  await comeUp();
  return {
    url: url.href,
    cuts,
    passed,
    goDown,
    comeUp,
    cutNext(way, matches = isWrite) {
      const failure = new Failure(way);
      planned.push({ failure, matches });
      return failure;
    },
    cutAtRandom(rule) {
      random.add(rule);
      return () => random.delete(rule);
    },
    async heal() {
      planned.length = 0;
      random.clear();
      for (const failure of open) failure.release();
      await comeUp();
    },
    async close() {
      isClosed = true;
      goDown();
      for (const failure of open) failure.release();
      for (const connection of connections) connection.destroy();
      await Promise.all([...connections].map(({ closed }) => closed));
    },
  };
}
