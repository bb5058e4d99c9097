import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfiguration, loadWithConnectors } from '../file/load.ts';
import { placeOfMistake } from '../mistakes/mistake.ts';
import { clientSecret, errorFrom, fakeConnectors, rightFile, temporaryFolder } from '../test-support.ts';

const plugin = (changes = '') => `export const connector = {
  name: 'north', kitVersion: 1,
  settingsSchema: {
    type: 'object', properties: { base_url: { type: 'string' } }, required: ['base_url'], additionalProperties: false,
  },
  async open() {},
  ${changes}
};`;

/** A configuration whose EHR uses the connector, next to the given files. */
async function configured(connector: string, files: Readonly<Record<string, string>>, settings = '{ base_url: "x" }') {
  const folder = await temporaryFolder();
  const path = join(folder, 'crossward.yaml');
  const text = rightFile
    .replace('connector: sandbox', `connector: ${JSON.stringify(connector)}`)
    .replace('{ country: "NO" }', settings);
  for (const [file, content] of Object.entries({ ...files, 'crossward.yaml': text })) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), content);
  }
  return { path, connectors: fakeConnectors, environment: { ACME_CLIENT_SECRET: clientSecret } };
}

const packaged = (main: string, exported: object = { '.': { import: './main.js' } }) => ({
  'node_modules/@clinic/north/package.json': JSON.stringify({
    name: '@clinic/north',
    type: 'module',
    exports: exported,
  }),
  'node_modules/@clinic/north/main.js': main,
});

test.each([
  ['a package', '@clinic/north', packaged(plugin())],
  ['a file', './north.mjs', { 'north.mjs': plugin() }],
  [
    'a file in TypeScript',
    './src/north.mts',
    { 'src/north.mts': plugin().replace('connector =', 'connector: object =') },
  ],
])('loads %s', async (_, connector, files) => {
  const { configuration, connectors } = await loadWithConnectors(await configured(connector, files));
  expect(configuration.emrs[0]?.connector).toBe('north');
  expect(connectors.map(({ name }) => name)).toEqual(['sandbox', 'remote', 'north']);
});

test.each<[problem: string, connector: string, files: Readonly<Record<string, string>>, expected: string]>([
  ['a package that is not installed', '@clinic/north', {}, 'is not an installed package: it was looked for from /'],
  ['a file that does not exist', './north.js', {}, 'does not exist: /'],
  ['a folder', './src', { 'src/north.js': plugin() }, 'is a folder; give the file that exports the connector'],
  ['a name that is neither', 'https://x.example/a.js', {}, 'is unknown; must be one of sandbox, remote, an installed'],
  [
    'a package without its main file',
    '@clinic/north',
    { ...packaged(plugin(), { '.': './dist/main.js' }) },
    'is installed, but its main file is missing; has it been built?',
  ],
  [
    'a package that exports nothing by its name',
    '@clinic/north',
    packaged(plugin(), { './other': './main.js' }),
    'cannot be loaded: No "exports" main defined in ',
  ],
  [
    'no such export',
    '@clinic/north',
    packaged('export const north = 1, b = 2;'),
    'exports no "connector"; it exports b, north',
  ],
  ['a package of the gateway that is no connector', 'yaml', {}, 'exports no "connector"; it exports '],
  ['no exports', '@clinic/north', packaged(''), 'exports no "connector"; it exports nothing'],
  [
    'a connector that is not marked',
    './n.mjs',
    { 'n.mjs': plugin().replace('kitVersion: 1,', '') },
    'exports a "connector" that was not made with defineConnector of @crossward/connector-kit',
  ],
  [
    'another version of the kit',
    './n.mjs',
    { 'n.mjs': plugin('kitVersion: 2') },
    'was made for version 2 of the connector kit; this gateway needs version 1',
  ],
  [
    'a wrong shape',
    './n.mjs',
    { 'n.mjs': plugin('open: 1, name: "North EHR", migrations: "sql/"') },
    'exports an invalid connector: "name" must be lower-case letters, digits and hyphens, "open" must be a function, "migrations" must be a URL',
  ],
  [
    'an invalid schema',
    './n.mjs',
    { 'n.mjs': plugin('settingsSchema: { type: "strin" }') },
    'exports a connector whose "settingsSchema" is not a valid JSON Schema: schema is invalid: data/type must be equal',
  ],
  [
    'the name of a built-in connector',
    './n.mjs',
    { 'n.mjs': plugin('name: "sandbox"') },
    'exports a connector with the name "sandbox", which belongs to the gateway',
  ],
  [
    'code that throws',
    './n.mjs',
    { 'n.mjs': 'throw new TypeError("no key\\nat all")' },
    'cannot be loaded: TypeError: no key',
  ],
  ['code that does not parse', './n.mjs', { 'n.mjs': 'export const;' }, 'cannot be loaded: '],
  ['a missing dependency', './n.mjs', { 'n.mjs': 'import "no-such-package"' }, 'cannot be loaded: '],
])('reports %s', async (_, connector, files, expected) => {
  const { message } = await errorFrom(loadConfiguration(await configured(connector, files)));
  expect(message.replace(/^.*?(?=crossward\.yaml)/, '')).toMatch(/^crossward\.yaml:4:16: emrs\[0\]\.connector: "/);
  expect(message).toContain(`${JSON.stringify(connector)} ${expected}`);
  expect(message.split('\n')).toHaveLength(1);
});

test.each([
  [
    'file:///home/x/n.mjs:2\nexport const;\n            ^\n\nSyntaxError: Unexpected token',
    ' (file:///home/x/n.mjs:2)',
  ],
  [
    'TypeError: no key\n    at open (file:///home/x/n.mjs:2:7)\n    at node:internal/x:1:2',
    ' (file:///home/x/n.mjs:2:7)',
  ],
  ['TypeError: no key\n    at node:internal/x:1:2', ''],
])('finds the place of an error in %j', (stack, place) => {
  expect(placeOfMistake(Object.assign(new Error('no key'), { stack }))).toBe(place);
});

test('checks settings against the schema of the plug-in', async () => {
  const source = await configured('@clinic/north', packaged(plugin()), '{ base_url: 1, colour: red }');
  expect((await errorFrom(loadConfiguration(source))).message).toMatch(
    /emrs\[0\]\.settings\.base_url: must be text.*\n.*emrs\[0\]\.settings\.colour: unknown key; allowed: base_url/,
  );
});

test('reports two plug-ins with one name, and takes one plug-in by two names', async () => {
  const source = await configured('./a.mjs', {
    'a.mjs': plugin(),
    'again.mjs': "export { connector } from './a.mjs'",
    'other.mjs': plugin(),
  });
  const text = await readFile(source.path, 'utf8');
  const [first = '', clients = ''] = text.split(/(?=clients:)/);
  const second = (reference: string) =>
    first.replace('emrs:\n', '').replace('id: north', 'id: south').replace('./a.mjs', reference);

  await writeFile(source.path, first + second('./other.mjs') + clients);
  const { message } = await errorFrom(loadConfiguration(source));
  expect(message).toMatch(/"\.\/other\.mjs" exports a connector with the name "north", as "\.\/a\.mjs" does$/);

  await writeFile(source.path, first + second('./again.mjs') + clients);
  const { configuration, connectors } = await loadWithConnectors(source);
  expect(configuration.emrs.map(({ connector }) => connector)).toEqual(['north', 'north']);
  expect(connectors).toHaveLength(fakeConnectors.length + 1);
});
