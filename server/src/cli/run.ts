import { ConnectorError } from '@crossward/connector-kit';
import { CommanderError } from 'commander';
import { DatabaseError } from '../db/errors.ts';
import { describeError } from '../log/describe-error.ts';
import { Problem } from '../problems/problem.ts';
import { ConfigurationError } from '../startup/configuration-error.ts';
import { exitCodes, UsageError } from './exit-codes.ts';
import type { Output } from './output.ts';
import { createProgram } from './program.ts';

const unknown =
  'The outcome is unknown: the database did not say whether it has stored the change. See whether it was made before you ' +
  'repeat it. A secret that was made is not shown again: make another one.';

/** Runs a command line without the program name. Returns the exit code. */
export async function run(words: readonly string[], output: Output): Promise<number> {
  let exitCode: number = exitCodes.fine;
  const program = createProgram(output, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(words, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has already printed the error or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.fine : exitCodes.wrongUsage;
    if (error instanceof ConnectorError) {
      output.err(`The call to the EHR failed: ${error.kind}: ${error.message}.\n`);
      return exitCodes.failed;
    }
    if (error instanceof Problem && error.reason === 'outcome_unknown') {
      output.err(`${unknown}\n`);
      return exitCodes.failed;
    }
    const isForPeople =
      error instanceof UsageError || error instanceof ConfigurationError || error instanceof DatabaseError;
    output.err(`${isForPeople ? error.message : JSON.stringify(describeError(error))}\n`);
    return isForPeople ? exitCodes.wrongUsage : exitCodes.failed;
  }
}
