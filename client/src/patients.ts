import { type CareUnitPlace, type Connection, inCareUnit } from './connection.ts';
import { type List, listOf } from './pages.ts';
import type {
  CallOptions,
  Patient,
  PatientAccess,
  PatientCreation,
  PatientSearch,
  QueryOf,
  WriteOptions,
} from './types.ts';

/** The patients of the EHR. */
export interface Patients {
  /** @param patientId `p-3`, `emr_id:p-3`, `no_personal_number:15859000026`, … It is sent in a header. */
  get(patientId: string, options?: CallOptions): Promise<Patient>;
  /** By family name and birth date, or by phone number. At most 20. */
  search(search: PatientSearch, options?: CallOptions): Promise<readonly Patient[]>;
  /**
   * Finds the patient with this identifier, family name and birth date, or creates one.
   *
   * @throws {ProblemError} `patient_mismatch`: the EHR has the identifier with another name or birth date;
   *   `patient_ambiguous`: it has several records with it
   */
  findOrCreate(patient: PatientCreation, options?: WriteOptions): Promise<Patient>;
  /**
   * Who had access to the patient's record through the gateway. Newest first.
   *
   * @param patientId as in `get`
   */
  accesses(patientId: string, query?: QueryOf<'list_accesses'>, options?: CallOptions): List<PatientAccess>;
}

export function patientMethods({ raw, caller }: Connection, place: CareUnitPlace): Patients {
  const all = `${inCareUnit}/patients` as const;
  const one = `${all}/{patient_id}` as const;
  return {
    get: (patient_id, options) =>
      caller.read(options, (init) => raw.GET(one, { ...init, params: { path: { ...place, patient_id } } })),
    search: async (body, options) =>
      (await caller.read(options, (init) => raw.POST(`${all}/search`, { ...init, params: { path: place }, body })))
        .patients,
    findOrCreate: (body, options) =>
      caller.write(options, (init) => raw.POST(all, { ...init, params: { path: place }, body })),
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
