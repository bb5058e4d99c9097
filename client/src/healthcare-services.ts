import { type CareUnitPlace, type Connection, inCareUnit } from './connection.ts';
import { type List, listOf } from './pages.ts';
import type { CallOptions, HealthcareService, QueryOf, SearchableServices } from './types.ts';

/** The healthcare services of the care unit. */
export interface HealthcareServices {
  /** The healthcare services that can be booked, by id. */
  list(query?: QueryOf<'list_healthcare_services'>, options?: CallOptions): List<HealthcareService>;
}

export function healthcareServiceMethods({ raw, caller }: Connection, place: CareUnitPlace): HealthcareServices {
  return {
    list: (query = {}, options) =>
      listOf('healthcare_services', query, (cursor) =>
        caller.read(options, (init) =>
          raw.GET(`${inCareUnit}/healthcare-services`, {
            ...init,
            params: { path: place, query: { ...query, ...cursor } },
          }),
        ),
      ),
  };
}

/** What can be searched for in all care units that the client may use. */
export interface Services {
  /** The services, each with the care units that have it, and the care units whose services are not known now. */
  list(options?: CallOptions): Promise<SearchableServices>;
}

export function serviceMethods({ raw, caller }: Connection): Services {
  return { list: (options) => caller.read(options, (init) => raw.GET('/api/services', { ...init })) };
}
