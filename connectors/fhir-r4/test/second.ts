import type { Connector } from '@crossward/connector-kit';
import type { FhirSettings } from '../src/settings.ts';
import { openConnector } from './subject.ts';

/** For a process of its own. */
export default (settings: FhirSettings): Promise<Connector> => openConnector(settings);
