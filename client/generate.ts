// Writes client/src/schema.ts from server/openapi.json; with --check, fails if the file is out of date.
import { readFile, writeFile } from 'node:fs/promises';
import openapiTypescript, { astToString } from 'openapi-typescript';

const source = new URL('../server/openapi.json', import.meta.url);
const target = new URL('./src/schema.ts', import.meta.url);

const heading = '// Generated from server/openapi.json by npm run client. Do not edit.\n\n';
const text = heading + astToString(await openapiTypescript(source, { alphabetize: true }));

if (process.argv.includes('--check')) {
  const published = await readFile(target, 'utf8').catch(() => undefined);
  if (published !== text) {
    process.stderr.write('client/src/schema.ts is out of date: run npm run client\n');
    process.exitCode = 1;
  }
} else {
  await writeFile(target, text);
}
