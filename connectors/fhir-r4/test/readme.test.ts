import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfiguration } from '../../../server/src/config/file/load.ts';
import { temporaryFolder } from '../../../server/src/config/test-support.ts';
import { connectors } from '../../../server/src/ehr/connectors.ts';

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
const blocks = [...readme.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => text);

test('the README has an example for each server', () => {
  expect(blocks.length).toBeGreaterThanOrEqual(8);
  expect(blocks.some((text) => text.includes('http://127.0.0.1'))).toBe(true);
});

test.each(blocks.map((text) => [/base_url: (\S+)/.exec(text)?.[1], text]))(
  'the configuration for %s loads as printed',
  async (_, text) => {
    const path = join(await temporaryFolder(), 'crossward.yaml');
    await writeFile(path, text);
    const names = [...text.matchAll(/env: (\w+)/g)].map(([, name = '']) => name);
    const environment = Object.fromEntries(names.map((name) => [name, `${name}-that-nobody-guesses-0001`]));
    const { emrs, clients } = await loadConfiguration({ path, connectors, environment });
    expect(emrs).toMatchObject([{ id: 'clinic', connector: 'fhir-r4' }]);
    expect(clients).toHaveLength(1);
  },
);
