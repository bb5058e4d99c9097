// Documents that name the tests which prove what they say: file, then groups › title.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** The requirements of the interface specification: `{ name, requirements: [{ id, text, tests: [{ file, titles }] }] }`. */
export function readSpecRequirements() {
  return sectionsOf('test/spec-requirements.yaml').map(({ name, entries }) => ({
    name,
    requirements: entries.map(([id, { requirement, tests }]) => ({ id, text: requirement, tests: namedTests(tests) })),
  }));
}

/** Sections of a file with their entries: `{ name, entries: [[id, entry]] }`. */
export function sectionsOf(file) {
  const sections = parse(readFileSync(file, 'utf8'));
  return Object.entries(sections).map(([name, entries]) => ({ name, entries: Object.entries(entries) }));
}

/** Titles by file as `[{ file, titles }]`. */
export function namedTests(tests) {
  return Object.entries(tests ?? {}).flatMap(([file, names]) =>
    names.map((title) => ({ file, titles: title.split(' › ') })),
  );
}
