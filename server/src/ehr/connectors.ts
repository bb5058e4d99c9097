import { careConnector } from '@crossward/connector-care';
import { fhirR4Connector } from '@crossward/connector-fhir-r4';
import { gnuHealthConnector } from '@crossward/connector-gnuhealth';
import { gpConnectConnector } from '@crossward/connector-gp-connect';
import type { ConnectorModule } from '@crossward/connector-kit';
import { oscarConnector } from '@crossward/connector-oscar';
import { rivtaSchedulingConnector } from '@crossward/connector-rivta-scheduling';
import { sandboxConnector } from '@crossward/connector-sandbox';

export { type SandboxFault, sandboxFaults } from '@crossward/connector-sandbox';

/** The connectors that a configuration can name. */
export const connectors: readonly ConnectorModule[] = [
  sandboxConnector,
  fhirR4Connector,
  gpConnectConnector,
  gnuHealthConnector,
  rivtaSchedulingConnector,
  careConnector,
  oscarConnector,
];
