import { fhirR4Connector } from '@crossward/connector-fhir-r4';
import type { ConnectorModule } from '@crossward/connector-kit';
import { sandboxConnector } from '@crossward/connector-sandbox';
import { inject } from 'vitest';
import { resourceId } from '../../connectors/fhir-r4/src/mappers/resource.ts';
import type { Configuration, ConfiguredEmr } from '../../server/src/config/configuration.ts';
import { loadConfiguration } from '../../server/src/config/file/load.ts';
import type { Database } from '../../server/src/db/database.ts';
import { connectors } from '../../server/src/ehr/connectors.ts';
import type { Ehr } from './ehr.ts';
import { type FhirCounterpart, type FhirServer, fhirEhr } from './fhir.ts';
import { writeFhirConfiguration } from './fhir-configuration.ts';
import { fhirResourcesOf } from './fhir-data.ts';
import { sandboxEhr } from './sandbox.ts';

/** The kind of EHRs in a test: the demo's sandboxes, or FHIR servers with the same data. */
export type EhrKind = 'sandbox' | 'fhir' | 'medplum';

/** The EHRs behind a gateway. */
export interface Ehrs {
  /** The configuration to start the gateway with. */
  readonly configuration: Configuration;
  /** By connection id. */
  readonly byId: ReadonlyMap<string, Ehr>;
  close(): Promise<void>;
}

/** Loaded only when needed, because Medplum is large. */
const counterparts: Readonly<
  Record<Exclude<EhrKind, 'sandbox'>, () => Promise<{ readonly startCounterpart: FhirCounterpart }>>
> = {
  fhir: () => import('./own-fhir-server.ts'),
  medplum: () => import('./medplum.ts'),
};

interface EhrsOptions {
  /** The demo's configuration, with clients. */
  readonly demo: Configuration;
  /** Changes the configuration. Added EHRs must be copies of an EHR of the demo. */
  readonly configure: (configuration: Configuration) => Configuration;
  readonly database: Database;
}

/** Starts the EHR of each connection in the configuration. */
export async function startEhrs(kind: EhrKind, options: EhrsOptions): Promise<Ehrs> {
  return kind === 'sandbox' ? sandboxes(options) : startFhirServers(kind, options);
}

function sandboxes({ demo, configure, database }: EhrsOptions): Ehrs {
  const configuration = configure(demo);
  const ids = configuration.emrs.filter(({ connector }) => connector === 'sandbox').map(({ id }) => id);
  const byId = new Map(ids.map((id) => [id, sandboxEhr(id, database)]));
  return { configuration, byId, close: async () => undefined };
}

/** Loaded once, with a URL that stands for the server of each connection. Every gateway changes a copy. */
let fhirConfiguration: Promise<Configuration> | undefined;

const standInUrl = (id: string) => `http://127.0.0.1/${id}`;

async function loadFhirConfiguration(): Promise<Configuration> {
  const path = await writeFhirConfiguration(inject('runFolder'), standInUrl);
  return loadConfiguration({ path, connectors, environment: {} });
}

async function startFhirServers(kind: Exclude<EhrKind, 'sandbox'>, { demo, configure }: EhrsOptions): Promise<Ehrs> {
  const { startCounterpart } = await counterparts[kind]();
  fhirConfiguration ??= loadFhirConfiguration();
  const { clients, limits } = demo;
  const wanted = configure({ ...(await fhirConfiguration), clients, limits });
  const servers = new Map<string, FhirServer>();
  const emrs: ConfiguredEmr[] = [];
  for (const emr of wanted.emrs) {
    const like = demo.emrs.find(({ id }) => standInUrl(id) === emr.settings.base_url);
    if (!like) throw new Error(`${emr.id} is not a copy of an EHR of the demo`);
    const server = await startCounterpart(fhirResourcesOf(like));
    servers.set(emr.id, server);
    emrs.push({ ...emr, settings: { ...emr.settings, base_url: server.url } });
  }
  return {
    configuration: { ...wanted, emrs },
    byId: new Map([...servers].map(([id, server]) => [id, fhirEhr(server)])),
    async close() {
      for (const server of servers.values()) await server.close();
    },
  };
}

/** The connector of the EHRs in this Vitest project. */
export function connectorUnderTest(): ConnectorModule {
  return inject('ehrKind') === 'sandbox' ? sandboxConnector : fhirR4Connector;
}

/** The gateway's id of a room of the sandbox. In FHIR it has a prefix, because rooms and practitioners are different types. */
export function roomId(id: string): string {
  return inject('ehrKind') === 'sandbox' ? id : resourceId(`Location/${id}`);
}
