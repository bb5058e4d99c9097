// Writes docs/spec-coverage.md. With --check, fails if the file is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { readSpecRequirements } from './spec-requirements.mjs';

const target = 'docs/spec-coverage.md';
const sections = readSpecRequirements();
const count = sections.reduce((sum, { requirements }) => sum + requirements.length, 0);
const text = `# Coverage of the interface specification

<!-- Written by \`npm run generate\` from test/spec-requirements.yaml. -->

Every sentence of the interface specification that demands something, and the tests that prove it: ${count} requirements.
What the specification calls "not shown" is not in this table; the [guide](guide/README.md) documents what Crossward
does there.

A test is written as file › group › title. \`…\` stands for any text, for example the cases of a parametrised test. Outer
groups may be left out. \`npm run spec-coverage\` checks that the tests exist; in CI it checks that they ran and passed.
${sections.map(section).join('')}`;

if (!process.argv.includes('--check')) {
  writeFileSync(target, text);
} else if (readFileSync(target, 'utf8') !== text) {
  process.stderr.write(`${target} is out of date: run npm run generate\n`);
  process.exitCode = 1;
}

function section({ name, requirements }) {
  const rows = requirements.map(
    ({ id, text, tests }) => `| ${id} | ${cell(text)} | ${tests.map(link).join('<br>')} |\n`,
  );
  return `\n## ${name}\n\n| id | requirement | tests |\n| --- | --- | --- |\n${rows.join('')}`;
}

function link({ file, titles }) {
  return `[${file.replace(/^.*\//, '')}](../${file}) › ${cell(titles.join(' › '))}`;
}

function cell(text) {
  return text.replaceAll('|', '\\|');
}
