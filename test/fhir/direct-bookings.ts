import { settingsFor } from '../../connectors/fhir-r4/test/subject.ts';
import type { Configuration } from '../../server/src/config/configuration.ts';
import { resolveConnection } from '../../server/src/config/schema/connection.ts';
import { resolvePolicies } from '../../server/src/config/schema/policies.ts';
import { withQuickRecovery } from '../gateway/recovery.ts';
import { northCareUnit } from './north.ts';

/** One FHIR server with the care unit `north`, which requires no codes. */
export function directBookingsOn(url: string) {
  return (demo: Configuration): Configuration => {
    const policies = resolvePolicies({});
    const careUnit = northCareUnit(policies);
    const emr = {
      id: 'fhir',
      name: 'FHIR',
      connector: 'fhir-r4',
      settings: settingsFor(url),
      synthetic_identifiers: true,
      connection: resolveConnection({ allow_private_addresses: true }),
      policies,
      care_units: [{ ...careUnit, settings: { location: 'Location/north' } }],
    };
    const grants = [{ emr: emr.id, care_units: [careUnit.id] }];
    const clients = demo.clients.map((client) => ({ ...client, grants }));
    return withQuickRecovery({ ...demo, emrs: [emr], clients }, { settling_seconds: 2 });
  };
}
