import type { Bench } from '../measure/bench.ts';
import { compare } from '../measure/compare.ts';
import { reads } from '../measure/load.ts';
import { book } from './book.ts';
import { appointments, everyTime } from './bookings.ts';
import { throughputResult, withPair } from './pair.ts';

/** Reads one appointment, against one prepared SELECT. */
export const read: Bench = {
  name: 'read',
  run: (postgres) =>
    withPair(postgres, {}, async ({ gateway, yardstick }) => {
      const id = await book(gateway, everyTime()());
      const comparison = await compare(
        postgres,
        reads(gateway, `${appointments}/${id}`),
        reads(yardstick, `/appointments/${id}`),
      );
      return [throughputResult('read one appointment', 'one SELECT', 0.7, comparison)];
    }),
};
