import { oslo } from '../../requests/bookings.ts';
import { idOf, isDone } from './appointment-writes.ts';
import type { Life, Living } from './living.ts';
import { createRecord } from './records.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;
const path = `${oslo}/resources/r-1/schedules`;
/** A resource can have a hundred. */
const mostSchedules = 60;

interface Schedule {
  readonly ends_at: string | null;
  readonly exceptions: readonly object[];
}

/** A schedule of one evening, which gets an exception and ends. */
export function scheduleLife(living: Living): Life {
  const { settle, read } = living.callers;
  let schedules = 0;

  return async () => {
    if (schedules >= mostSchedules) return;
    const day = new Date(Date.now() + (80 + ++schedules) * dayMilliseconds).toISOString().slice(0, 10);
    const [start, end] = [`${day}T20:00:00`, `${day}T22:00:00`];
    const made = await createRecord(
      living,
      {
        kind: 'schedule',
        operation: 'create_schedule',
        path,
        field: 'schedules',
        body: () => ({
          start_time: start,
          end_time: end,
          slot_minutes: 30,
          healthcare_service_ids: ['consultation'],
        }),
        nameOf: (listed) => String(listed.start).slice(0, 19),
      },
      start,
    );
    if (!isDone(made)) return;
    const id = idOf(made);
    const change = (kind: 'schedule exception' | 'schedule end', body: object, seen: (found: Schedule) => boolean) => {
      const [operation, below] =
        kind === 'schedule end' ? ['end_schedule', 'end'] : ['add_schedule_exception', 'exceptions'];
      const look = async () => {
        const found = await read<Schedule>(`${path}/${id}`);
        return found && seen(found) ? [id] : undefined;
      };
      const request = { method: 'POST' as const, path: `${path}/${id}/${below}`, body };
      return settle({ kind, operation: operation ?? '', subjects: [`${kind} of ${id}`], request, ids: [id], look });
    };
    const period = { start_time: start, end_time: `${day}T20:30:00` };
    const excepted = await change('schedule exception', period, ({ exceptions }) => exceptions.length > 0);
    if (excepted.told !== 'unknown') await change('schedule end', { end_time: start }, (it) => it.ends_at !== null);
  };
}
