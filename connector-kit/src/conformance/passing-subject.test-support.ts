import { sandboxSubject } from '../../../connectors/sandbox/test/conformance-subject.ts';
import { createTestDatabase } from '../../../test/database/database.ts';
import { withPassingPatients } from '../../../test/ehrs/passing-ehr.ts';
import type { Connector } from '../connector.ts';
import type { Subject } from './index.ts';

export const patient = [{ type: 'se_personal_number', value: '191212121212' }] as const;
const needs = { patientDetails: 'required', slotsByPatient: 'required' } as const;

/** A Swedish sandbox that cannot look up patients. */
export async function passingSubject(claims: Parameters<typeof withPassingPatients>[2] = needs): Promise<Subject> {
  const { database, dispose } = await createTestDatabase();
  const subject = await sandboxSubject('passing', database.pool);
  const made = new WeakMap<Connector, Connector>();
  const passing = (right: Connector) => {
    const connector =
      made.get(right) ?? withPassingPatients(right, { patients: [], details: [], searches: [] }, claims);
    made.set(right, connector);
    return connector;
  };
  // What it books is for a patient without a number.
  const { take: _, ...directChanges } = subject.directChanges ?? {};
  const unknownPatients = [{ type: 'se_personal_number', value: '197010632392' }] as const;
  const facts = { ...subject.facts, patient, otherPatientId: 'se_personal_number:197010632391', unknownPatients };
  return Object.create(subject, {
    connector: { get: () => passing(subject.connector) },
    second: { get: () => subject.second && passing(subject.second) },
    directChanges: { value: directChanges },
    facts: { value: facts },
    close: { value: dispose },
  });
}
