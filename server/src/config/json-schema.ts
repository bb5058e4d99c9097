// Writes server/config.schema.json; with --check, fails when the file lags behind the code.
import { readFile, writeFile } from 'node:fs/promises';
import { connectors } from '../ehr/connectors.ts';
import { publishedSchema } from './published-schema.ts';

const target = new URL('../../config.schema.json', import.meta.url);
const text = publishedSchema(connectors);

if (process.argv.includes('--check')) {
  const published = await readFile(target, 'utf8').catch(() => undefined);
  if (published !== text) {
    process.stderr.write('server/config.schema.json is out of date: run node server/src/config/json-schema.ts\n');
    process.exitCode = 1;
  }
} else {
  await writeFile(target, text);
}
