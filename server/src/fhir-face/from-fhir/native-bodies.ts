import type { AppointmentBody } from '../../appointments/contract.ts';
import { formatInstant } from '../../time/date-times.ts';
import { statusOf } from '../to-fhir/appointment.ts';
import { invalid, unprocessable } from './faults.ts';
import type { Wish } from './read-appointment.ts';

/** The body of `create_appointment`. @throws Problem `request_invalid` (422) for what is missing */
export function creationBody(wish: Wish, timeZone: string) {
  const { patient, resource, service, start, end, comment } = wish;
  const required = { participant: patient && resource, serviceType: service, start, end };
  const missing = Object.entries(required).find(([, value]) => value === undefined);
  if (patient === undefined || resource === undefined || service === undefined || !start || !end) {
    const detail =
      'A booking needs a patient, a practitioner, room or device, a healthcare service, a start and an end.';
    throw unprocessable(`/${missing?.[0] ?? ''}`, detail, 'required');
  }
  return {
    patient_id: patient,
    resource_id: resource,
    healthcare_service_id: service,
    start_time: formatInstant(start, timeZone),
    end_time: formatInstant(end, timeZone),
    ...(comment === undefined ? {} : { comment }),
  };
}

export interface ChangeRules {
  readonly timeZone: string;
  /** Whether the client has sent all that it read, so that what is missing is to be removed. */
  readonly isWhole: boolean;
  /** Whether what cannot change is 400, as ISiK has it. */
  readonly isPatch: boolean;
  /** Statuses that ask for a booking, for `$book`. */
  readonly asked?: readonly Wish['status'][];
}

/**
 * The body of `change_appointment`: the difference between an appointment and what a client wishes.
 *
 * @throws Problem `request_invalid` (422; 400 by a patch) for what cannot change
 */
export function changeBody(before: AppointmentBody, wish: Wish, rules: ChangeRules): object {
  const { patient, service, resource, start, end } = wish;
  const isMoved = differs(start, before.start) || differs(end, before.end);
  const isOther = resource !== undefined && resource !== before.resource_id;
  const fault = rules.isPatch ? invalid : unprocessable;
  // A number is not compared: whose it is only the EHR knows.
  if (patient !== undefined && !patient.startsWith('emr_id:')) {
    throw fault('/participant', 'Name the patient by reference, as the Appointment does.', 'not-supported');
  }
  if (patient !== undefined && patient !== before.patient_id) {
    throw fault('/participant', 'The patient of an Appointment cannot change.', 'not-supported');
  }
  if (rules.isPatch && (patient === undefined || (resource === undefined && before.resource_id !== null))) {
    throw fault('/participant', 'An Appointment has a patient, and a practitioner, room or device.', 'required');
  }
  if (service !== undefined && service !== before.healthcare_service_id) {
    throw fault('/serviceType', 'The healthcare service of an Appointment cannot change.', 'not-supported');
  }
  const comment = commentOf(before, wish, rules);
  const isChanged = isMoved || isOther || comment !== undefined;
  if (wish.status === 'cancelled' && !(before.status === 'cancelled' && isChanged)) {
    if (isMoved || isOther) throw unprocessable('/status', 'An Appointment is either changed or cancelled.');
    const text = (wish.comment === undefined ? undefined : comment) ?? wish.cancellationText ?? comment;
    return { status: 'cancelled', ...(text === undefined ? {} : { comment: text }) };
  }
  const current = statusOf(before);
  if (wish.status !== current && !rules.asked?.includes(wish.status)) {
    throw unprocessable('/status', `The status ${current} can only become cancelled. A code is entered with $confirm.`);
  }
  const change = {
    ...(isMoved && start && end
      ? { start: formatInstant(start, rules.timeZone), end: formatInstant(end, rules.timeZone) }
      : {}),
    ...(isOther ? { resource_id: resource } : {}),
    ...(comment === undefined ? {} : { comment }),
  };
  // Nothing changes: the same time again says so natively.
  if (Object.keys(change).length > 0) return change;
  return before.end === null ? { comment: before.comment ?? '' } : { start: before.start, end: before.end };
}

function differs(wished: Date | undefined, current: string | null): boolean {
  return wished !== undefined && wished.getTime() !== Date.parse(current ?? '');
}

/** `undefined`: it stays. */
function commentOf(before: AppointmentBody, { comment }: Wish, { isWhole }: ChangeRules): string | undefined {
  if (comment === undefined) return isWhole && before.comment ? '' : undefined;
  return comment === before.comment ? undefined : comment;
}
