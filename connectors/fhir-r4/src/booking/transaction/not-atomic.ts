import { ConnectorError } from '@crossward/connector-kit';
import type { FhirResource } from '../../fhir.ts';
import type { BookingConnection } from '../../server/connection.ts';
import { withdraw } from '../write/appointment.ts';
import { findOperationResources } from '../write/operation-results.ts';
import { afterWriting, FinalError, unknownOutcome } from '../write/outcomes.ts';

/** The server executed a part of a transaction. `rejected` if that part is compensated, else `outcome_unknown`. */
export class NotAtomic extends FinalError {
  constructor({ isCompensated }: { readonly isCompensated: boolean }) {
    super(
      isCompensated ? 'rejected' : 'outcome_unknown',
      `The EHR ran a transaction as a batch; its changes ${isCompensated ? 'were' : 'could not be'} compensated`,
      { nothingChanged: isCompensated },
    );
  }
}

/** An entry that was executed although the transaction failed. */
export interface DoneEntry {
  /** `null`: it was created. */
  readonly before: FhirResource | null;
  /** `undefined`: the server did not say what it created. */
  readonly reference: string | undefined;
  /** The version that the server gave it, if known. */
  readonly version: string | undefined;
}

/**
 * Compensates the appointments first, then the slots: a free slot could be booked by others while its appointment still
 * exists.
 *
 * @returns whether everything is compensated
 */
export async function compensate(ehr: BookingConnection, done: readonly DoneEntry[]): Promise<boolean> {
  const isSlot = ({ before }: DoneEntry) => before?.resourceType === 'Slot';
  const appointments = done.filter((it) => !isSlot(it));
  return (await compensateEach(ehr, appointments)) && (await compensateEach(ehr, done.filter(isSlot)));
}

/** Continues after a failure, to compensate as much as possible. */
async function compensateEach(ehr: BookingConnection, done: readonly DoneEntry[]): Promise<boolean> {
  let isCompensated = true;
  for (const { before, reference, version } of done) {
    try {
      const works = before ? await putBack(ehr, before, version) : await withdraw(ehr, reference);
      isCompensated &&= works;
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error;
      isCompensated = false;
    }
  }
  return isCompensated;
}

/** Under the version that the transaction wrote, so that a later change by others is kept. */
async function putBack({ client }: BookingConnection, before: FhirResource, version: string | undefined) {
  const ifMatch = version ?? (await client.read(`${before.resourceType}/${before.id}`))?.meta?.versionId;
  return ifMatch !== undefined && (await client.update(before, { ifMatch })).ok;
}

/**
 * Rejects writes to a server that has executed a part of a transaction. Effects that could not be compensated may still
 * exist.
 */
export async function rejectTransaction(ehr: BookingConnection, operationId: string): Promise<never> {
  const left = ehr.operationLookup ? await afterWriting(() => findOperationResources(ehr, operationId)) : [];
  if (left.length > 0) throw unknownOutcome();
  throw new ConnectorError('rejected', 'The EHR runs transactions as batches, and gets no more of them');
}
