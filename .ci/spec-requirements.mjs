// The requirements of the interface specification and the tests that prove them, from test/spec-requirements.yaml.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** Sections with their requirements: `{ name, requirements: [{ id, text, tests: [{ file, titles }] }] }`. */
export function readSpecRequirements() {
  const sections = parse(readFileSync('test/spec-requirements.yaml', 'utf8'));
  return Object.entries(sections).map(([name, requirements]) => ({
    name,
    requirements: Object.entries(requirements).map(([id, { requirement, tests }]) => ({
      id,
      text: requirement,
      tests: Object.entries(tests ?? {}).flatMap(([file, names]) =>
        names.map((title) => ({ file, titles: title.split(' › ') })),
      ),
    })),
  }));
}
