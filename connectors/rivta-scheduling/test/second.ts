import type { Connector } from '@crossward/connector-kit';
import { openConnector } from './subject.ts';

/** For a process of its own. */
export default (url: string): Promise<Connector> => openConnector({ url });
