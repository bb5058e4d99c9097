import { type CareUnitPlace, type Connection, inCareUnit } from './connection.ts';
import { type List, listOf } from './pages.ts';
import type {
  CallOptions,
  QueryOf,
  Schedule,
  ScheduleCreation,
  ScheduleEnd,
  ScheduleException,
  WriteOptions,
} from './types.ts';

/** The schedules of a resource. `resourceId` is sent in a header. */
export interface Schedules {
  list(resourceId: string, query?: QueryOf<'list_schedules'>, options?: CallOptions): List<Schedule>;
  get(resourceId: string, scheduleId: string, options?: CallOptions): Promise<Schedule>;
  create(resourceId: string, schedule: ScheduleCreation, options?: WriteOptions): Promise<Schedule>;
  /** Removes the occurrences from `end_time` on. */
  end(resourceId: string, scheduleId: string, end: ScheduleEnd, options?: WriteOptions): Promise<Schedule>;
  /** Takes a period out of the schedule. */
  addException(
    resourceId: string,
    scheduleId: string,
    exception: ScheduleException,
    options?: WriteOptions,
  ): Promise<Schedule>;
}

export function scheduleMethods({ raw, caller }: Connection, place: CareUnitPlace): Schedules {
  const all = `${inCareUnit}/resources/{resource_id}/schedules` as const;
  const one = `${all}/{schedule_id}` as const;
  return {
    list: (resource_id, query = {}, options) =>
      listOf('schedules', query, (cursor) =>
        caller.read(options, (init) =>
          raw.GET(all, { ...init, params: { path: { ...place, resource_id }, query: { ...query, ...cursor } } }),
        ),
      ),
    get: (resource_id, schedule_id, options) =>
      caller.read(options, (init) =>
        raw.GET(one, { ...init, params: { path: { ...place, resource_id, schedule_id } } }),
      ),
    create: (resource_id, body, options) =>
      caller.write(options, (init) => raw.POST(all, { ...init, params: { path: { ...place, resource_id } }, body })),
    end: (resource_id, schedule_id, body, options) =>
      caller.write(options, (init) =>
        raw.POST(`${one}/end`, { ...init, params: { path: { ...place, resource_id, schedule_id } }, body }),
      ),
    addException: (resource_id, schedule_id, body, options) =>
      caller.write(options, (init) =>
        raw.POST(`${one}/exceptions`, { ...init, params: { path: { ...place, resource_id, schedule_id } }, body }),
      ),
  };
}
