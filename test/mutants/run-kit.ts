import { parseArgs } from 'node:util';
import { runConformance } from '@crossward/connector-kit/conformance';
import { fewDays } from '../requests/few-days.ts';
import { subjects } from './subjects.ts';

/*
 * Runs the kit on one connector: `node test/mutants/run-kit.ts gnuhealth [capability …]`. Prints what fails, and ends with 1 if
 * something has failed. With --first it ends after the first failure.
 */
const { values, positionals } = parseArgs({
  options: { first: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [name = '', ...only] = positionals;
const make = subjects[name];
if (!make) throw new Error(`No connector ${name}: one of ${Object.keys(subjects).join(', ')}`);
const subject = await make();
const small = Object.create(subject, {
  facts: { value: { window: fewDays, ...subject.facts } },
  raceRounds: { value: 3 },
});
const { failed, leftBehind } = await runConformance(small, {
  only: only.length > 0 ? only : undefined,
  onResult({ outcome, capability, check, reason }) {
    if (outcome !== 'failed') return;
    process.stdout.write(`${capability}: ${check}: ${reason}\n`);
    if (values.first) process.exit(1);
  },
});
if (leftBehind.length > 0) process.stdout.write(`left behind: ${leftBehind.join(', ')}\n`);
process.exit(failed + leftBehind.length > 0 ? 1 : 0);
