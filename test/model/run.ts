// Runs the model test with many random sequences: npm run test:model -- [--runs n] [--case name] [--project name]. A
// failure prints the --seed, --path and --replay-path that repeat it. After each thousand sequences the state is stored:
// `--resume` continues an interrupted run.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    path: { type: 'string' },
    'replay-path': { type: 'string' },
    case: { type: 'string' },
    project: { type: 'string', default: 'chaos' },
    state: { type: 'string', default: '.data/model.json' },
    resume: { type: 'boolean', default: false },
  },
});

interface State {
  readonly seed: number;
  readonly runs: number;
  readonly case: string | undefined;
  readonly project: string;
  /** Sequences that have passed. */
  done: number;
}

/** Sequences of one process. Each has a seed of its own. */
const atOnce = 1_000;
const { seed, runs, case: testCase, project } = values;
const state: State = values.resume
  ? JSON.parse(await readFile(values.state, 'utf8'))
  : { seed: Number(seed), runs: Number(runs), case: testCase, project, done: 0 };

while (state.done < state.runs && process.exitCode === undefined) {
  const count = Math.min(atOnce, state.runs - state.done);
  const code = await run(count, (state.seed + state.done) % 2 ** 31);
  if (code !== 0) process.exitCode = code ?? 1;
  else {
    state.done += count;
    // A repeated failure is no run to continue.
    if (values.path !== undefined) continue;
    await mkdir(dirname(values.state), { recursive: true });
    await writeFile(values.state, JSON.stringify(state));
  }
}

async function run(count: number, withSeed: number): Promise<number | null> {
  const pattern = state.case === undefined ? [] : ['--testNamePattern', state.case];
  const child = spawn('vitest', ['run', '--project', state.project, 'test/model', ...pattern], {
    stdio: 'inherit',
    env: {
      ...process.env,
      MODEL_RUNS: String(count),
      MODEL_SEED: String(withSeed),
      ...(values.path === undefined ? {} : { MODEL_PATH: values.path }),
      ...(values['replay-path'] === undefined ? {} : { MODEL_REPLAY_PATH: values['replay-path'] }),
    },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}
