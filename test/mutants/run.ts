import { parseArgs } from 'node:util';
import { mutants } from './mutants.ts';
import { tryMutants } from './try-mutants.ts';

/*
 * Puts each mutant into its connector and runs the conformance kit: `npm run test:mutants`, or
 * `npm run test:mutants -- --of gnuhealth`, `-- --name 'part of a name'`.
 */
const { values } = parseArgs({ options: { of: { type: 'string' }, name: { type: 'string', default: '' } } });
const chosen = mutants.filter((it) => (values.of ?? it.of) === it.of && it.name.includes(values.name));
const faults = await tryMutants(chosen, (line) => process.stdout.write(`${line}\n`));
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length > 0 ? 1 : 0;
