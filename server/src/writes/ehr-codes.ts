import type { Appointment, EhrConfirmation } from '@crossward/connector-kit';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import type { EhrCodeStep } from './plan.ts';

export interface EhrResults {
  /** Of the changes, in their order. */
  readonly results: readonly Appointment[];
  /** What the EHR says of a code that it has sent itself. */
  readonly ehrConfirmation?: EhrConfirmation;
}

interface Write {
  readonly ehr: EhrConnection;
  readonly careUnit: CareUnitConnection;
  readonly operationId: string;
}

/** Passes a step on to an EHR that sends and checks codes itself. */
export async function takeCodeStep({ ehr, careUnit, operationId }: Write, step: EhrCodeStep): Promise<EhrResults> {
  const write = { careUnit, operationId };
  switch (step.kind) {
    case 'request booking':
      return confirmationResults(await ehr.call('requestBooking', { ...write, creation: step.creation }));
    case 'request cancellation':
      return confirmationResults(await ehr.call('requestCancellation', { ...write, cancellation: step.cancellation }));
    case 'confirm':
      return { results: [await ehr.call('confirmCode', { ...write, reference: step.reference, code: step.code })] };
  }
}

function confirmationResults(ehrConfirmation: EhrConfirmation): EhrResults {
  return { results: [ehrConfirmation.appointment], ehrConfirmation };
}
