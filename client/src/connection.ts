import type { Caller } from './caller.ts';
import type { RawClient } from './raw.ts';

/** Sends the requests of the client's methods. */
export interface Connection {
  readonly raw: RawClient;
  readonly caller: Caller;
}

/** A care unit, as the path names it. */
export interface CareUnitPlace {
  readonly emr: string;
  readonly care_unit_id: string;
}

export const inCareUnit = '/api/emrs/{emr}/care-units/{care_unit_id}';
