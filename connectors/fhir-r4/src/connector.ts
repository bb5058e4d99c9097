import type { StatelessConnectorModule } from '@crossward/connector-kit';
import { type FhirSettings, fhirSettings } from './settings.ts';

/** Any EHR that speaks FHIR R4: https://hl7.org/fhir/R4/ */
export const fhirR4Connector: StatelessConnectorModule<FhirSettings> = {
  name: 'fhir-r4',
  title: 'FHIR R4 server',
  settingsSchema: fhirSettings,
  open: async (context) => (await import('./open.ts')).open(context),
  probe: async (context) => (await import('./check/probe.ts')).probeFhirR4(context),
  describe: async (context) => (await import('./check/probe.ts')).describeFhirR4(context),
  places: async (context) => (await import('./open.ts')).places(context),
  directChanges: async (context) => (await import('./conformance/direct-changes.ts')).fhirDirectChanges(context),
};
