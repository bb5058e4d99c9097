import type { Reason } from '../../client/src/index.ts';

/** Everything that the page says in one language. */
export interface Texts {
  /** Of dates and times. */
  readonly locale: string;
  readonly bookATime: string;
  readonly findATime: string;
  readonly whatAbout: string;
  readonly from: string;
  readonly showTimes: string;
  readonly firstTimesNearby: string;
  /** The names of clinics follow. */
  readonly didNotAnswer: string;
  readonly yourAppointments: string;
  readonly noAppointments: string;
  readonly awaitsCode: string;
  readonly chooseTime: string;
  readonly chooseAnotherTime: string;
  readonly noTimes: string;
  readonly laterTimes: string;
  readonly backToStart: string;
  readonly bookThisTime: string;
  readonly book: string;
  readonly moveAppointment: string;
  readonly move: string;
  readonly yourAppointment: string;
  readonly isCancelled: string;
  readonly codeSent: Readonly<Record<'sms' | 'email', string>>;
  readonly enterCode: Readonly<Record<'booking' | 'cancellation', string>>;
  readonly code: string;
  readonly confirm: string;
  readonly sendNewCode: string;
  readonly cancel: string;
  readonly cancelThis: string;
  readonly cancelAppointment: string;
  readonly keepIt: string;
  readonly didNotWork: string;
  /** What went wrong, in plain words. The reasons come from the gateway's closed list. */
  readonly problems: Readonly<Partial<Record<Reason | 'no_response', string>>> & { readonly other: string };
  /** What has been done. */
  readonly results: Readonly<Record<'booked' | 'moved' | 'confirmed' | 'sent' | 'cancelled', string>>;
}

export function problemText({ problems }: Texts, reason: string | undefined): string {
  return textNamed(problems, reason) ?? problems.other;
}

/** `undefined` for anything but a result. */
export function resultText({ results }: Texts, done: string | undefined): string | undefined {
  return textNamed(results, done);
}

/** The name comes from an address: it can be anything. */
function textNamed(texts: Readonly<Record<string, string | undefined>>, name = ''): string | undefined {
  return Object.hasOwn(texts, name) ? texts[name] : undefined;
}
