// Checks the direction of every import, including type imports, against the layers in ARCHITECTURE.md. Exits with 1 if an
// import runs up or sideways. Biome finds import cycles (noImportCycles).
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { parseSync, Visitor } from 'oxc-parser';

/** From top to bottom. A file imports from its own folder and from the rows below. */
const layers = layersIn(readFileSync('ARCHITECTURE.md', 'utf8'));
/** What each package may import of the others. `test`, `bench`, `examples` and `release` may import everything. */
const packages = {
  server: ['connector-kit', 'connectors', 'client'],
  connectors: ['connector-kit'],
  'connector-kit': [],
  client: [],
};
const isSource = /^(server|connectors|connector-kit|client)\/.*\.ts$/;
const isTest = /(^|\/)(test|test-[^/]+|fake|counterparts)\/|(\.test|\.test-support|\/test-[^/]+|\/arbitraries)\.ts$/;

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => isSource.test(file) && !isTest.test(file));
const violations = files.flatMap((file) => importsOf(file).flatMap((target) => violation(file, target)));
for (const text of violations) process.stdout.write(`${text}\n`);
process.stdout.write(`${files.length} files, ${violations.length} violations\n`);
process.exitCode = violations.length === 0 ? 0 : 1;

/** The diagram in the section about layers: rows of names, with arrows between them. */
function layersIn(document) {
  const [, diagram] = /^## Layers\n[^#]*?```text\n(.*?)```/ms.exec(document) ?? [];
  if (!diagram) throw new Error('ARCHITECTURE.md has no diagram of the layers');
  return diagram.split('↓').map((row) => row.trim().split(/\s+/));
}

/** Imported paths, relative to the repository. A package of the project is replaced by its folder. */
function importsOf(file) {
  const { program, errors } = parseSync(file, readFileSync(file, 'utf8'));
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  const found = [];
  const add = ({ source }) => typeof source?.value === 'string' && found.push(source.value);
  new Visitor({
    ImportDeclaration: add,
    ExportNamedDeclaration: add,
    ExportAllDeclaration: add,
    ImportExpression: add,
    TSImportType: add,
  }).visit(program);
  return found.flatMap((name) => {
    if (name.startsWith('.')) return [join(dirname(file), name)];
    return name.startsWith('@crossward/')
      ? [name.slice('@crossward/'.length).replace('connector-', 'connectors/')]
      : [];
  });
}

function violation(file, target) {
  const report = (text) => [`${file}: ${text} ${target}`];
  if (isTest.test(target)) return report('imports a test:');
  const [from, to] = [packageOf(file), packageOf(target)];
  if (from.path !== to.path) {
    const isKnown = packages[from.name].includes(to.name);
    const isListed = to.name !== 'connectors' || file === 'server/src/ehr/connectors.ts';
    return isKnown && isListed ? [] : report(`${from.path} must not import`);
  }
  if (!file.startsWith('server/src/') || target === 'server/package.json') return [];
  if (!target.startsWith('server/src/')) return report('server/src must not import');
  const [above, below] = [layerOf(file), layerOf(target)];
  if (above.row === -1) return report(`${above.name} has no layer in ARCHITECTURE.md; it imports`);
  return above.name === below.name || above.row < below.row ? [] : report(`${above.name} must not import`);
}

function packageOf(path) {
  const [name, folder] = path.replace(/^connectors\/kit(?=\/|$)/, 'connector-kit').split('/');
  return { name, path: name === 'connectors' ? `${name}/${folder}` : name };
}

/** Files in the same folder as `main.ts` belong to its layer. */
function layerOf(path) {
  const folder = path.slice('server/src/'.length).split('/');
  const name = folder.length > 1 ? folder[0] : 'main';
  return { name, row: layers.findIndex((row) => row.includes(name)) };
}
