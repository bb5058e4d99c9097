import { ConnectorError, type ConnectorErrorKind } from '@crossward/connector-kit';

/** A resource has changed since it was read. Nothing was written, and the write can start again. */
export class LostRace extends Error {
  override readonly name = 'LostRace';
}

/** Another call with the same operation id is in progress. */
export class OperationInProgress extends Error {
  override readonly name = 'OperationInProgress';
}

/** An error after which no further request may be sent for the write. */
export class FinalError extends ConnectorError {}

const unknownKinds: readonly ConnectorErrorKind[] = ['outcome_unknown', 'timeout', 'connection_closed'];

/** Whether the EHR may have performed the failed request. */
export function isUnknown(error: unknown): boolean {
  return error instanceof ConnectorError && unknownKinds.includes(error.kind);
}

const noFreeSlot = 'No free time slot covers the range';

export function timeTaken(): ConnectorError {
  return new ConnectorError('time_slot_unavailable', noFreeSlot);
}

/** No Slots of a known schedule cover the time, so it may be in a schedule that is newer than the cached directory. */
export class NoKnownSlots extends ConnectorError {
  constructor() {
    super('time_slot_unavailable', noFreeSlot);
  }
}

export function isTimeTaken(error: unknown): boolean {
  return error instanceof ConnectorError && error.kind === 'time_slot_unavailable';
}

export function unknownOutcome(cause?: unknown): ConnectorError {
  return new ConnectorError('outcome_unknown', 'The EHR may or may not have done the write', { cause });
}

/**
 * Runs a request that follows a write, or a request that may have written. If the EHR rejects it, for example because
 * of a rate limit, the write may still be done.
 *
 * @throws ConnectorError `outcome_unknown` in place of any other
 */
export async function afterWriting<Result>(ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    throw error instanceof ConnectorError ? unknownOutcome(error) : error;
  }
}

/** The same error, when it is certain that nothing stands of the writes that were sent before. */
export function nothingChanged(error: ConnectorError): ConnectorError {
  const { kind, message, retryAfterSeconds, publicDetail, appointmentIds } = error;
  return new ConnectorError(kind, message, {
    cause: error,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    publicDetail,
    appointmentIds,
    nothingChanged: true,
  });
}

/** https://hl7.org/fhir/R4/http.html#concurrency: 412. Oracle Health and others: 409, and 423 during another write. */
export function isConflict(status: number): boolean {
  return status === 409 || status === 412 || status === 423;
}

/** A status after which the write may be partly done. */
export function isBroken(status: number): boolean {
  return status >= 500 && status !== 501;
}

/** Runs a clean-up and ignores its failure: later reads handle what is left. */
export async function quietly(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ConnectorError) && !(error instanceof LostRace)) throw error;
  }
}
