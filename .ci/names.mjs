// Counts exported names of `server/src` with two definitions: a reader takes them for one thing. Exits with 1 if there are more
// than the most below, or one without a reason.
import { globSync, readFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';

/** Names that may have several definitions, each with its reason. */
const reasons = {
  routes: 'each page of the console exports what it adds, and one file lists them',
};

const root = 'server/src/';
const definitions = new Map();
for (const file of globSync('**/*.ts', { cwd: root })) {
  if (/\.test\.ts$|(^|\/)test-/.test(file)) continue;
  for (const name of new Set(exportedNames(file))) definitions.set(name, [...(definitions.get(name) ?? []), file]);
}
const several = [...definitions].filter(([, files]) => files.length > 1).toSorted();
for (const [name, files] of several) {
  if (name in reasons) continue;
  process.stdout.write(`${name} is defined in ${files.join(' and ')}\n`);
  process.exitCode = 1;
}
process.stdout.write(`${several.length} exported names with more than one definition\n`);

function exportedNames(file) {
  const { program } = parseSync(file, readFileSync(root + file, 'utf8'));
  return program.body.flatMap(({ type, declaration }) => {
    if (type !== 'ExportNamedDeclaration' || !declaration) return [];
    return declaration.declarations?.map(({ id }) => id.name) ?? declaration.id?.name ?? [];
  });
}
