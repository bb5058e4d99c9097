import { timeZone } from '../../connectors/fhir-r4/fake/data-set.ts';
import type { FakeServer } from '../../connectors/fhir-r4/fake/server.ts';
import type { FhirSettings } from '../../connectors/fhir-r4/src/settings.ts';
import { settingsFor } from '../../connectors/fhir-r4/test/subject.ts';
import type { Configuration } from '../../server/src/config/configuration.ts';
import { resolveConnection } from '../../server/src/config/schema/connection.ts';
import { resolvePatientPage } from '../../server/src/config/schema/patient-page.ts';
import { type PoliciesInFile, resolvePolicies } from '../../server/src/config/schema/policies.ts';

/** An EHR of a test: the FHIR connector in front of our own server, with the care units `north` and `south`. */
export function fhirEhr(
  id: string,
  { url }: Pick<FakeServer, 'url'>,
  settings: Partial<FhirSettings> = {},
  policiesInFile: PoliciesInFile = {},
) {
  const policies = resolvePolicies(policiesInFile);
  const careUnit = { time_zone: timeZone, language: 'sv', policies, patient_page: resolvePatientPage() } as const;
  return {
    id,
    name: id,
    connector: 'fhir-r4',
    settings: settingsFor(url, settings),
    synthetic_identifiers: true,
    connection: resolveConnection({ allow_private_addresses: true }),
    policies,
    care_units: ['north', 'south'].map((place) => ({
      ...careUnit,
      id: place,
      name: place,
      settings: { location: `Location/${place}` },
    })),
  };
}

/** Puts these EHRs in place of the demo's. Every client may use them. */
export function withEhrs(demo: Configuration, emrs: readonly ReturnType<typeof fhirEhr>[]): Configuration {
  const grants = emrs.map(({ id }) => ({ emr: id, care_units: ['north', 'south'] }));
  return { ...demo, emrs: [...emrs], clients: demo.clients.map((client) => ({ ...client, grants })) };
}
