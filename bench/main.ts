// npm run bench [name …] [-- --save]: compares the gateway with yardsticks in the same run, because absolute figures depend
// on the machine. The gateway, the yardstick, PostgreSQL and this driver share its processors.
import { parseArgs } from 'node:util';
import { anywhere } from './benches/anywhere.ts';
import { booking, bookingInMemory } from './benches/book.ts';
import { fhir } from './benches/fhir.ts';
import { growth } from './benches/growth.ts';
import { history } from './benches/history.ts';
import { idle } from './benches/idle.ts';
import { installation } from './benches/installation.ts';
import { memory } from './benches/memory.ts';
import { type Peer, peers } from './benches/peers.ts';
import { read } from './benches/read.ts';
import { reschedule } from './benches/reschedule.ts';
import { start } from './benches/start.ts';
import { timeSlots } from './benches/time-slots.ts';
import { workers } from './benches/workers.ts';
import type { Bench } from './measure/bench.ts';
import { startDurablePostgres } from './measure/postgres.ts';
import { save } from './measure/save.ts';
import { describe, type SavedResult, toMarkdown } from './measure/table.ts';

const usual: readonly Bench[] = [
  read,
  booking,
  bookingInMemory,
  timeSlots,
  anywhere,
  history,
  reschedule,
  fhir,
  start,
  idle,
  memory,
  workers,
  installation,
  ...growth,
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { save: { type: 'boolean' }, medplum: { type: 'string' }, hapi: { type: 'string' } },
});
const running: readonly Peer[] = [
  ...(values.medplum === undefined
    ? []
    : [{ name: 'Medplum', url: values.medplum, token: process.env.MEDPLUM_TOKEN } as const]),
  ...(values.hapi === undefined ? [] : [{ name: 'HAPI', url: values.hapi, token: process.env.HAPI_TOKEN } as const]),
];
if (running.length === 0 && positionals.includes('peers')) {
  process.stderr.write('peers needs a FHIR server that runs: --medplum <base URL>, --hapi <base URL>, or both.\n');
  process.exit(2);
}
const benches: readonly Bench[] = running.length === 0 ? usual : [...usual, peers(running)];
const names = benches.map(({ name }) => name);
const asked = positionals.flatMap((name) => (name === 'growth' ? growth.map((bench) => bench.name) : [name]));
const unknown = asked.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`Unknown: ${unknown.join(', ')}. The benchmarks are ${names.join(', ')}.\n`);
  process.exit(2);
}
if (values.save && positionals.length > 0) {
  process.stderr.write('--save takes no names: documents quote all benchmarks of one run.\n');
  process.exit(2);
}

const postgres = await startDurablePostgres();
try {
  const results: SavedResult[] = [];
  for (const bench of benches) {
    if (asked.length > 0 && !asked.includes(bench.name)) continue;
    for (const result of await bench.run(postgres)) {
      results.push({ bench: bench.name, ...result });
      process.stdout.write(describe(result));
    }
  }
  process.stdout.write(`\n${toMarkdown(results)}`);
  if (values.save) process.stdout.write(`\nSaved to ${await save(results, postgres)}\n`);
} finally {
  await postgres.stop();
}
