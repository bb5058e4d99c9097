import type { Bench } from '../measure/bench.ts';
import { compare } from '../measure/compare.ts';
import { startGateway } from '../measure/gateway.ts';
import { reads, writes } from '../measure/load.ts';
import { book } from './book.ts';
import { everyTime, variants } from './bookings.ts';
import { throughputResult } from './pair.ts';

/** Two gateway processes against one, on one database. The gain depends on the processors of the machine. */
export const workers: Bench = {
  name: 'workers',
  async run(postgres) {
    const databaseUrl = await postgres.createDatabase();
    const one = await startGateway({ folder: postgres.folder, databaseUrl });
    const two = await startGateway({ folder: postgres.folder, databaseUrl, variables: { CROSSWARD_WORKERS: '2' } });
    try {
      const next = everyTime();
      const paths: string[] = [];
      for (let n = 0; n < variants; n++) paths.push(await book(one, next()));
      const reading = await compare(postgres, reads(two, ...paths), reads(one, ...paths));
      const booking = await compare(postgres, writes(two, next, true), writes(one, next, true));
      return [
        throughputResult('read, two processes', 'one process', undefined, reading),
        throughputResult('book with a key, two processes', 'one process', undefined, booking),
      ];
    } finally {
      await Promise.all([one.stop(), two.stop()]);
    }
  },
};
