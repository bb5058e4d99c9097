import { describeConformance } from '@crossward/connector-kit/conformance/vitest';
import { inject } from 'vitest';
import { sandboxSubject } from '../../connectors/sandbox/test/conformance-subject.ts';
import { gatewayBefore } from '../../server/src/cli/gateway-before.ts';
import { createTestDatabase } from '../database/database.ts';
import { assertPublished } from './published.ts';

const names = { postgresql: 'PostgreSQL', pglite: 'PGlite' };

describeConformance(
  `the sandbox on ${names[inject('databaseKind')]}`,
  async () => {
    const { database, dispose } = await createTestDatabase();
    const subject = await sandboxSubject('sandbox', database.pool);
    return Object.assign(subject, { callGateway: gatewayBefore(() => subject.connector), close: dispose });
  },
  { assertReport: assertPublished },
);
