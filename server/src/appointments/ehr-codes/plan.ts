import type { AppointmentCancellation, AppointmentCreation } from '@crossward/connector-kit';
import type { Fault } from '../../problems/problem.ts';
import type { StepAnswer } from '../write/plan.ts';

/** What an EHR is asked that sends and checks codes itself. */
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

/** One step with one appointment. */
export interface EhrCodePlan {
  readonly ehrCode: EhrCodeStep;
  readonly patientId: string;
  readonly answer: StepAnswer;
  /** What is told when its time is taken. */
  readonly taken?: Fault;
  readonly many: boolean;
}
