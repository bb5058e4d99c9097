import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Bench, Result } from '../measure/bench.ts';
import { compare } from '../measure/compare.ts';
import { type GatewayOptions, startGateway } from '../measure/gateway.ts';
import { type Creating, reads, writes } from '../measure/load.ts';
import { execute, type Postgres } from '../measure/postgres.ts';
import type { Server } from '../measure/server.ts';
import { book } from './book.ts';
import { everyTime, variants } from './bookings.ts';
import { manyEhrs, sandboxEmr } from './growth-process.ts';
import { auditEntries, idleBlocks, operationsAndEvents, pendingDeliveries } from './growth-rows.ts';
import { durationResult } from './pair.ts';

/*
 * What a request costs, and what an idle gateway does, with little and with much of something. Short rounds: the two gateways
 * alternate, and a ratio near one needs no more.
 */

const isFull = process.env.GROWTH === 'full';
const round = { warmUp: { seconds: 2 }, round: { seconds: 2 } };
const mostAllowed = 1.1;

/** A gateway with its database, and what reads of it ask for. */
interface Grown {
  readonly gateway: Server;
  readonly databaseUrl: string;
  readonly paths: readonly string[];
  readonly nextBooking: () => Creating;
}

async function start(postgres: Postgres, options: Omit<GatewayOptions, 'folder'> = {}): Promise<Grown> {
  const databaseUrl = await postgres.createDatabase();
  const gateway = await startGateway({ folder: postgres.folder, databaseUrl, ...options });
  const next = everyTime();
  const paths: string[] = [];
  for (let n = 0; n < variants; n++) paths.push(await book(gateway, next()));
  return { gateway, databaseUrl, paths, nextBooking: next };
}

interface Line {
  readonly name: string;
  readonly yardstick: string;
  /** EHRs of the large one, each of which has its own jobs. Default: 1. */
  readonly ehrs?: number;
}

/** Compares reads, bookings and idle gateways. */
async function against(postgres: Postgres, large: Grown, small: Grown, line: Line): Promise<Result[]> {
  const { name, yardstick, ehrs = 1 } = line;
  // First: after a load, jobs work off what it has left.
  const [blocks, fewer] = await Promise.all([idleBlocks(large.databaseUrl), idleBlocks(small.databaseUrl)]);
  const ofReads = (it: Grown) => reads(it.gateway, ...it.paths);
  const reading = await compare(postgres, ofReads(large), ofReads(small), round);
  const ofBookings = (it: Grown) => writes(it.gateway, it.nextBooking, true);
  const booking = await compare(postgres, ofBookings(large), ofBookings(small), round);
  return [
    durationResult(`read, ${name}`, yardstick, mostAllowed, reading),
    durationResult(`book with a key, ${name}`, yardstick, mostAllowed, booking),
    {
      name: `idle gateway, ${name}`,
      measure: `blocks that its statements touch${ehrs > 1 ? ' for each EHR' : ''} ÷ ${yardstick}`,
      value: blocks / ehrs / fewer,
      reach: { atMost: mostAllowed },
      details: { 'blocks/s': blocks, 'yardstick blocks/s': fewer },
    },
  ];
}

/** Many EHRs in one process. */
const ehrs: Bench = {
  name: 'growth-ehrs',
  async run(postgres) {
    const results: Result[] = [];
    for (const count of [10, 100, 400]) {
      const large = await start(postgres, { emrs: Array.from({ length: count - 1 }, (_, n) => sandboxEmr(n)) });
      const small = await start(postgres);
      try {
        const line = { name: `${count} EHRs`, yardstick: 'with one', ehrs: count };
        results.push(...(await against(postgres, large, small, line)));
      } finally {
        await Promise.all([large.gateway.stop(), small.gateway.stop()]);
      }
    }
    return results;
  },
};

/** Grows the second of two equal gateways by SQL. */
function growing(
  name: string,
  sizes: readonly number[],
  what: string,
  fill: (count: number) => readonly string[],
): Bench {
  return {
    name,
    async run(postgres) {
      const [first = 0, ...more] = sizes;
      const [small, large] = [await start(postgres), await start(postgres)];
      try {
        await execute(small.databaseUrl, ...fill(first));
        const results: Result[] = [];
        let before = 0;
        for (const size of more) {
          await execute(large.databaseUrl, ...fill(size - before));
          before = size;
          const line = { name: `${size.toLocaleString('en')} ${what}`, yardstick: `${first.toLocaleString('en')}` };
          results.push(...(await against(postgres, large, small, line)));
        }
        return results;
      } finally {
        await Promise.all([small.gateway.stop(), large.gateway.stop()]);
      }
    },
  };
}

const rows = growing('growth-rows', [1_000, 30_000, 1_000_000], 'operations and events', operationsAndEvents);
const audit = growing('growth-audit', [1_000, isFull ? 50_000_000 : 2_000_000], 'audit entries', auditEntries);

/** Deliveries that wait for a receiver that never answers. */
const webhooks: Bench = {
  name: 'growth-webhooks',
  async run(postgres) {
    // It accepts requests and never responds.
    const receiver = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const { port } = receiver.address() as AddressInfo;
    const settings = { webhooks: { allow_http: true, allow_private_addresses: true } };
    const [small, large] = [await start(postgres, { settings }), await start(postgres, { settings })];
    try {
      for (const [it, count] of [
        [small, 10],
        [large, 10_000],
      ] as const) {
        await addEndpoint(it.gateway, `http://127.0.0.1:${port}/`);
        await execute(it.databaseUrl, ...pendingDeliveries(count));
      }
      return await against(postgres, large, small, { name: '10,000 pending deliveries', yardstick: 'with 10' });
    } finally {
      receiver.closeAllConnections();
      receiver.close();
      await Promise.all([small.gateway.stop(), large.gateway.stop()]);
    }
  },
};

async function addEndpoint({ url, clients }: Server, receiver: string): Promise<void> {
  const response = await fetch(`${url}/api/webhook-endpoints`, {
    method: 'POST',
    headers: { ...clients[0], 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver }),
  });
  if (!response.ok) throw new Error(await response.text());
}

export const growth: readonly Bench[] = [ehrs, manyEhrs, rows, audit, webhooks];
