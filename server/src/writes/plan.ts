import type {
  Appointment,
  AppointmentCancellation,
  AppointmentChange,
  AppointmentCreation,
} from '@crossward/connector-kit';
import type { ConfirmationKind } from '../confirmations/tables.ts';
import type { Channel } from '../messages/outbox.ts';

/** What becomes of an appointment, in the words of a dry run. */
export const changeWords = ['kept', 'moved', 'updated', 'created', 'cancelled'] as const;
export type ChangeWord = (typeof changeWords)[number];

/** How long a hold lasts is only known when the plan begins: until then it says that it is one. */
export type PlannedCreation = Omit<AppointmentCreation, 'holdUntil'> & { readonly hold: boolean };
export type PlannedChange = Exclude<AppointmentChange, AppointmentCreation> | PlannedCreation;

/** An appointment that will await a code. */
export type PlannedItem =
  /** Held in the EHR by the change at this index. */
  | { readonly change: number }
  /** Not told to the EHR before the code has come, since it cannot hold a time. */
  | { readonly newId: string; readonly draft: PlannedCreation }
  /** A two-step cancellation: a new id for an appointment that stays booked until the code has come. */
  | {
      readonly newId: string;
      readonly original: Appointment;
      readonly replacesId: string;
      readonly comment: string | null | undefined;
    };

/** One code for what one request makes for one patient. */
export interface PlannedConfirmation {
  readonly kind: ConfirmationKind;
  readonly patientId: string;
  readonly channel: Channel;
  readonly to: string;
  readonly items: readonly PlannedItem[];
}

/** What is known of a code while it is awaited. */
export interface Awaited {
  readonly confirmationId: string;
  readonly kind: ConfirmationKind;
  readonly channel: Channel;
  readonly delivery: 'queued' | 'sent' | 'failed';
  readonly expiresAt: Date;
  readonly attemptsRemaining: number;
}

/** What an EHR is asked that sends and checks codes itself. */
export type EhrCodeStep =
  | { readonly kind: 'request booking'; readonly creation: AppointmentCreation }
  | {
      readonly kind: 'request cancellation';
      readonly cancellation: AppointmentCancellation;
      readonly newId: string;
      readonly replacesId: string;
    }
  | { readonly kind: 'confirm'; readonly reference: string; readonly code: string };

/** What a right code stands for. */
interface Confirming {
  readonly confirmationId: string;
  readonly ids: readonly string[];
  /** How often it was done in the EHR and undone, before this. */
  readonly timesUndone: number;
}

/** One appointment of the answer, in order. */
export interface PlannedAnswer {
  /** The EHR's answer to the change at this index, or an appointment that stays as it is. */
  readonly from: { readonly change: number } | { readonly appointment: Appointment };
  /** What the caller knows it by, where that is not the EHR's id. */
  readonly id?: string | undefined;
  readonly replacesId?: string | undefined;
  /** A code that it waits for already. */
  readonly awaiting?: Awaited | undefined;
  readonly word: ChangeWord;
  /** What a dry run shows. */
  readonly preview: Appointment;
}

/**
 * Everything a write is going to do, decided before any of it is done: it can be stored, done, done again after a crash,
 * or only shown.
 */
export interface WritePlan {
  readonly changes: readonly PlannedChange[];
  /** The appointments to be changed as they are, for an EHR in which changes have to be undone one by one. */
  readonly before?: readonly Appointment[] | undefined;
  /** In place of changes, where the EHR sends and checks codes itself. */
  readonly viaEhr?: EhrCodeStep | undefined;
  /** The operation id that the EHR is given, where it must not be the request's own: two requests for one change. */
  readonly ehrOperationId?: string | undefined;
  readonly confirmations: readonly PlannedConfirmation[];
  /** Ids whose code has come. */
  readonly confirming?: Confirming | undefined;
  /** Ids whose awaited code is given up. */
  readonly releasing?: readonly string[] | undefined;
  readonly answer: readonly PlannedAnswer[];
  /** One appointment, or a list of them. */
  readonly many: boolean;
  /** The ids as the request lists them, where it does. */
  readonly requestedIds?: readonly string[] | undefined;
}

export function holdsTime(plan: WritePlan): boolean {
  return plan.changes.some((change) => change.kind === 'create' && change.hold);
}

const dates = new Set(['start', 'end', 'heldUntil', 'holdUntil', 'expiresAt']);

export function planFromText(text: string): WritePlan {
  return JSON.parse(text, (key, value) => (dates.has(key) && typeof value === 'string' ? new Date(value) : value));
}

/** The change that an id of the answer comes from. */
export function changeIndexOf({ answer }: WritePlan, id: string): number | undefined {
  const from = answer.find((entry) => entry.id === id)?.from;
  return from && 'change' in from ? from.change : undefined;
}
