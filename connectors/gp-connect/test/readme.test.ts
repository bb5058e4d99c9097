import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfiguration } from '../../../server/src/config/file/load.ts';
import { temporaryFolder } from '../../../server/src/config/test-support.ts';
import { connectors } from '../../../server/src/ehr/connectors.ts';
import { openConnector } from './subject.ts';

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');

test('the configuration in the README loads as printed, and opens a connector', async () => {
  const [, text = ''] = /```yaml\n(.*?)```/s.exec(readme) ?? [];
  const path = join(await temporaryFolder(), 'crossward.yaml');
  await writeFile(path, text);
  const environment = { APP_SECRET: 'APP_SECRET-that-nobody-guesses-0001' };
  const { emrs } = await loadConfiguration({ path, connectors, environment });
  expect(emrs).toMatchObject([{ id: 'leggs', connector: 'gp-connect' }]);
  const [emr] = emrs;
  await openConnector(emr?.settings as Parameters<typeof openConnector>[0]);
});
