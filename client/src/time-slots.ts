import { type CareUnitPlace, type Connection, inCareUnit } from './connection.ts';
import { type List, listOf } from './pages.ts';
import type {
  CallOptions,
  FoundTimeSlot,
  QueryOf,
  TimeSlot,
  TimeSlotSearch,
  TimeSlotWatch,
  TimeSlotWatchCreation,
  UnansweredCareUnit,
  WriteOptions,
} from './types.ts';

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

/** Searches that the gateway repeats: an event `timeslot.found` tells of a time that was not there before. */
export interface TimeSlotWatches {
  /** The watches of the client that have not ended. */
  list(query?: QueryOf<'list_timeslot_watches'>, options?: CallOptions): List<TimeSlotWatch>;
  get(id: string, options?: CallOptions): Promise<TimeSlotWatch>;
  create(watch: TimeSlotWatchCreation, options?: WriteOptions): Promise<TimeSlotWatch>;
  delete(id: string, options?: WriteOptions): Promise<void>;
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

export function timeSlotWatchMethods({ raw, caller }: Connection): TimeSlotWatches {
  const all = '/api/watches';
  const one = `${all}/{watch_id}` as const;
  const at = (watch_id: string) => ({ params: { path: { watch_id } } });
  return {
    list: (query = {}, options) =>
      listOf('watches', query, (cursor) =>
        caller.read(options, (init) => raw.GET(all, { ...init, params: { query: { ...query, ...cursor } } })),
      ),
    get: (id, options) => caller.read(options, (init) => raw.GET(one, { ...init, ...at(id) })),
    create: (body, options) => caller.write(options, (init) => raw.POST(all, { ...init, body })),
    delete: async (id, options) => {
      await caller.write(options, (init) => raw.DELETE(one, { ...init, ...at(id) }));
    },
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
