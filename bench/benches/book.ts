import type { Bench, Result } from '../measure/bench.ts';
import { type Comparison, compare } from '../measure/compare.ts';
import { writes } from '../measure/load.ts';
import type { Server } from '../measure/server.ts';
import { appointments, type Creation, everyTime } from './bookings.ts';
import { throughputResult, withPair } from './pair.ts';

const memoryGateway = 'exec sh server/node.sh bench/servers/memory-gateway.ts';

/** Books with an `Idempotency-Key`, against one INSERT under the same exclusion constraint. */
export const booking: Bench = {
  name: 'book',
  run: (postgres) =>
    withPair(postgres, {}, async ({ gateway, yardstick }) => {
      const comparison = await compare(
        postgres,
        writes(gateway, appointments, everyTime(), true),
        writes(yardstick, '/insert', everyTime()),
      );
      return [throughputResult('book with a key', 'one INSERT', 0.35, comparison), processorTime(comparison)];
    }),
};

/** The same in front of an EHR that responds at once, against one INSERT and one UPDATE. */
export const bookingInMemory: Bench = {
  name: 'book-memory',
  run: (postgres) =>
    withPair(postgres, { command: memoryGateway }, async ({ gateway, yardstick }) => {
      const comparison = await compare(
        postgres,
        writes(gateway, appointments, everyTime(), true),
        writes(yardstick, '/insert-and-update', everyTime(), true),
      );
      return [throughputResult('book with a key, EHR in memory', 'one INSERT and one UPDATE', 0.6, comparison)];
    }),
};

function processorTime({ ours }: Comparison): Result {
  return {
    name: 'book with a key',
    measure: 'processor time of the gateway, ms',
    value: ours.cpu,
    reach: { atMost: 0.8 },
    details: {},
  };
}

/** Books one time and returns the appointment's id. */
export async function book({ url, headers }: Server, creation: Creation): Promise<string> {
  const response = await fetch(`${url}${appointments}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(creation),
  });
  if (!response.ok) throw new Error(await response.text());
  const { id } = (await response.json()) as { readonly id: string };
  return id;
}
