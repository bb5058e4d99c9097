import { type CareUnitPlace, type Connection, inCareUnit } from './connection.ts';
import { type List, listOf } from './pages.ts';
import type { CallOptions, Patient, PatientAccess, QueryOf } from './types.ts';

/** The patients of the EHR. */
export interface Patients {
  /** @param patientId `p-3`, `emr_id:p-3`, `no_personal_number:15859000026`, … It is sent in a header. */
  get(patientId: string, options?: CallOptions): Promise<Patient>;
  /**
   * Who had access to the patient's record through the gateway. Newest first.
   *
   * @param patientId as in `get`
   */
  accesses(patientId: string, query?: QueryOf<'list_accesses'>, options?: CallOptions): List<PatientAccess>;
}

export function patientMethods({ raw, caller }: Connection, place: CareUnitPlace): Patients {
  const one = `${inCareUnit}/patients/{patient_id}` as const;
  return {
    get: (patient_id, options) =>
      caller.read(options, (init) => raw.GET(one, { ...init, params: { path: { ...place, patient_id } } })),
    accesses: (patient_id, query = {}, options) =>
      listOf('accesses', query, (cursor) =>
        caller.read(options, (init) =>
          raw.GET(`${one}/accesses`, {
            ...init,
            params: { path: { ...place, patient_id }, query: { ...query, ...cursor } },
          }),
        ),
      ),
  };
}
