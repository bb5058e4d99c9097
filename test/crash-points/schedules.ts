import { expect } from 'vitest';
import { oslo } from '../requests/bookings.ts';
import type { Case, Operation } from './operation.ts';
import { dayMilliseconds, type World } from './world.ts';

const schedulesPath = `${oslo}/resources/emr_id%3Ar-1/schedules`;

interface Schedule {
  readonly id: string;
  readonly start: string;
  readonly ends_at: string | null;
  readonly exceptions: readonly object[];
}

let scheduledDays = 0;

/** The evening of another day for each schedule. */
function scheduleCreation() {
  const day = new Date(Date.now() + (60 + ++scheduledDays) * dayMilliseconds).toISOString().slice(0, 10);
  return {
    start_time: `${day}T18:00:00`,
    end_time: `${day}T19:00:00`,
    slot_minutes: 30,
    healthcare_service_ids: ['consultation'],
  };
}

const isSame = (start: string | null, local: string) => start?.startsWith(local) === true;

async function schedulesOf(world: World): Promise<readonly Schedule[]> {
  const { body } = await world.done({ method: 'GET', path: `${schedulesPath}?limit=500` });
  return (body as unknown as { schedules: Schedule[] }).schedules;
}

/** Changes a new schedule. */
async function scheduleChange(
  world: World,
  kind: 'end' | 'exceptions',
  bodyOn: (day: string) => object,
  isDone: (schedule: Schedule) => boolean,
): Promise<Case> {
  const creation = scheduleCreation();
  const { id } = (await world.done({ method: 'POST', path: schedulesPath, body: creation })).body;
  const now = async () => {
    const [schedule] = (await schedulesOf(world)).filter((it) => it.id === id);
    if (!schedule) throw new Error('The schedule is not there any more');
    return schedule;
  };
  return {
    request: { method: 'POST', path: `${schedulesPath}/${id}/${kind}`, body: bodyOn(creation.start_time.slice(0, 10)) },
    status: 200,
    async expectDone({ body }) {
      expect(await now()).toEqual(body);
      expect(isDone(await now())).toBe(true);
    },
    expectDoneWithoutRetry: async () => expect(isDone(await now())).toBe(true),
    expectNothingDone: async () => expect(isDone(await now())).toBe(false),
  };
}

/** Writes to schedules. */
export const schedules: readonly Operation[] = [
  {
    name: 'a schedule',
    completesAfter: 'intent',
    every: 2,
    async prepare(world) {
      const creation = scheduleCreation();
      const found = async () => (await schedulesOf(world)).filter((it) => isSame(it.start, creation.start_time));
      return {
        request: { method: 'POST', path: schedulesPath, body: creation },
        status: 201,
        async expectDone({ body, headers }) {
          expect(headers.get('location')).toBe(`${schedulesPath}/${body.id}`);
          expect(await found()).toEqual([body]);
        },
        expectDoneWithoutRetry: async () => expect(await found()).toHaveLength(1),
        expectNothingDone: async () => expect(await found()).toEqual([]),
      };
    },
  },
  {
    name: 'an end of a schedule',
    completesAfter: 'intent',
    every: 2,
    prepare: (world) =>
      scheduleChange(
        world,
        'end',
        (day) => ({ end_time: `${day}T18:00:00` }),
        ({ ends_at }) => ends_at !== null,
      ),
  },
  {
    name: 'an exception of a schedule',
    completesAfter: 'intent',
    every: 2,
    prepare: (world) =>
      scheduleChange(
        world,
        'exceptions',
        (day) => ({ start_time: `${day}T18:30:00`, end_time: `${day}T19:00:00` }),
        ({ exceptions }) => exceptions.length === 1,
      ),
  },
];
