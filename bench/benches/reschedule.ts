import { Client } from 'undici';
import { timed } from '../measure/added-time.ts';
import type { Bench } from '../measure/bench.ts';
import { startGateway } from '../measure/gateway.ts';
import { type Request, sendOne } from '../measure/load.ts';
import { execute } from '../measure/postgres.ts';
import { spread } from '../measure/statistics.ts';
import { appointments, type Creation } from './bookings.ts';

const count = 100;
const slotMilliseconds = 15 * 60_000;
const dayMilliseconds = 24 * 60 * 60 * 1000;
const rounds = 3;

/** A continuous reschedule of 100 appointments, against 100 single moves, one after the other. */
export const reschedule: Bench = {
  name: 'reschedule',
  async run(postgres) {
    const databaseUrl = await postgres.createDatabase();
    const gateway = await startGateway({ folder: postgres.folder, databaseUrl });
    const client = new Client(gateway.url);
    const send = (request: Request) => sendOne(client, gateway, request);
    try {
      await execute(databaseUrl, openAroundTheClock);
      const first = midnight(30);
      const ids: string[] = [];
      for (let n = 0; n < count; n++) {
        const created = await send({
          method: 'POST',
          path: appointments,
          body: creation(first + n * slotMilliseconds),
        });
        ids.push((JSON.parse(created) as { readonly id: string }).id);
      }
      const [together, singly]: [number[], number[]] = [[], []];
      for (let turn = 0; turn < rounds; turn++) {
        const start = first + (turn * 4 + 2) * dayMilliseconds;
        together.push(await timed(() => send(moveAll(ids, start))));
        singly.push(await timed(() => sendEach(send, ids, start + 2 * dayMilliseconds)));
      }
      return [
        {
          name: `continuous reschedule of ${count}`,
          measure: `duration of ${count} moves ÷ duration`,
          value: spread(together.map((milliseconds, turn) => (singly[turn] ?? Number.NaN) / milliseconds)),
          reach: { atLeast: 10 },
          details: { 'together ms': spread(together).median, 'singly ms': spread(singly).median },
        },
      ];
    } finally {
      await client.close();
      await gateway.stop();
    }
  },
};

/** One resource is open around the clock, in quarters of an hour. */
const openAroundTheClock = `
  DELETE FROM sandbox.schedules WHERE emr = 'sandbox-no' AND resource_id = 'r-1';
  INSERT INTO sandbox.schedules
    (emr, id, care_unit_id, resource_id, healthcare_service_ids, local_start, local_end, slot_minutes, recurrence)
  VALUES ('sandbox-no', 'always', 'oslo-sentrum', 'r-1', '{consultation}', '2024-01-01T00:00:00', '2024-01-02T00:00:00',
    15, 'FREQ=DAILY')`;

/** Midnight UTC some days from now. Oslo is an hour or two ahead, which does not matter around the clock. */
function midnight(inDays: number): number {
  return Math.floor(Date.now() / dayMilliseconds + inDays) * dayMilliseconds;
}

function creation(start: number): Creation {
  const local = (time: number) => new Date(time).toISOString().slice(0, 19);
  return {
    patient_id: 'p-3',
    resource_id: 'r-1',
    healthcare_service_id: 'consultation',
    start_time: local(start),
    end_time: local(start + slotMilliseconds),
  };
}

function moveAll(ids: readonly string[], start: number): Request {
  return { method: 'PATCH', path: appointments, body: { ids, ...range(start, count) } };
}

async function sendEach(
  send: (request: Request) => Promise<unknown>,
  ids: readonly string[],
  start: number,
): Promise<void> {
  for (const [index, id] of ids.entries()) {
    await send({ method: 'PATCH', path: `${appointments}/${id}`, body: range(start + index * slotMilliseconds, 1) });
  }
}

function range(start: number, slots: number) {
  return { start: new Date(start).toISOString(), end: new Date(start + slots * slotMilliseconds).toISOString() };
}
