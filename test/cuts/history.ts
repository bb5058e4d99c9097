/* What callers asked for and were told, and what is there in the end. Plain data: it can be stored, compared and falsified. */

export const kinds = [
  'booking',
  'booking by code',
  'draft',
  'wrong code',
  'confirmation',
  'resend',
  'resend on the page',
  'cancellation',
  'first step',
  'second step',
  'move',
  'bulk move',
  'bulk cancellation',
  'bulk first step',
  'bulk confirmation',
  'note',
  'document',
  'schedule',
  'schedule exception',
  'schedule end',
  'endpoint',
  'endpoint rotation',
  'endpoint test',
  'endpoint replay',
  'endpoint deletion',
  'operator: endpoint',
  'operator: endpoint rotation',
  'operator: endpoint test',
  'operator: endpoint replay',
  'operator: endpoint deletion',
  'operator: client',
  'operator: client rotation',
  'operator: drop',
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
  /** Names of what it is about: the comment of an appointment, or the name of a record in the snapshot. */
  readonly subjects: readonly string[];
  readonly requestIds: readonly string[];
  /** The response to each request, such as `503 database_unavailable`, or why there is none. */
  readonly answers: readonly string[];
  readonly told: Told;
  /** In the response. */
  readonly ids: readonly string[];
  /** The confirmation that the write made, or that it is about. */
  readonly confirmationId: string | undefined;
  /** Of a booking or a move: what was asked for, for each subject. See `slotName`. */
  readonly slots: readonly string[];
  /** SHA-256 of the secret in the response. */
  readonly secretHash: string | undefined;
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
    /** See `slotName`. */
    readonly slot: string;
    readonly comment: string | null;
  }[];
  /**
   * What was made beside appointments, each with a name and the id of what it is about: a note, a document, a schedule, an endpoint, a
   * client, but also an exception, the end of a schedule, a rotation, a test event and a dropped operation.
   */
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
    /** `null`: not about a message. */
    readonly messageId: string | null;
    /** From the commit to the publication. */
    readonly lateSeconds: number;
    /** What kept it from being published. */
    readonly meanwhile: readonly string[];
  }[];
  /** Messages that were marked as late, and had then not left for a minute. */
  readonly lateMessageIds: readonly string[];
  /** The names of endpoints with the ids of the events that they have accepted. */
  readonly deliveries: readonly { readonly endpoint: string; readonly eventIds: readonly string[] }[];
  /** SHA-256 of the secrets that are valid, by the id of the endpoint or client. */
  readonly secrets: readonly { readonly id: string; readonly hashes: readonly string[] }[];
  /** What operators did in the console. */
  readonly activity: readonly { readonly action: string; readonly target: string | null }[];
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

/** The endpoint that gets every event from the beginning. */
export const mainEndpoint = 'main';

/** @param start with an offset */
export function slotName({ start, resourceId }: { readonly start: string; readonly resourceId: string }): string {
  return `${new Date(start).toISOString()} at ${resourceId.replace(/^emr_id:/, '')}`;
}
