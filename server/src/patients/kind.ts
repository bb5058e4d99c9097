import type { Patient } from '@crossward/connector-kit';
import { Problem } from '../problems/problem.ts';
import type { Work, WriteKind } from '../writes/write-kind.ts';
import { type PatientPlan, patientKindName } from './plan.ts';
import { patientBody, patientPath, withoutContact } from './representation.ts';
import { isSamePerson } from './same-person.ts';

interface Outcome {
  readonly patient: Patient;
  readonly isNew: boolean;
}

/**
 * Finds a patient or creates one. The EHR never has two with the same identifier, so it can be asked again, with any operation
 * id, and what it has is the outcome.
 */
export const patientKind: WriteKind<PatientPlan, Outcome> = {
  name: patientKindName,
  callsEhr: ({ found }) => found === null,
  patientsOf: ({ found }) => (found ? [found.id] : []),
  findsById: () => true,
  canPerform: (ehr) => ehr.offers('createPatient'),
  perform: async (work, { named, found }) =>
    found
      ? { patient: found, isNew: false }
      : work.call('createPatient', {
          operationId: work.ehrId(),
          careUnit: work.careUnit,
          onNoResponse: () => work.onNoResponse(),
          ...named,
        }),
  async lookUp(work, { named }) {
    const patient = await work.call('findPatient', named.identifier).catch(noneOfSeveral);
    return patient ? { outcome: { patient, isNew: true } } : 'nothing';
  },
  // Somebody else may use the record by now, and a patient with this number is what was asked for.
  compensate: async () => undefined,
  hasRecords: () => true,
  respond,
  // Somebody else can have created the patient since the plan, with another name.
  async record(_tx, work, plan, outcome) {
    if (!plan.found && !isSamePerson(outcome.patient, plan.named)) throw new Problem('patient_mismatch');
    return respond(work, plan, outcome);
  },
};

/** Several records have the number by now. Nothing is left to do, and the next request is told so. */
function noneOfSeveral(error: unknown): null {
  if (error instanceof Problem && error.reason === 'patient_ambiguous') return null;
  throw error;
}

function respond({ ehr, careUnit }: Work, { showsContact }: PatientPlan, { patient, isNew }: Outcome) {
  const whole = patientBody(patient, careUnit);
  const body = showsContact ? whole : withoutContact(whole);
  if (!isNew) return { status: 200, body };
  return { status: 201, headers: { location: patientPath(ehr.id, careUnit.id, patient) }, body };
}
