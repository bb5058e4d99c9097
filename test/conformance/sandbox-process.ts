import type { Connector } from '@crossward/connector-kit';
import { Pool } from 'pg';
import { open } from '../../connectors/sandbox/test/conformance-subject.ts';

/** For a process of its own. */
export default (connectionString: string): Promise<Connector> => open(new Pool({ connectionString, max: 5 }));
