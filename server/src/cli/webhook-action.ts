import { commandLine } from '../console/audit/act.ts';
import { type OperatorAction, recordActivity } from '../console/audit/activity.ts';
import type { Tx } from '../db/kysely.ts';
import { inTransactionOrUnknown } from '../db/transactions.ts';
import { Problem } from '../problems/problem.ts';
import { exitCodes } from './exit-codes.ts';
import { withDatabase } from './gateway-database.ts';
import type { Output } from './output.ts';

interface Done {
  /** The id of the endpoint. */
  readonly target: string;
  /** Goes to standard output. */
  readonly text: string;
  /** Goes to standard error. */
  readonly note?: string;
}

/** Runs an action in a transaction that also records it. Prints its result, or its problem. */
export type RunAction = (action: OperatorAction, work: (tx: Tx) => Promise<Done>) => Promise<void>;

export function webhookAction(output: Output, end: (exitCode: number) => void): RunAction {
  return async (action, work) => {
    try {
      const { text, note = '' } = await withDatabase(output, (db) =>
        inTransactionOrUnknown(db, async (tx) => {
          const done = await work(tx);
          await recordActivity(tx, { operator: commandLine, action, target: done.target, outcome: 'done' });
          return done;
        }),
      );
      output.err(note);
      output.out(text);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      output.err(`${error.detail}\n`);
      end(exitCodes.failed);
    }
  };
}
