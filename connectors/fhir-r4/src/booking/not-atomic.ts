import { ConnectorError } from '@crossward/connector-kit';
import type { FhirConnection } from '../connection.ts';
import type { FhirResource } from '../fhir.ts';
import { withdraw } from './withdraw.ts';

/** The server has done some of a transaction: `rejected` when that was undone, else `outcome_unknown`. */
export class NotAtomic extends ConnectorError {
  constructor({ isUndone }: { readonly isUndone: boolean }) {
    super(
      isUndone ? 'rejected' : 'outcome_unknown',
      `The EHR runs transactions as batches; what it had done ${isUndone ? 'was' : 'could not be'} undone`,
    );
  }
}

/** One entry of a transaction that was done though others were not. */
export interface DoneEntry {
  /** `null`: it was created. */
  readonly before: FhirResource | null;
  /** `undefined`: the server did not say what it created. */
  readonly reference: string | undefined;
  /** The version that it has been given, where the server said so. */
  readonly version: string | undefined;
}

/**
 * Appointments first, and slots only once these are as they were: a slot that is free again while its appointment
 * stands would be booked by others.
 *
 * @returns whether everything is as it was
 */
export async function undo(ehr: FhirConnection, done: readonly DoneEntry[]): Promise<boolean> {
  const isSlot = ({ before }: DoneEntry) => before?.resourceType === 'Slot';
  const appointments = done.filter((it) => !isSlot(it));
  return (await undoEach(ehr, appointments)) && (await undoEach(ehr, done.filter(isSlot)));
}

/** Goes on after a failure, so that as little as can be is left behind. */
async function undoEach(ehr: FhirConnection, done: readonly DoneEntry[]): Promise<boolean> {
  let isUndone = true;
  for (const { before, reference, version } of done) {
    try {
      const works = before ? await putBack(ehr, before, version) : await withdraw(ehr, reference);
      isUndone &&= works;
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error;
      isUndone = false;
    }
  }
  return isUndone;
}

/** Under the version that the transaction left, so that what others have done since stays. */
async function putBack({ client }: FhirConnection, before: FhirResource, version: string | undefined) {
  const ifMatch = version ?? (await client.read(`${before.resourceType}/${before.id}`))?.meta?.versionId;
  return ifMatch !== undefined && (await client.update(before, { ifMatch })).ok;
}
