// Checks the direction of every import against the layers below; imports of types count. Circles are Biome's to find
// (noImportCycles). Exits with 1 when an import runs up or sideways, or when a document shows other layers.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { parseSync, Visitor } from 'oxc-parser';

/** From top to bottom. A file imports from its own folder and from the rows below. */
const layers = [
  ['main', 'cli'],
  ['http', 'background'],
  ['appointments', 'patients', 'resources', 'timeslots', 'healthcare-services', 'emrs'],
  ['api'],
  ['operations'],
  ['confirmations'],
  ['messages', 'ehr', 'clients', 'secret-keys'],
  ['db', 'config'],
  ['identifiers', 'problems', 'secrets', 'startup', 'time', 'log'],
];
/** What each package may import of the others. `test`, `bench` and `examples` may import everything. */
const packages = {
  server: ['connector-kit', 'connectors'],
  connectors: ['connector-kit'],
  'connector-kit': [],
  client: [],
};
const picture = layers.map((row) => row.join('   ')).join('\n  ↓\n');
const documents = ['README.md', 'ARCHITECTURE.md'];

const isSource = /^(server|connectors|connector-kit|client)\/.*\.ts$/;
const isTest = /(^|\/)(test|test-[^/]+|fake|counterparts)\/|(\.test|\.test-support|\/test-[^/]+|\/arbitraries)\.ts$/;

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => isSource.test(file) && !isTest.test(file));
const faults = [
  ...files.flatMap((file) => importsOf(file).flatMap((target) => fault(file, target))),
  ...documents
    .filter((document) => !readFileSync(document, 'utf8').includes(picture))
    .map((document) => `${document}: its picture of the layers differs from .ci/imports.mjs:\n\n${picture}\n`),
];
for (const text of faults) process.stdout.write(`${text}\n`);
process.stdout.write(`${files.length} files, ${faults.length} faults\n`);
process.exitCode = faults.length === 0 ? 0 : 1;

/** Paths from the root of the repository; a package of the project stands for its folder. */
function importsOf(file) {
  const { program, errors } = parseSync(file, readFileSync(file, 'utf8'));
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  const found = [];
  const note = ({ source }) => source && found.push(source.value);
  new Visitor({
    ImportDeclaration: note,
    ExportNamedDeclaration: note,
    ExportAllDeclaration: note,
    ImportExpression: note,
    TSImportType: note,
  }).visit(program);
  return found.flatMap((name) => {
    if (name.startsWith('.')) return [join(dirname(file), name)];
    return name.startsWith('@crossward/')
      ? [name.slice('@crossward/'.length).replace('connector-', 'connectors/')]
      : [];
  });
}

function fault(file, target) {
  const say = (text) => [`${file}: ${text} ${target}`];
  if (isTest.test(target)) return say('imports a test:');
  const [from, to] = [packageOf(file), packageOf(target)];
  if (from.path !== to.path) {
    const isKnown = packages[from.name].includes(to.name);
    const isListed = to.name !== 'connectors' || file === 'server/src/ehr/connectors.ts';
    return isKnown && isListed ? [] : say(`${from.path} must not import`);
  }
  if (!file.startsWith('server/src/') || target === 'server/package.json') return [];
  if (!target.startsWith('server/src/')) return say('server/src must not import');
  const [above, below] = [layerOf(file), layerOf(target)];
  if (above.row === -1) return say(`${above.name} has no layer in .ci/imports.mjs; it imports`);
  return above.name === below.name || above.row < below.row ? [] : say(`${above.name} must not import`);
}

function packageOf(path) {
  const [name, folder] = path.replace(/^connectors\/kit(?=\/|$)/, 'connector-kit').split('/');
  return { name, path: name === 'connectors' ? `${name}/${folder}` : name };
}

/** Files beside `main.ts` belong to it. */
function layerOf(path) {
  const folder = path.slice('server/src/'.length).split('/');
  const name = folder.length > 1 ? folder[0] : 'main';
  return { name, row: layers.findIndex((row) => row.includes(name)) };
}
