// Checks that the tests in test/spec-requirements.yaml and docs/safety/hazards.yaml exist. Arguments: Vitest's JSON reports of a
// test run. With reports, each of them must have passed, in one project at least, and failed in none. Without, only the
// sources are searched. Exits with 1 if a requirement or a control has no test, or if a hazard is not complete.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { faultsIn, readHazards } from './hazards.mjs';
import { readSpecRequirements } from './named-tests.mjs';

/** In the documents, this stands for any text in a title. In a source, so do the placeholders of `test.each` and templates. */
const anyText = '…';

const requirements = readSpecRequirements().flatMap((section) => section.requirements);
const hazards = readHazards().flatMap((section) => section.hazards);
const results = process.argv.slice(2).flatMap(readReport);
const ids = [...requirements, ...hazards].map(({ id }) => id);
const faults = [
  ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${id}: occurs twice`),
  ...requirements.flatMap(({ id, tests }) => [
    ...(tests.length > 0 ? [] : [`${id}: no test is named`]),
    ...faultsOf(id, tests),
  ]),
  ...hazards.flatMap((hazard) => [
    ...faultsIn(hazard).map((fault) => `${hazard.id}: ${fault}`),
    ...hazard.controls.flatMap(({ tests }) => faultsOf(hazard.id, tests)),
  ]),
];
for (const fault of faults) process.stdout.write(`${fault}\n`);
process.stdout.write(`${requirements.length} requirements, ${hazards.length} hazards, ${faults.length} faults\n`);
process.exitCode = faults.length === 0 && requirements.length > 0 && hazards.length > 0 ? 0 : 1;

function faultsOf(id, tests) {
  return tests.flatMap((test) => {
    const fault = process.argv.length > 2 ? faultInReport(test) : faultInSource(test);
    return fault === undefined ? [] : [`${id}: ${fault}: ${test.file} › ${test.titles.join(' › ')}`];
  });
}

function readReport(path) {
  const { testResults } = JSON.parse(readFileSync(path, 'utf8'));
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ ancestorTitles, title, status }) => ({
      file: relative('.', name),
      titles: [...ancestorTitles, title],
      status,
    })),
  );
}

function faultInReport({ file, titles }) {
  const found = results.filter((result) => {
    // The documents may leave out outer groups.
    const innermost = result.titles.slice(-titles.length);
    return result.file === file && titles.every((title, index) => matching(title).test(innermost[index] ?? ''));
  });
  if (found.length === 0) return 'no such test';
  if (found.some(({ status }) => status === 'failed')) return 'failed';
  return found.some(({ status }) => status === 'passed') ? undefined : 'did not run';
}

function faultInSource({ file, titles }) {
  if (!existsSync(file)) return 'no such file';
  const known = titlesIn(file);
  const isKnown = (title) => known.some((it) => matching(it).test(title) || matching(title).test(it));
  return titles.every(isKnown) ? undefined : 'no such test';
}

/** The titles of tests and groups in a file and in those of `test/cases` that it imports, such as identifier-cases.ts. */
function titlesIn(file, depth = 0) {
  const { program } = parseSync(file, readFileSync(file, 'utf8'));
  const titles = [];
  const imports = [];
  new Visitor({
    CallExpression({ callee, arguments: [title] }) {
      if (!/^(test|it|describe)$/.test(rootName(callee))) return;
      if (title?.type === 'Literal') titles.push(String(title.value));
      if (title?.type === 'TemplateLiteral') titles.push(title.quasis.map(({ value }) => value.cooked).join(anyText));
    },
    ImportDeclaration({ source }) {
      const path = join(dirname(file), source.value);
      if (/^test\/cases\/[^/]+\.ts$/.test(path)) imports.push(path);
    },
  }).visit(program);
  const placeholders = /%[sdifjoOc#$]|\$[a-zA-Z_][\w.]*/g;
  const own = titles.map((title) => title.replaceAll(placeholders, anyText));
  return depth === 1 ? own : [...own, ...imports.flatMap((path) => titlesIn(path, 1))];
}

/** `test`, for `test(…)`, `test.each(…)(…)` and `test.skipIf(…)(…)`. */
function rootName(callee) {
  if (callee.type === 'Identifier') return callee.name;
  return rootName(
    callee.type === 'CallExpression' ? callee.callee : (callee.object ?? { type: 'Identifier', name: '' }),
  );
}

function matching(title) {
  const parts = title
    .split(anyText)
    .map((part) => RegExp.escape?.(part) ?? part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 'su');
}
