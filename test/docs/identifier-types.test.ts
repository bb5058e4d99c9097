import { readFile } from 'node:fs/promises';
import { builtInIdentifierTypes, identifierChecks } from '@crossward/connector-kit';
import { expect, test } from 'vitest';

const page = await readFile(new URL('../../docs/identifier-types.md', import.meta.url), 'utf8');
const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``;

test('the page lists the types that come with the gateway, as they are', () => {
  const rows = builtInIdentifierTypes().map(({ id, name, of, pattern, groups, synthetic, systems }) => {
    const written = groups ? groups.join(' ') : '';
    const tests = synthetic === undefined ? '' : code(synthetic);
    const cells = [code(id), name, of.map((it) => `${it}s`).join(', '), code(pattern), written, tests];
    return `| ${[...cells, systems.map(code).join(' ')].join(' | ')} |`
      .replaceAll('|  |', '| |')
      .replaceAll('|  |', '| |');
  });
  for (const row of rows) expect(page).toContain(row);
  expect(page.match(/^\| `[a-z]+_[a-z_]+` \| [A-Z]/gm)?.length).toBe(rows.length);
});

test('the page names every check', () => {
  for (const check of identifierChecks) expect(page).toContain(`\`${check}\``);
});
