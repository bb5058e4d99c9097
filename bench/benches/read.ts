import type { Bench } from '../measure/bench.ts';
import { compare } from '../measure/compare.ts';
import { reads } from '../measure/load.ts';
import { book } from './book.ts';
import { appointments, everyTime, variants } from './bookings.ts';
import { throughputResult, withPair } from './pair.ts';

/** Reads one appointment, against one prepared SELECT. */
export const read: Bench = {
  name: 'read',
  run: (postgres) =>
    withPair(postgres, {}, async ({ gateway, yardstick }) => {
      const next = everyTime();
      const ids: string[] = [];
      for (let n = 0; n < variants; n++) ids.push(await book(gateway, next()));
      const comparison = await compare(
        postgres,
        reads(gateway, ...ids.map((id) => `${appointments}/${id}`)),
        reads(yardstick, ...ids.map((id) => `/appointments/${id}`)),
      );
      return [throughputResult('read one appointment', 'one SELECT', 0.7, comparison)];
    }),
};
