import { fhirR4Connector } from '@crossward/connector-fhir-r4';
import type { ConnectorModule } from '@crossward/connector-kit';
import { sandboxConnector } from '@crossward/connector-sandbox';
import { inject } from 'vitest';
import { resourceId } from '../../connectors/fhir-r4/src/resource-id.ts';
import type { Configuration } from '../../server/src/config/configuration.ts';
import type { Database } from '../../server/src/db/database.ts';
import type { Ehr } from './ehr.ts';
import { dataOf, type FhirCounterpart, fhirEhr, overFhir } from './fhir.ts';
import { sandboxEhr } from './sandbox.ts';

/** What stands behind the connections of the demo: its sandboxes, or FHIR servers with the same data. */
export type EhrKind = 'sandbox' | 'fhir' | 'medplum';

/** The EHRs behind a gateway. */
export interface Ehrs {
  /** What the gateway is to be started with. */
  readonly configuration: Configuration;
  /** By the connection's id. */
  readonly byId: ReadonlyMap<string, Ehr>;
  close(): Promise<void>;
}

/** Loaded where they are needed: Medplum's is large. */
const counterparts: Readonly<
  Record<Exclude<EhrKind, 'sandbox'>, () => Promise<{ readonly startCounterpart: FhirCounterpart }>>
> = {
  fhir: () => import('./own-fhir-server.ts'),
  medplum: () => import('./medplum.ts'),
};

/** Starts an EHR of the kind for each sandbox connection; other connections stay as they are. */
export async function startEhrs(configuration: Configuration, kind: EhrKind, database: Database): Promise<Ehrs> {
  const sandboxes = configuration.emrs.filter(({ connector }) => connector === 'sandbox');
  if (kind === 'sandbox') {
    const byId = new Map(sandboxes.map(({ id }) => [id, sandboxEhr(id, database)]));
    return { configuration, byId, close: async () => undefined };
  }
  const { startCounterpart } = await counterparts[kind]();
  const started = await Promise.all(
    sandboxes.map(async (emr) => ({ emr, server: await startCounterpart(dataOf(emr)) })),
  );
  const swapped = new Map(started.map(({ emr, server }) => [emr.id, overFhir(emr, server.url)]));
  return {
    configuration: { ...configuration, emrs: configuration.emrs.map((emr) => swapped.get(emr.id) ?? emr) },
    byId: new Map(started.map(({ emr, server }) => [emr.id, fhirEhr(server, emr.care_units)])),
    async close() {
      for (const { server } of started) await server.close();
    },
  };
}

/** The connector of the project's EHRs. */
export function connectorUnderTest(): ConnectorModule {
  return inject('ehrKind') === 'sandbox' ? sandboxConnector : fhirR4Connector;
}

/** What the gateway calls the room that the sandbox calls `id`: in FHIR, rooms and practitioners have ids apart. */
export function roomId(id: string): string {
  return inject('ehrKind') === 'sandbox' ? id : resourceId(`Location/${id}`);
}
