import { ConnectionError, ProblemError, type Reason, TokenError } from '@crossward/client';

/** What a tool answers instead of a result. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  /** A reason of the gateway, or one of the tools. */
  readonly reason: string;
  /** One sentence for the model: what to do next. */
  readonly next: string;

  constructor(reason: string, next: string) {
    super(reason);
    this.reason = reason;
    this.next = next;
  }
}

const findAnotherTime = 'Call find_times and let the person choose another time.';
const previewAgain = 'Call list_my_appointments to see whether it was done, and if not, make a new preview.';
const lookAgain = 'Call list_my_appointments to see the appointments as they are now.';
const tellOperator = 'Tell the person that booking does not work here at the moment, and do not try again.';
const tryLater = 'Wait a minute, then call the same tool with the same arguments.';
const repeat = 'Wait a minute, then call the same tool with the same plan_ref, which does nothing twice.';

/** A fault of this program. */
export const internalError = new Refusal('internal_error', tellOperator);
export const appointmentNotFound = new Refusal('appointment_not_found', lookAgain);
export const timeRefInvalid = new Refusal(
  'time_ref_invalid',
  'Call find_times again and use a time_ref of its result, unchanged.',
);
export const timeElsewhere = new Refusal(
  'time_elsewhere',
  'An appointment is moved within its care unit: use a time there, or ask the person whether to book this one and cancel the other.',
);
export const planRefInvalid = new Refusal('plan_ref_invalid', previewAgain);
/** @param fault what is wrong, without what was given */
export function argumentInvalid(fault: string): Refusal {
  return new Refusal('argument_invalid', `Correct the arguments and call the tool again: ${fault}.`);
}
export const personalNumberRefused = new Refusal(
  'personal_number_refused',
  'Call the tool without national numbers: use only ids that another tool has returned.',
);

/** What the model does about a problem of the gateway. Others are either worth another try or not. */
const nextSteps: { readonly [R in Reason]?: string } = {
  appointment_awaiting_confirmation: 'Tell the person to enter the code that they have received.',
  appointment_cancelled: lookAgain,
  appointment_changed: lookAgain,
  appointment_not_found: lookAgain,
  appointment_started: lookAgain,
  change_not_allowed: 'Tell the person to contact the care unit to change this appointment.',
  confirmation_expired: 'Call find_times and start again, because the code has expired and the time is free again.',
  confirmation_locked: 'Call find_times and start again, because too many codes were wrong.',
  confirmation_not_pending: lookAgain,
  credentials_invalid: tellOperator,
  healthcare_service_not_found: 'Call list_services and use a service_id of its result.',
  healthcare_service_not_offered: 'Call list_resources and use a resource that offers this service.',
  idempotency_in_progress: repeat,
  local_time_nonexistent: 'Use another time of day, because the clocks go forward over this one.',
  no_contact_channel: 'Tell the person that the care unit needs their phone number before they can book here.',
  outcome_unknown: repeat,
  patient_ambiguous: 'Tell the person to contact the care unit, which has two records with their number.',
  patient_inactive: 'Tell the person to contact the care unit.',
  patient_limit_reached: 'Tell the person to enter or let expire the codes they have received before they book again.',
  rate_limited: tryLater,
  resend_limit_reached: 'Tell the person that no more codes are sent for this appointment.',
  request_invalid: 'Correct the arguments as the descriptions of the tool say, and call it again.',
  resource_not_found: 'Call list_resources and use a resource_id of its result.',
  scope_missing: tellOperator,
  search_too_costly: 'Correct the range: call the tool again with fewer days, or with a resource_id.',
  time_range_invalid: 'Use a range that begins before it ends, in the future, of at most 92 days.',
  time_slot_unavailable: findAnotherTime,
};

/**
 * What a tool answers after an error. `undefined`: the error is a fault of this program.
 *
 * Texts of the gateway are left out: they are for developers, and some were written by an EHR.
 */
export function refusalFor(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (error instanceof ConnectionError) return new Refusal('gateway_unreachable', tryLater);
  if (error instanceof TokenError) return new Refusal('credentials_invalid', tellOperator);
  if (!(error instanceof ProblemError)) return undefined;
  const { reason, retryable } = error.problem;
  const otherwise = retryable
    ? tryLater
    : 'Tell the person that this is not possible here, and to contact the care unit.';
  return new Refusal(reason, nextSteps[reason] ?? otherwise);
}
