/* What callers asked for and were told, and what is there in the end. Plain data: it can be stored, compared and falsified. */

export const kinds = [
  'booking',
  'booking by code',
  'draft',
  'wrong code',
  'confirmation',
  'resend',
  'cancellation',
  'first step',
  'second step',
  'move',
  'bulk cancellation',
  'note',
  'document',
  'schedule',
  'endpoint',
  'endpoint deletion',
] as const;
export type Kind = (typeof kinds)[number];

/**
 * What the caller knows in the end.
 *
 * - `done`: the response said so, or the caller saw it when it looked
 * - `rejected`: the response said that nothing was done
 * - `unknown`: no final response, and the caller has not asked again
 */
export type Told = 'done' | 'rejected' | 'unknown';

/** One wish of a caller, with all its requests. */
export interface Write {
  readonly kind: Kind;
  readonly operation: string;
  readonly isKeyed: boolean;
  /** Names of the things that it is about: their comment, text, title, start or URL. */
  readonly subjects: readonly string[];
  readonly requestIds: readonly string[];
  /** The response to each request, such as `503 database_unavailable`, or why there is none. */
  readonly answers: readonly string[];
  readonly told: Told;
  /** In the response. */
  readonly ids: readonly string[];
  /** The confirmation that the write made, or that it is about. */
  readonly confirmationId: string | undefined;
  /** Of a booking or a move: the start that was asked for, as an ISO instant. */
  readonly start: string | undefined;
  /** Of the last problem. */
  readonly reason: string | undefined;
  /** Whether a response was lost, or a problem asked for another attempt. */
  readonly isDisturbed: boolean;
  /** Responses with status 500. */
  readonly internalErrors: number;
  /** Its key got no final response, although everything works again. */
  readonly isStuck: boolean;
}

export interface Snapshot {
  readonly appointments: readonly {
    readonly id: string;
    readonly state: 'booked' | 'held' | 'pending' | 'cancelled';
    readonly start: string;
    readonly comment: string | null;
  }[];
  /** The name of each note, document, schedule and webhook endpoint, with its id. */
  readonly records: readonly { readonly name: string; readonly id: string }[];
  readonly confirmations: readonly {
    readonly id: string;
    readonly failedAttempts: number;
    readonly codesSent: number;
    /** The caller's ids, and the EHR's id of each that the EHR has. */
    readonly items: readonly { readonly id: string; readonly ehrId: string | null; readonly subjectId: string }[];
  }[];
  readonly events: readonly {
    readonly id: string;
    readonly type: string;
    readonly subject: string | null;
    /** From the commit to the publication. */
    readonly lateSeconds: number;
  }[];
  /** Ids of the events that the webhook receiver has accepted. */
  readonly delivered: readonly string[];
  readonly audit: readonly {
    readonly operation: string;
    readonly recordIds: readonly string[];
    readonly outcome: string;
    readonly requestId: string;
  }[];
  /** Operations, confirmations and holds that never end, by the promise that they break. */
  readonly unfinished: readonly { readonly promise: string; readonly what: string }[];
}

export interface History {
  readonly writes: readonly Write[];
  readonly snapshot: Snapshot;
}
