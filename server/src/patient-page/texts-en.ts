import { both, type Texts } from './texts.ts';

export const en: Texts = {
  states: {
    booking: {
      waiting: {
        one: { heading: 'Confirm your appointment', text: 'Enter the code to confirm your appointment.' },
        many: { heading: 'Confirm your appointments', text: 'Enter the code to confirm all your appointments.' },
      },
      checking: {
        one: {
          heading: 'Waiting for a reply',
          text: 'The code is correct, but we do not know yet whether your appointment is confirmed. You do not need to do anything. Reload this page in a minute.',
        },
        many: {
          heading: 'Waiting for a reply',
          text: 'The code is correct, but we do not know yet whether your appointments are confirmed. You do not need to do anything. Reload this page in a minute.',
        },
      },
      confirmed: {
        one: { heading: 'Your appointment is confirmed', text: 'You do not need to do anything else.' },
        many: { heading: 'Your appointments are confirmed', text: 'You do not need to do anything else.' },
      },
      expired: {
        one: { heading: 'The code has expired', text: 'Your appointment was not confirmed in time. Book a new one.' },
        many: { heading: 'The code has expired', text: 'Your appointments were not confirmed in time. Book new ones.' },
      },
      locked: {
        one: { heading: 'Too many incorrect codes', text: 'Your appointment was not confirmed. Book a new one.' },
        many: { heading: 'Too many incorrect codes', text: 'Your appointments were not confirmed. Book new ones.' },
      },
      cancelled: {
        one: { heading: 'Your appointment is cancelled', text: 'The time is no longer reserved for you.' },
        many: { heading: 'Your appointments are cancelled', text: 'The times are no longer reserved for you.' },
      },
      unavailable: both({
        heading: 'Try again shortly',
        text: 'We cannot reach the booking system right now. Nothing has changed, and the code is still valid.',
      }),
    },
    cancellation: {
      waiting: {
        one: {
          heading: 'Cancel your appointment',
          text: 'Enter the code to cancel your appointment. If you do nothing, you keep it.',
        },
        many: {
          heading: 'Cancel your appointments',
          text: 'Enter the code to cancel all these appointments. If you do nothing, you keep them.',
        },
      },
      checking: both({
        heading: 'Waiting for a reply',
        text: 'The code is correct, but we do not know yet whether the cancellation is done. You do not need to do anything. Reload this page in a minute.',
      }),
      confirmed: {
        one: { heading: 'Your appointment is cancelled', text: 'You do not need to do anything else.' },
        many: { heading: 'Your appointments are cancelled', text: 'You do not need to do anything else.' },
      },
      expired: {
        one: { heading: 'The code has expired', text: 'Your appointment was not cancelled. You still have it.' },
        many: { heading: 'The code has expired', text: 'Your appointments were not cancelled. You still have them.' },
      },
      locked: {
        one: { heading: 'Too many incorrect codes', text: 'Your appointment was not cancelled. You still have it.' },
        many: {
          heading: 'Too many incorrect codes',
          text: 'Your appointments were not cancelled. You still have them.',
        },
      },
      cancelled: both({ heading: 'The cancellation has ended', text: 'The code can no longer be used.' }),
      unavailable: both({
        heading: 'Try again shortly',
        text: 'We cannot reach the booking system right now. The code is still valid.',
      }),
    },
  },
  notices: {
    sent: 'A new code is on its way. The previous one is no longer valid.',
    too_soon: 'Wait half a minute before you request a new code. Use the latest code that you received.',
    resend_limit: 'We cannot send any more codes. Use the latest code that you received.',
    patient_limit:
      'Too many codes were sent in the last hour. Use the latest code that you received, or try again later.',
    no_contact: 'We no longer have a phone number or e-mail address to send the code to.',
    unknown: 'The booking system did not reply. Try again.',
    unavailable: 'We could not reach the booking system, so nothing has changed. Try again.',
    rejected: 'The booking system did not accept the change. Contact the clinic.',
  },
  taken: {
    heading: 'The time is taken',
    text: 'Somebody else got the time before your appointment was confirmed. Book a new one.',
  },
  unknownLink: {
    heading: 'This link is not valid',
    text: 'Open the link once more from your newest message, or copy all of it. A link stops working a day after its code was used or expired: book again where you booked, or call your clinic.',
  },
  tooManyRequests: { heading: 'Too many attempts', text: 'Wait a minute, then try again.' },
  failed: { heading: 'Something went wrong', text: 'The error is on our side. Try again shortly.' },
  sendingBy: { sms: 'We are sending you the code by SMS.', email: 'We are sending you the code by e-mail.' },
  sentBy: { sms: 'We have sent you the code by SMS.', email: 'We have sent you the code by e-mail.' },
  late: 'The message with the code is late. We keep trying to send it, and the code is valid meanwhile.',
  notDelivered: 'We could not send the message with the code.',
  requestAnother: 'Request a new code.',
  reach: { call: 'You can also call us:', contact: 'You can also contact the clinic.' },
  change: {
    call: 'If you need to change or cancel, call us:',
    contact: 'If you need to change or cancel, contact the clinic.',
  },
  code: 'Code',
  validUntil: (time, day) => `The code is valid until ${time}${day ? ` on ${day}` : ''}.`,
  errorTitle: 'The code was not accepted',
  errorPrefix: 'Error',
  malformed: (length) => `Enter the ${length} digits of the code`,
  incorrect: (left) => `The code is incorrect. You have ${left} ${left === 1 ? 'attempt' : 'attempts'} left`,
  submit: { booking: 'Confirm', cancellation: 'Cancel appointment' },
  noCode: 'Have you not received the code?',
  resend: 'Send a new code',
  noMoreCodes: 'We cannot send any more codes.',
  reload: 'Reload the page',
  cancel: { one: 'Cancel the appointment', many: 'Cancel the appointments' },
  confirmCancel: {
    one: { heading: 'Cancel your appointment?', text: 'Others can then book the time.' },
    many: { heading: 'Cancel your appointments?', text: 'Others can then book the times.' },
  },
  cancelNow: 'Yes, cancel',
  held: {
    one: (time, day) =>
      `The time is held for you until ${time}${day ? ` on ${day}` : ''}. Release it to book it again now.`,
    many: (time, day) =>
      `The times are held for you until ${time}${day ? ` on ${day}` : ''}. Release them to book them again now.`,
  },
  release: { one: 'Release the time', many: 'Release the times' },
  confirmRelease: {
    one: { heading: 'Release the time?', text: 'You can then book it again, and so can others.' },
    many: { heading: 'Release the times?', text: 'You can then book them again, and so can others.' },
  },
  releaseNow: 'Yes, release',
  calendar: { one: 'Add to your calendar', many: 'Add them to your calendar' },
  calendarCancelled: { one: 'Mark it as cancelled in your calendar', many: 'Mark them as cancelled in your calendar' },
  calendarTitle: (clinic) => `Appointment at ${clinic}`,
  keep: 'No, go back',
  goOn: 'Continue',
  appointment: { one: 'Your appointment', many: 'Your appointments' },
  time: 'Time',
  place: 'Place',
  resource: { practitioner: 'With', room: 'Room', device: 'Equipment' },
  until: 'to',
  language: 'Language',
  help: 'Do you need help? Call',
};
