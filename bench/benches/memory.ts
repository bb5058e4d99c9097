import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../measure/bench.ts';
import { startGateway } from '../measure/gateway.ts';
import { type Creating, type Load, type Request, reads, send } from '../measure/load.ts';
import { usageOf } from '../measure/processes.ts';
import type { Server } from '../measure/server.ts';
import { book } from './book.ts';
import { appointments, careUnit, days, everyTime } from './bookings.ts';

const requestCount = 200_000;
const mebibyte = 1024 * 1024;
/** The gateway is idle for this long before its memory is read. */
const idleMilliseconds = 2000;

/** Resident memory after many mixed requests: eight reads, a list and a booking in ten. */
export const memory: Bench = {
  name: 'memory',
  async run(postgres) {
    const gateway = await startGateway({ folder: postgres.folder, databaseUrl: await postgres.createDatabase() });
    try {
      const atStart = await residentMebibytes(gateway);
      const next = everyTime();
      const load = mixed(gateway, await book(gateway, next()), next);
      await sendMany(load, requestCount / 2);
      const half = await residentMebibytes(gateway);
      await sendMany(load, requestCount / 2);
      const end = await residentMebibytes(gateway);
      return [
        {
          name: `memory after ${requestCount.toLocaleString('en')} requests`,
          measure: 'resident, MiB',
          value: end,
          reach: { atMost: 140 },
          details: { 'at start': atStart, 'after half': half },
        },
        {
          name: 'growth in the second half',
          measure: 'resident memory ÷ after half of the requests',
          value: end / half,
          reach: { atMost: 1.03 },
          details: {},
        },
      ];
    } finally {
      await gateway.stop();
    }
  },
};

async function residentMebibytes({ pid }: Server): Promise<number> {
  await sleep(idleMilliseconds);
  return (await usageOf(pid)).residentBytes / mebibyte;
}

async function sendMany(load: Load, count: number): Promise<void> {
  let sent = 0;
  await send(load, 32, () => sent++ >= count);
}

function mixed(server: Server, path: string, nextBooking: () => Creating): Load {
  const get = (path: string): Request => reads(server, path).next();
  const [appointment, patient] = [get(path), get(`${careUnit}/patients/p-3`)];
  const timeSlots = get(`${careUnit}/timeslots?${days(1, 8)}&resource_id=r-5`);
  const list = get(`${appointments}?${days(7, 14)}&patient_id=p-3`);
  const turn: readonly (Request | 'booking')[] = [
    ...[appointment, patient, appointment, timeSlots, appointment],
    ...[patient, appointment, list, appointment, 'booking' as const],
  ];
  let index = 0;
  return {
    server,
    next() {
      const request = turn[index++ % turn.length] ?? 'booking';
      if (request !== 'booking') return request;
      const headers = { 'idempotency-key': crypto.randomUUID() };
      return { method: 'POST', headers, ...nextBooking() };
    },
  };
}
