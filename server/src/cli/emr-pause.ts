import { Command } from 'commander';
import { act, NotPossible } from '../console/audit/act.ts';
import type { Db } from '../db/kysely.ts';
import { pauseEhr, resumeEhr } from '../ehr/pauses.ts';
import { configuredAccess, withStoredAccess } from './configured-access.ts';
import { exitCodes, UsageError } from './exit-codes.ts';
import { withDatabase } from './gateway-database.ts';
import type { Output } from './output.ts';
import { readInstant } from './read-time.ts';

interface Options {
  readonly config?: string;
  readonly until?: string;
}

const configOption = [
  '-c, --config <file>',
  'configuration file (default: CROSSWARD_CONFIG, otherwise the demo)',
] as const;

export function emrPauseCommand(output: Output, end: (exitCode: number) => void): Command {
  return new Command('pause')
    .description(
      'Stop calls to an EHR: callers get 503 ehr_paused, background work waits. All gateways follow in seconds.',
    )
    .argument('<emr>', 'EHR id')
    .option(...configOption)
    .option('--until <time>', 'when the pause ends, such as 2027-03-28T06:00+02:00 (default: with `emr resume`)')
    .action(async (emr: string, { config, until }: Options) => {
      const ends = until === undefined ? null : readInstant('--until', until);
      const result = await onEmr(output, emr, config, (db) =>
        act(db, undefined, { action: 'emr_pause', target: emr }, async (tx) => {
          if (!(await pauseEhr(tx, emr, ends))) throw new NotPossible('past');
        }),
      );
      const isDone = !(result instanceof NotPossible);
      const how = ends ? `until ${ends.toISOString()}` : 'until `crossward emr resume`';
      if (isDone) output.out(`The EHR ${emr} is paused ${how}. Running gateways follow within seconds.\n`);
      else output.err('Nothing was changed: --until is not in the future.\n');
      end(isDone ? exitCodes.fine : exitCodes.failed);
    });
}

export function emrResumeCommand(output: Output, end: (exitCode: number) => void): Command {
  return new Command('resume')
    .description('End the pause of an EHR. What waits for the EHR is due at once.')
    .argument('<emr>', 'EHR id')
    .option(...configOption)
    .action(async (emr: string, { config }: Options) => {
      const result = await onEmr(output, emr, config, (db) =>
        act(db, undefined, { action: 'emr_resume', target: emr }, async (tx) => {
          if (!(await resumeEhr(tx, emr))) throw new NotPossible('not_paused');
        }),
      );
      const isDone = !(result instanceof NotPossible);
      if (isDone) output.out(`The EHR ${emr} is no longer paused. Running gateways follow within seconds.\n`);
      else output.err('This EHR is not paused.\n');
      end(isDone ? exitCodes.fine : exitCodes.failed);
    });
}

/** @throws {UsageError} for an id that only a mistake can explain */
async function onEmr<Result>(
  output: Output,
  emr: string,
  config: string | undefined,
  work: (db: Db) => Promise<Result>,
): Promise<Result> {
  const configured = await configuredAccess(config);
  return withDatabase(output, async (db) => {
    const ids = (await withStoredAccess(db, configured)).emrs.map(({ id }) => id);
    if (ids.includes(emr)) return work(db);
    throw new UsageError(`The configuration has no EHR ${emr}. Known EHRs: ${ids.join(', ')}.`);
  });
}
