import { ConnectorError } from '@crossward/connector-kit';

/** What was read has changed since: nothing was done, and it may be tried again from the start. */
export class LostRace extends Error {
  override readonly name = 'LostRace';
}

/** Another call with the same operation id is at it. */
export class UnderWay extends Error {
  override readonly name = 'UnderWay';
}

/** Whether the EHR may have done what it was sent. */
export function isUnknown(error: unknown): boolean {
  return error instanceof ConnectorError && (error.kind === 'outcome_unknown' || error.kind === 'timeout');
}

export function timeTaken(): ConnectorError {
  return new ConnectorError('time_slot_unavailable', 'No free time slot covers the range');
}

export function unknownOutcome(cause?: unknown): ConnectorError {
  return new ConnectorError('outcome_unknown', 'The EHR may or may not have done the write', { cause });
}

/**
 * For what is asked once something was written, or may have been: a question that the EHR refuses, such as one too many
 * in a minute, does not say that nothing was done.
 *
 * @throws ConnectorError `outcome_unknown`
 */
export async function afterWriting<Result>(ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    throw error instanceof ConnectorError ? unknownOutcome(error) : error;
  }
}

/** https://hl7.org/fhir/R4/http.html#concurrency: 412; Oracle Health and others: 409, 423 while somebody else writes. */
export function isConflict(status: number): boolean {
  return status === 409 || status === 412 || status === 423;
}

/** Answers of a server that may have stopped halfway. */
export function isBroken(status: number): boolean {
  return status >= 500 && status !== 501;
}

/** For what tidies up: whoever comes next sees what is left. */
export async function quietly(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ConnectorError) && !(error instanceof LostRace)) throw error;
  }
}
