import type { Bench } from '../measure/bench.ts';
import { compare } from '../measure/compare.ts';
import { writes } from '../measure/load.ts';
import type { Server } from '../measure/server.ts';
import { type Booking, everyTime } from './bookings.ts';
import { loadResults, throughputResult, withPair } from './pair.ts';

export const memoryGateway = 'exec sh server/node.sh bench/servers/memory-gateway.ts';

/** Books with an `Idempotency-Key`, against one INSERT under the same exclusion constraint. */
export const booking: Bench = {
  name: 'book',
  run: (postgres) =>
    withPair(postgres, {}, ({ gateway, yardstick }) =>
      loadResults(
        postgres,
        { ours: writes(gateway, everyTime(), true), yardstick: writes(yardstick, plainly('/insert')) },
        {
          name: 'book with a key',
          yardstick: 'one INSERT',
          reach: { cpu: 4.2, databaseCpu: 2.3, throughput: 0.35, p50: 4.5 },
        },
      ),
    ),
};

/** The same in front of an EHR that responds at once, against one INSERT and one UPDATE. */
export const bookingInMemory: Bench = {
  name: 'book-memory',
  run: (postgres) =>
    withPair(postgres, { command: memoryGateway }, async ({ gateway, yardstick }) => {
      const comparison = await compare(
        postgres,
        writes(gateway, everyTime(), true),
        writes(yardstick, plainly('/insert-and-update'), true),
      );
      return [throughputResult('book with a key, EHR in memory', 'one INSERT and one UPDATE', undefined, comparison)];
    }),
};

/** The same bookings for a route of the yardstick. */
function plainly(path: string): () => Booking {
  const next = everyTime();
  return () => ({ ...next(), path });
}

/** Books one time and returns the path of the appointment. */
export async function book({ url, clients }: Server, { path, body }: Booking): Promise<string> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { ...clients[0], 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  const { id } = (await response.json()) as { readonly id: string };
  return `${path}/${id}`;
}
