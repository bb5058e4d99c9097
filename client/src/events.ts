import type { Connection } from './connection.ts';
import type { CallOptions, EventPage, QueryOf } from './types.ts';

/** Events of appointments, messages and EHRs. */
export interface Events {
  /**
   * Reads events, the oldest first. Continue with `next_after` of the response as `after`: at once if `has_more`, otherwise
   * after a pause.
   */
  read(query?: QueryOf<'list_events'>, options?: CallOptions): Promise<EventPage>;
}

export function eventMethods({ raw, caller }: Connection): Events {
  return {
    read: (query = {}, options) =>
      caller.read(options, (init) => raw.GET('/api/events', { ...init, params: { query } })),
  };
}
