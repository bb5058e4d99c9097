// The gateway's program with another connector: each sandbox EHR is one that responds at once from memory.
import { pino } from 'pino';
import { readEnvironment } from '../../server/src/config/environment/environment.ts';
import { loadConfiguration } from '../../server/src/config/file/load.ts';
import { openDatabase } from '../../server/src/db/database.ts';
import { createDeps } from '../../server/src/deps.ts';
import { buildApp } from '../../server/src/http/app.ts';
import { memoryConnector } from './memory-ehr.ts';

const { configurationPath, databaseUrl, secretKey, dataDirectory, host, port, logLevel } = readEnvironment();
if (!configurationPath || !secretKey) throw new Error('CROSSWARD_CONFIG and CROSSWARD_SECRET_KEY are not set');
const connectors = [memoryConnector];
const database = await openDatabase({ databaseUrl: databaseUrl?.reveal(), dataDir: dataDirectory });
const deps = await createDeps({
  configuration: await loadConfiguration({ path: configurationPath, connectors, environment: process.env }),
  database,
  secretKeys: [secretKey.reveal()],
  log: pino({ level: logLevel }),
  connectors,
});
const app = await buildApp(deps);
await app.listen({ host, port });
process.once('SIGTERM', async () => {
  await app.close();
  await deps.stop();
  await database.close();
  process.exit(0);
});
