import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../test/database/database.ts';
import { startChild } from '../../test/processes/child-gateway.ts';
import { writeQuickDemo } from '../../test/processes/quick-demo.ts';

/** Writes the URL of each module that is loaded into the file of the variable `LOADED`. */
const noteLoaded = `data:text/javascript,${encodeURIComponent(`
  import { appendFileSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      appendFileSync(process.env.LOADED, url + '\\n');
      return next(url, context);
    },
  });
`)}`;

/** What a gateway on PostgreSQL in front of sandboxes does not use until somebody asks for it. */
const unused = new RegExp(
  [
    'node_modules/(@electric-sql|@modelcontextprotocol|@opentelemetry/(exporter|sdk)|@scalar|@xmldom)',
    'node_modules/(fhir|html-to-text|marked|nodemailer|oauth4webapi|openid-client|otpauth|pino-pretty)/',
    'server/src/(assistants|cli|console/(ehrs|overview))/',
    'connectors/(?!sandbox/)[^/]+/src/(?!connector|settings)',
  ].join('|'),
);

test('a gateway keeps no part in memory that it does not use: database, connectors, console, tools, traces', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'crossward-loaded-'));
  const database = await createTestDatabase('postgresql');
  const setup = await writeQuickDemo(folder);
  const loaded = join(folder, 'loaded');
  const gateway = await startChild({
    dataDir: join(folder, 'data'),
    databaseUrl: database.url,
    setup,
    variables: { LOADED: loaded },
    command: [process.execPath, '--import', noteLoaded, fileURLToPath(new URL('./main.ts', import.meta.url))],
  });
  try {
    const urls = (await readFile(loaded, 'utf8')).split('\n');
    expect(urls.filter((url) => url.endsWith('connectors/fhir-r4/src/connector.ts'))).toHaveLength(1);
    expect(urls.filter((url) => unused.test(url))).toEqual([]);
  } finally {
    await gateway.kill();
    await database.dispose();
    await rm(folder, { recursive: true, force: true });
  }
});
