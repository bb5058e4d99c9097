import type { Connection } from './connection.ts';
import { type List, listOf } from './pages.ts';
import type { CallOptions, CareUnit, Emr, QueryOf } from './types.ts';

/** The EHRs of the gateway. */
export interface Emrs {
  /** The EHRs that the client may use. */
  list(query?: QueryOf<'list_emrs'>, options?: CallOptions): List<Emr>;
  get(emr: string, options?: CallOptions): Promise<Emr>;
}

/** The care units of an EHR that the client may use. */
export interface CareUnits {
  list(query?: QueryOf<'list_care_units'>, options?: CallOptions): List<CareUnit>;
  get(careUnitId: string, options?: CallOptions): Promise<CareUnit>;
}

export function emrMethods({ raw, caller }: Connection): Emrs {
  return {
    list: (query = {}, options) =>
      listOf('emrs', query, (cursor) =>
        caller.read(options, (init) => raw.GET('/api/emrs', { ...init, params: { query: { ...query, ...cursor } } })),
      ),
    get: (emr, options) =>
      caller.read(options, (init) => raw.GET('/api/emrs/{emr}', { ...init, params: { path: { emr } } })),
  };
}

export function careUnitMethods({ raw, caller }: Connection, emr: string): CareUnits {
  return {
    list: (query = {}, options) =>
      listOf('care_units', query, (cursor) =>
        caller.read(options, (init) =>
          raw.GET('/api/emrs/{emr}/care-units', { ...init, params: { path: { emr }, query: { ...query, ...cursor } } }),
        ),
      ),
    get: (care_unit_id, options) =>
      caller.read(options, (init) =>
        raw.GET('/api/emrs/{emr}/care-units/{care_unit_id}', { ...init, params: { path: { emr, care_unit_id } } }),
      ),
  };
}
