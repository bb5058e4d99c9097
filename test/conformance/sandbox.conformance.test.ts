import { connectorInProcess } from '@crossward/connector-kit/conformance';
import { describeConformance } from '@crossward/connector-kit/conformance/vitest';
import { inject } from 'vitest';
import { sandboxSubject } from '../../connectors/sandbox/test/conformance-subject.ts';
import { type Database, openDatabase } from '../../server/src/db/database.ts';
import { gatewayBefore } from '../../server/src/ehr/gateway-before.ts';
import { connectTimeout, createTestDatabase } from '../database/database.ts';
import { fewDays } from '../requests/few-days.ts';
import { assertPublished } from './published.ts';

/** A busy machine may take longer between two statements of a transaction than a gateway is allowed to. */
function openPatient(url: string): Promise<Database> {
  const databaseUrl = `${url}?idle_in_transaction_session_timeout=60000`;
  return openDatabase({ databaseUrl, dataDir: inject('runFolder'), connectTimeout });
}

const names = { postgresql: 'PostgreSQL', pglite: 'PGlite' };

describeConformance(
  `the sandbox on ${names[inject('databaseKind')]}`,
  async () => {
    const { database, url, dispose } = await createTestDatabase();
    const { pool, close } = url === undefined ? { ...database, close: undefined } : await openPatient(url);
    const subject = await sandboxSubject('sandbox', pool);
    const second =
      url === undefined ? undefined : await connectorInProcess(new URL('./sandbox-process.ts', import.meta.url), url);
    return Object.assign(subject, {
      facts: { ...subject.facts, window: fewDays },
      ...(second && { second }),
      raceRounds: 3,
      callGateway: gatewayBefore(() => subject.connector),
      close: async () => {
        await second?.close();
        await close?.();
        await dispose();
      },
    });
  },
  { assertReport: assertPublished },
);
