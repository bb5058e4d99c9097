import type { ResourceKind } from '@crossward/connector-kit';
import type { ConfirmationKind } from '../db/tables/confirmations.ts';
import type { Channel } from '../db/tables/messages.ts';
import type { Result } from './actions.ts';
import type { PageState } from './view.ts';

/** A heading, and what the patient can expect or do. */
export interface Passage {
  readonly heading: string;
  readonly text: string;
}

/** For one appointment or for several. */
type Passages = Readonly<Record<'one' | 'many', Passage>>;

/** How to reach the clinic: before its phone number, and without one. */
export type Reach = Readonly<Record<'call' | 'contact', string>>;

/** The results that the page shows as a message, beside the state. */
export type Notice = Exclude<Result, 'malformed' | 'incorrect' | 'taken'>;

/** The texts of the page in one language. */
export interface Texts {
  readonly states: Readonly<Record<ConfirmationKind, Readonly<Record<PageState, Passages>>>>;
  readonly notices: Readonly<Record<Notice, string>>;
  /** In place of the state, right after the code was entered. */
  readonly taken: Passage;
  readonly unknownLink: Passage;
  readonly tooManyRequests: Passage;
  readonly failed: Passage;
  /** The code has not left, and is not late yet. */
  readonly sendingBy: Readonly<Record<Channel, string>>;
  /** The provider has taken the code. */
  readonly sentBy: Readonly<Record<Channel, string>>;
  readonly late: string;
  readonly notDelivered: string;
  /** After `notDelivered`, if another code can be sent. */
  readonly requestAnother: string;
  /** Where the page alone does not help. */
  readonly reach: Reach;
  /** Below a confirmed appointment. */
  readonly change: Reach;
  readonly code: string;
  /** `day` if it is not today. */
  validUntil(time: string, day: string | undefined): string;
  /** The title of the list of errors, and what stands before the title of the page. */
  readonly errorTitle: string;
  readonly errorPrefix: string;
  malformed(length: number): string;
  incorrect(attemptsRemaining: number): string;
  readonly submit: Readonly<Record<ConfirmationKind, string>>;
  readonly noCode: string;
  readonly resend: string;
  readonly noMoreCodes: string;
  readonly reload: string;
  readonly cancel: Readonly<Record<'one' | 'many', string>>;
  readonly confirmCancel: Passages;
  readonly cancelNow: string;
  /** For a booking whose code is locked, but whose time is still held. `day` if it is not today. */
  readonly held: Readonly<Record<'one' | 'many', (time: string, day: string | undefined) => string>>;
  readonly release: Readonly<Record<'one' | 'many', string>>;
  readonly confirmRelease: Passages;
  readonly releaseNow: string;
  /** The link to the calendar file, the same after a cancellation, and the title of the appointment in a calendar. */
  readonly calendar: Readonly<Record<'one' | 'many', string>>;
  readonly calendarCancelled: Readonly<Record<'one' | 'many', string>>;
  calendarTitle(clinic: string): string;
  readonly keep: string;
  readonly goOn: string;
  readonly appointment: Readonly<Record<'one' | 'many', string>>;
  readonly time: string;
  readonly place: string;
  readonly resource: Readonly<Record<ResourceKind, string>>;
  /** Between two times. Screen readers say a dash in different ways. */
  readonly until: string;
  readonly language: string;
  readonly help: string;
}

/** The same for one appointment and for several. */
export const both = (passage: Passage): Passages => ({ one: passage, many: passage });
