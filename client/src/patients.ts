import { type CareUnitPlace, type Connection, inCareUnit } from './connection.ts';
import type { CallOptions, Patient } from './types.ts';

/** The patients of the EHR. */
export interface Patients {
  /** @param patientId `p-3`, `emr_id:p-3`, `no_personal_number:15859000026`, … It is sent in a header. */
  get(patientId: string, options?: CallOptions): Promise<Patient>;
}

export function patientMethods({ raw, caller }: Connection, place: CareUnitPlace): Patients {
  return {
    get: (patient_id, options) =>
      caller.read(options, (init) =>
        raw.GET(`${inCareUnit}/patients/{patient_id}`, { ...init, params: { path: { ...place, patient_id } } }),
      ),
  };
}
