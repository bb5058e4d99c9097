import { type CareUnitPlace, type Connection, inCareUnit } from './connection.ts';
import { type List, listOf } from './pages.ts';
import type { CallOptions, FoundTimeSlot, QueryOf, TimeSlot, TimeSlotSearch, UnansweredCareUnit } from './types.ts';

/** The free time slots of the care unit. */
export interface TimeSlots {
  /** The free time slots, by start. */
  list(query: QueryOf<'list_timeslots'>, options?: CallOptions): List<TimeSlot>;
}

/** The free time slots of all care units that the client may use. */
export interface TimeSlotsAnywhere {
  /** The first free time slots, by start, over all pages. */
  search(search: TimeSlotSearch, options?: SearchOptions): List<FoundTimeSlot>;
}

export interface SearchOptions extends CallOptions {
  /** Called for each page with the care units of which slots may be missing, if there are any. */
  onUnanswered?(careUnits: readonly UnansweredCareUnit[]): void;
}

export function timeSlotSearchMethods({ raw, caller }: Connection): TimeSlotsAnywhere {
  return {
    search: (search, options) =>
      listOf('timeslots', search, async (cursor) => {
        const body = { ...search, ...cursor };
        const page = await caller.read(options, (init) => raw.POST('/api/timeslots/search', { ...init, body }));
        if (page.unanswered.length > 0) options?.onUnanswered?.(page.unanswered);
        return page;
      }),
  };
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
