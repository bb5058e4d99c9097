// Writes server/config.schema.json. With --check, fails if the file is out of date.
import { readFile, writeFile } from 'node:fs/promises';
import { publishedSchema } from '../src/config/schema/published-schema.ts';
import { connectors } from '../src/ehr/connectors.ts';

const target = new URL('../config.schema.json', import.meta.url);
const text = publishedSchema(connectors);

if (process.argv.includes('--check')) {
  const published = await readFile(target, 'utf8').catch(() => undefined);
  if (published !== text) {
    process.stderr.write('server/config.schema.json is out of date: run npm run config-schema\n');
    process.exitCode = 1;
  }
} else {
  await writeFile(target, text);
}
