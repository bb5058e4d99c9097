import { type CareUnitPlace, type Connection, inCareUnit } from './connection.ts';
import { type List, listOf } from './pages.ts';
import type { CallOptions, QueryOf, Resource } from './types.ts';

/** The resources of the care unit. */
export interface Resources {
  /** The practitioners, rooms and devices that can be booked. */
  list(query?: QueryOf<'list_resources'>, options?: CallOptions): List<Resource>;
  /** @param resourceId `r-1`, `emr_id:r-1`, `hsa_id:SE0000000000-1001`, … It is sent in a header. */
  get(resourceId: string, options?: CallOptions): Promise<Resource>;
}

export function resourceMethods({ raw, caller }: Connection, place: CareUnitPlace): Resources {
  return {
    list: (query = {}, options) =>
      listOf('resources', query, (cursor) =>
        caller.read(options, (init) =>
          raw.GET(`${inCareUnit}/resources`, { ...init, params: { path: place, query: { ...query, ...cursor } } }),
        ),
      ),
    get: (resource_id, options) =>
      caller.read(options, (init) =>
        raw.GET(`${inCareUnit}/resources/{resource_id}`, { ...init, params: { path: { ...place, resource_id } } }),
      ),
  };
}
