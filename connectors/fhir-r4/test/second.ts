import type { ConfiguredCareUnit, Connector } from '@crossward/connector-kit';
import { plainHttp } from '@crossward/connector-kit/conformance';
import type { FhirSettings } from '../src/settings.ts';
import { openConnector } from './subject.ts';

interface Input {
  readonly settings: FhirSettings;
  readonly units: readonly ConfiguredCareUnit[];
}

/** For a process of its own. */
export default ({ settings, units }: Input): Promise<Connector> => openConnector(settings, plainHttp(), units);
