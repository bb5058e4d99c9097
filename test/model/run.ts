// Runs the model test with many random sequences: npm run test:model -- [--runs n] [--case name] [--project name]. A
// failure prints the --seed, --path and --replay-path that repeat it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    path: { type: 'string' },
    'replay-path': { type: 'string' },
    case: { type: 'string' },
    project: { type: 'string', default: 'chaos' },
  },
});

const child = spawn(
  'vitest',
  [
    'run',
    '--project',
    values.project,
    'test/model',
    ...(values.case === undefined ? [] : ['--testNamePattern', values.case]),
  ],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      MODEL_RUNS: values.runs,
      MODEL_SEED: values.seed,
      ...(values.path === undefined ? {} : { MODEL_PATH: values.path }),
      ...(values['replay-path'] === undefined ? {} : { MODEL_REPLAY_PATH: values['replay-path'] }),
    },
  },
);
const [code] = (await once(child, 'exit')) as [number | null];
process.exitCode = code ?? 1;
