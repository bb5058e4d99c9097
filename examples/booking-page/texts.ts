import type { Reason } from '../../client/src/index.ts';

const problems: Readonly<Partial<Record<Reason | 'no_response', string>>> = {
  time_slot_unavailable: 'Somebody else has just taken this time. Please choose another one.',
  appointment_not_found: 'We cannot find this appointment or page.',
  appointment_cancelled: 'This appointment is cancelled.',
  appointment_started: 'This visit has started. Please call the clinic.',
  confirmation_code_incorrect: 'This code is incorrect. Please check the message and try again.',
  confirmation_expired: 'The time to enter the code is over. Please book again.',
  confirmation_locked: 'There were too many incorrect codes. Please book again.',
  confirmation_not_pending: 'This appointment awaits no code.',
  rate_limited: 'We have just sent a code. Please wait half a minute before you ask for another one.',
  resend_limit_reached: 'We cannot send more codes for this appointment. Please enter the latest one.',
  patient_limit_reached: 'You have asked for many codes. Please try again in an hour.',
  no_contact_channel: 'The clinic has no phone number of yours to send a code to. Please call the clinic.',
  outcome_unknown: 'We do not know yet whether this worked. Press the button again: nothing will be done twice.',
  no_response: 'We got no response. Press the button again: nothing will be done twice.',
  ehr_unavailable: 'The clinic cannot be reached at the moment. Please try again in a few minutes.',
  ehr_timeout: 'The clinic cannot be reached at the moment. Please try again in a few minutes.',
};

/** What went wrong, in plain words. The reasons come from the gateway's closed list. */
export function problemText(reason: string | undefined): string {
  return (
    Object.entries(problems).find(([key]) => key === reason)?.[1] ??
    'Something went wrong. Please try again, or call the clinic.'
  );
}

const results: Readonly<Record<string, string>> = {
  booked: 'Your time is booked.',
  moved: 'Your appointment is moved.',
  confirmed: 'Thank you. Your appointment is confirmed.',
  sent: 'We have sent a new code.',
  cancelled: 'Your appointment is cancelled.',
};

/** What has been done, or `undefined` for anything else. */
export function resultText(done: string | undefined): string | undefined {
  return results[done ?? ''];
}
