import { type CareUnitPlace, type Connection, inCareUnit } from './connection.ts';
import { type List, listOf } from './pages.ts';
import type { CallOptions, QueryOf, TimeSlot } from './types.ts';

/** The free time slots of the care unit. */
export interface TimeSlots {
  /** The free time slots, by start. */
  list(query: QueryOf<'list_timeslots'>, options?: CallOptions): List<TimeSlot>;
}

export function timeSlotMethods({ raw, caller }: Connection, place: CareUnitPlace): TimeSlots {
  return {
    list: (query, options) =>
      listOf('timeslots', query, (cursor) =>
        caller.read(options, (init) =>
          raw.GET(`${inCareUnit}/timeslots`, { ...init, params: { path: place, query: { ...query, ...cursor } } }),
        ),
      ),
  };
}
