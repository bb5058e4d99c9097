import type { Bench } from '../measure/bench.ts';
import { reads } from '../measure/load.ts';
import { book } from './book.ts';
import { everyTime, variants } from './bookings.ts';
import { loadResults, withPair } from './pair.ts';

/** Reads one appointment, against one prepared SELECT. */
export const read: Bench = {
  name: 'read',
  run: (postgres) =>
    withPair(postgres, {}, async ({ gateway, yardstick }) => {
      const next = everyTime();
      const paths: string[] = [];
      for (let n = 0; n < variants; n++) paths.push(await book(gateway, next()));
      const plain = paths.map((path) => path.slice(path.indexOf('/appointments/')));
      return loadResults(
        postgres,
        { ours: reads(gateway, ...paths), yardstick: reads(yardstick, ...plain) },
        {
          name: 'read one appointment',
          yardstick: 'one SELECT',
          reach: { cpu: 1.9, databaseCpu: 1.8, throughput: 0.5, p50: 3 },
        },
      );
    }),
};
