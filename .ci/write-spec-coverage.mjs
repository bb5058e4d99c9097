// Writes docs/spec-coverage.md and docs/safety/hazard-log.md. With --check, fails if one is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { matrix, readHazards, severities } from './hazards.mjs';
import { readSpecRequirements } from './named-tests.mjs';

const coverage = 'docs/spec-coverage.md';
const hazardLog = 'docs/safety/hazard-log.md';
const sections = readSpecRequirements();
const count = sections.reduce((sum, { requirements }) => sum + requirements.length, 0);
const howTestsAreNamed = `A test is written as file › group › title. \`…\` stands for any text, for example the cases of a parametrised test. Outer
groups may be left out. \`npm run spec-coverage\` checks that the tests exist; in CI it checks that they ran and passed.`;

write(
  coverage,
  `# Coverage of the interface specification

<!-- Written by \`npm run generate\` from test/spec-requirements.yaml. -->

Every sentence of the interface specification that demands something, and the tests that prove it: ${count} requirements.
What the specification calls "not shown" is not in this table; the [guide](guide/README.md) documents what Crossward
does there.

${howTestsAreNamed}
${sections.map(section).join('')}`,
);

const hazardSections = readHazards();
const hazards = hazardSections.flatMap((it) => it.hazards);
write(
  hazardLog,
  `# Hazard log

<!-- Written by \`npm run generate\` from docs/safety/hazards.yaml. -->

The ${hazards.length} hazards of Crossward for a patient, in the manner of DCB0129: what can happen, why, what it does to
the patient, how likely and how severe it is without and with the controls, and the tests that prove each control. [What
can go wrong for a patient](README.md) says it in plain words, and what this log is not.

${howTestsAreNamed}

## Risk

| likelihood | ${severities.join(' | ')} |
| --- | ${severities.map(() => '---').join(' | ')} |
${Object.entries(matrix)
  .map(([likelihood, risks]) => `| ${likelihood} | ${risks.join(' | ')} |\n`)
  .join('')}
1: acceptable. 2: acceptable if further reduction costs more than it gains. 3: undesirable, acceptable only if further
reduction is impractical. 4: must be reduced. 5: unacceptable.

| id | hazard | risk before | risk after |
| --- | --- | --- | --- |
${hazards.map(({ id, hazard, before, after }) => `| [${id}](#${id.toLowerCase()}) | ${cell(hazard)} | ${before.risk} | ${after.risk} |\n`).join('')}${hazardSections.map(hazardSection).join('')}`,
);

function write(target, text) {
  if (!process.argv.includes('--check')) {
    writeFileSync(target, text);
  } else if (readFileSync(target, 'utf8') !== text) {
    process.stderr.write(`${target} is out of date: run npm run generate\n`);
    process.exitCode = 1;
  }
}

function section({ name, requirements }) {
  const rows = requirements.map(({ id, text, tests }) => `| ${id} | ${cell(text)} | ${linksIn(coverage, tests)} |\n`);
  return `\n## ${name}\n\n| id | requirement | tests |\n| --- | --- | --- |\n${rows.join('')}`;
}

function hazardSection({ name, hazards }) {
  return `\n## ${name}\n${hazards.map(hazardTable).join('')}`;
}

function hazardTable({ id, hazard, causes, effect, existing, before, controls, after, residual, acts }) {
  const rows = [
    ['Hazard', hazard],
    ['Causes', causes],
    ['Effect on the patient', effect],
    ['Controls outside of Crossward', existing],
    ['Risk before', riskText(before)],
    ...controls.map(({ control, tests }) => ['Control', `${cell(control)}<br>${linksIn(hazardLog, tests)}`]),
    ['Risk after', riskText(after)],
    ['What remains', residual],
    ['Who acts', acts],
  ];
  const lines = rows.map(([label, text]) => `| ${label} | ${label === 'Control' ? text : cell(text)} |\n`);
  return `\n### ${id}\n\n| | |\n| --- | --- |\n${lines.join('')}`;
}

function riskText({ severity, likelihood, risk }) {
  return `${risk}: severity ${severity}, likelihood ${likelihood}`;
}

function linksIn(page, tests) {
  return tests
    .map(({ file, titles }) => {
      return `[${file.replace(/^.*\//, '')}](${relative(dirname(page), file)}) › ${cell(titles.join(' › '))}`;
    })
    .join('<br>');
}

function cell(text) {
  return text.replaceAll('|', '\\|');
}
