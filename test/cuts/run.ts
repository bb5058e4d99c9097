import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { createRunFolder, startPostgres } from '../database/embedded-postgres.ts';
import { createFolderInMemory } from '../database/folder-in-memory.ts';
import { check } from './check.ts';
import { addRound, noTotals, type Totals, table } from './report.ts';
import { runRound } from './round.ts';

/*
 * Cuts the connections of two gateways to PostgreSQL at random commits and statements, kills and freezes the gateways, while
 * callers write, and compares what the callers were told with what is there in the end.
 *
 *   npm run test:cuts -- [--cuts 600] [--seed 1] [--round 200] [--at-once 2] [--state .data/cuts.json] [--resume]
 *     [--faults]
 *
 * A run consists of rounds, each on an empty database, two of them at once: a round ends with callers who wait. After each round
 * the state is stored: `--resume` continues. With `--cuts 0` one round runs without any cut. With `--faults`, the EHRs lose
 * responses, become unavailable for a while, and make writes late.
 */

const { values } = parseArgs({
  options: {
    cuts: { type: 'string', default: '600' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    round: { type: 'string', default: '200' },
    'at-once': { type: 'string', default: '2' },
    state: { type: 'string', default: '.data/cuts.json' },
    resume: { type: 'boolean', default: false },
    faults: { type: 'boolean', default: false },
  },
});

interface State {
  readonly seed: number;
  /** What is to be done, and what is done. */
  readonly cuts: number;
  done: number;
  rounds: number;
  failed: number;
  readonly totals: Totals;
}

const print = (text: string) => process.stdout.write(`${text}\n`);
const state: State = values.resume
  ? JSON.parse(await readFile(values.state, 'utf8'))
  : { seed: Number(values.seed), cuts: Number(values.cuts), done: 0, rounds: 0, failed: 0, totals: noTotals() };
/** With the rounds that run now. */
const begun = { cuts: state.done, rounds: state.rounds };
const folder = (await createFolderInMemory()) ?? (await createRunFolder());
const postgres = await startPostgres(folder);
try {
  print(`${state.cuts} cuts, seed ${state.seed}, ${state.done} done`);
  await Promise.all(Array.from({ length: Number(values['at-once']) }, runRounds));
} finally {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
print(table(state.totals));
print(state.failed === 0 ? 'All agree.' : `${state.failed} findings.`);
process.exitCode = state.failed === 0 ? 0 : 1;

async function runRounds(): Promise<void> {
  while (begun.rounds === 0 || begun.cuts < state.cuts) await nextRound();
}

async function nextRound(): Promise<void> {
  const cuts = Math.min(Number(values.round), state.cuts - begun.cuts);
  const seed = state.seed * 10_000 + begun.rounds++;
  begun.cuts += cuts;
  const from = Date.now();
  const options = { folder, postgresUrl: postgres.url, seed, cuts, hasFaultyEhrs: values.faults };
  const round = await runRound(options).catch((error) => {
    // The other rounds fail when their database stops.
    print(`round with seed ${seed} failed: ${error.stack}`);
    throw error;
  });
  const findings = check(round.history);
  for (const { fault, text } of findings) print(`  ✗ ${fault}: ${text}`);
  state.done += round.cutsByWay.length;
  state.rounds++;
  state.failed += findings.length;
  addRound(state.totals, { ...round, writes: round.history.writes, findings });
  await mkdir(dirname(values.state), { recursive: true });
  await writeFile(values.state, JSON.stringify(state));
  const seconds = Math.round((Date.now() - from) / 1_000);
  print(
    `round ${state.rounds}: ${round.cutsByWay.length} cuts, ${round.history.writes.length} writes, ${findings.length} findings, ${seconds} s, load ${loadavg()[0]?.toFixed(1)}`,
  );
}
