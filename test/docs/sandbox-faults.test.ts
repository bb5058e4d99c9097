import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sandboxFaults } from '../../connectors/sandbox/src/faults.ts';

const table = [
  '| patient | the EHR | response | what to do |',
  '| --- | --- | --- | --- |',
  ...sandboxFaults.map(
    ({ patientId, ehr, response, remedy }) => `| \`${patientId}\` | ${ehr} | ${response} | ${remedy} |`,
  ),
].join('\n');

test.each(['connectors/sandbox/README.md', 'docs/guide/retries.md'])(
  '%s has the patients on which the sandbox breaks',
  (path) => {
    expect(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')).toContain(`\n${table}\n`);
  },
);
