import { type Grouping as GroupingInNoTime, grouped as groupedInNoTime } from '@crossward/connector-kit/database';
import { tracing } from '../telemetry/tracing.ts';
import { errorCode, isLockTimeout, isRejectedRow, isSerializationFailure } from './errors.ts';
import type { Db } from './kysely.ts';
import { databaseTimeLeft, spendDatabaseTime, withinTime } from './time-limit.ts';

export interface Grouping<Input, Row> extends Pick<GroupingInNoTime<Db, Input, Row>, 'keyOf' | 'most'> {
  /** How the statement begins, such as `INSERT INTO` and the table: it names the span of each request that shares it. */
  readonly begins: string;
  /** Runs one statement for all inputs. Returns the row of each input, in their order. */
  readonly run: (db: Db, inputs: readonly Input[]) => Promise<readonly (Row | undefined)[]>;
}

/**
 * Lets requests that run at the same time share a statement of the gateway's tables, as the kit's `grouped` does.
 *
 * Each request waits for as long as it may wait for the database. The statement itself has the time limit of the connection, and
 * goes on without a request that has given up. In a transaction, an input has a statement of its own.
 */
export function grouped<Input, Row>(
  grouping: Grouping<Input, Row>,
): (db: Db, input: Input) => Promise<Row | undefined> {
  const { begins, run } = grouping;
  const add = groupedInNoTime({ ...grouping, isOfOneInput });
  return async (db, input) =>
    db.isTransaction ? (await run(db, [input]))[0] : inSpan(begins, () => inTime(add(db, input)));
}

/** The statement runs in the trace of no request, so each of them has a span for the time that it waits for it. */
async function inSpan<Row>(begins: string, work: () => Promise<Row>): Promise<Row> {
  const span = tracing?.statement(begins);
  if (!span) return work();
  let failure: string | undefined;
  try {
    return await work();
  } catch (error) {
    failure = (error instanceof Error && errorCode(error)) || 'error';
    throw error;
  } finally {
    span.end(failure);
  }
}

function isOfOneInput(error: unknown): boolean {
  return isRejectedRow(error) || isSerializationFailure(error) || isLockTimeout(error);
}

async function inTime<Row>(row: Promise<Row>): Promise<Row> {
  const limit = databaseTimeLeft();
  if (limit === undefined) return row;
  const asked = performance.now();
  try {
    return await withinTime(row, limit);
  } finally {
    spendDatabaseTime(asked);
  }
}
