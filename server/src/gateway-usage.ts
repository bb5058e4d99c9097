import { readFileSync } from 'node:fs';
import { environmentVariables } from './config/environment/environment-variables.ts';
import { nearest } from './config/mistakes/nearest.ts';

interface Answer {
  readonly text: string;
  /** Of the process: 0, or 2 for arguments that the gateway does not take. */
  readonly exitCode: 0 | 2;
}

/** What to print if the gateway is started with arguments. Shows no value, since it can be a secret. */
export function answerArguments([first = '', ...others]: readonly string[]): Answer {
  if (first === '--help' || first === '-h') return { text: usage(), exitCode: 0 };
  if (first === '--version') return { text: `${version()}\n`, exitCode: 0 };
  const option = /^--?([A-Za-z][\w-]*)/.exec(first)?.[1];
  const variable = nearest((option ?? '').toUpperCase().replaceAll('-', '_'), Object.keys(environmentVariables));
  const what = option === undefined ? (others.length > 0 ? 'these arguments' : 'this argument') : `--${option}`;
  const hint = variable === undefined ? '' : ` Did you mean the environment variable ${variable}?`;
  return {
    text: `The gateway does not take ${what}: environment variables set it up.${hint} --help lists them.\n`,
    exitCode: 2,
  };
}

function usage(): string {
  const rows = Object.entries(environmentVariables);
  const width = Math.max(...rows.map(([name]) => name.length));
  return `Usage: npx crossward start

Starts the Crossward gateway ${version()}. Environment variables set it up (default):

${rows.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}\n`).join('')}
Without CROSSWARD_CONFIG it is a demo: three sandbox EHRs with synthetic patients.

  CROSSWARD_CONFIG=crossward.yaml CROSSWARD_SECRET_KEY=… npx crossward start
  npx crossward doctor    checks the configuration and all that the gateway needs, without starting it
  npx crossward --help    lists the commands for operators

docs/configuration.md describes the variables and the configuration file.
`;
}

function version(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}
