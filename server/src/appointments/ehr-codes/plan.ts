import type { AppointmentCancellation, AppointmentCreation } from '@crossward/connector-kit';
import type { Fault } from '../../problems/problem.ts';
import type { StepResponse } from '../write/plan.ts';

/** A call to an EHR that sends and checks codes itself. */
export type EhrCodeStep =
  | { readonly kind: 'request booking'; readonly creation: AppointmentCreation }
  | {
      readonly kind: 'request cancellation';
      readonly cancellation: AppointmentCancellation;
      readonly newId: string;
      readonly replacesId: string;
    }
  | { readonly kind: 'resend'; readonly confirmationId: string; readonly itemId: string; readonly reference: string }
  | {
      readonly kind: 'confirm';
      readonly confirmationId: string;
      readonly itemId: string;
      readonly reference: string;
      readonly code: string;
    };

/** One call for one appointment. */
export interface EhrCodePlan {
  readonly ehrCode: EhrCodeStep;
  readonly patientId: string;
  readonly response: StepResponse;
  /** The fault to report if its time is taken. */
  readonly taken?: Fault;
  readonly many: boolean;
  /** For a new confirmation: where the page for the patient links back to. */
  readonly returnUrl?: string | undefined;
}
