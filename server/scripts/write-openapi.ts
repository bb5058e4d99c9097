// Writes server/openapi.json. With --check, fails if the file is out of date.
import { readFile, writeFile } from 'node:fs/promises';
import { describedApp } from './described-app.ts';

const target = new URL('../openapi.json', import.meta.url);

const app = await describedApp();
const text = `${JSON.stringify(app.swagger(), null, 2)}\n`;
await app.close();

if (process.argv.includes('--check')) {
  const published = await readFile(target, 'utf8').catch(() => undefined);
  if (published !== text) {
    process.stderr.write('server/openapi.json is out of date: run npm run openapi\n');
    process.exitCode = 1;
  }
} else {
  await writeFile(target, text);
}
