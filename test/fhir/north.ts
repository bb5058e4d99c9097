import { timeZone } from '../../connectors/fhir-r4/fake/data-set.ts';
import { resolvePatientPage } from '../../server/src/config/schema/patient-page.ts';
import type { Policies } from '../../server/src/config/schema/policies.ts';

/** The care unit of our own FHIR server, in a gateway's configuration. */
export function northCareUnit(policies: Policies) {
  return {
    id: 'north',
    name: 'Nord',
    time_zone: timeZone,
    language: 'sv',
    policies,
    patient_page: resolvePatientPage(),
  } as const;
}
