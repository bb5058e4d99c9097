import type { Code, Model } from './model.ts';

/** The field `change` of a dry run. */
export type ShownChange = 'kept' | 'moved' | 'updated' | 'created' | 'cancelled';

interface ShownEntry {
  readonly id: string;
  readonly change: ShownChange;
  /** Whether the request creates it. */
  readonly isNew?: boolean;
}

export interface Success {
  readonly shown: readonly ShownEntry[];
}

export interface Rejection {
  readonly reason: Reason;
  /** An unknown id is 404 in the path and 400 in the body. */
  readonly status: number;
  /** For bulk requests: the ids in `errors`. */
  readonly faults?: readonly string[];
  readonly attemptsRemaining?: number;
}

/** The expected response to a request. */
export type Outcome = Success | Rejection;

const statuses = {
  time_slot_unavailable: 400,
  appointments_not_alike: 400,
  confirmations_differ: 400,
  confirmation_code_incorrect: 400,
  appointment_not_found: 400,
  confirmation_expired: 409,
  confirmation_locked: 409,
  confirmation_not_pending: 409,
  resend_limit_reached: 409,
  appointment_cancelled: 409,
  appointment_awaiting_confirmation: 409,
  appointment_started: 409,
  no_contact_channel: 409,
  rate_limited: 429,
} as const;

export type Reason = keyof typeof statuses;

export function shown(id: string, change: ShownChange, isNew = false): Success {
  return { shown: [{ id, change, isNew }] };
}

export function rejection(reason: Reason): Rejection {
  return { reason, status: statuses[reason] };
}

export const notInPath: Rejection = { reason: 'appointment_not_found', status: 404 };

export interface Fault {
  readonly id: string;
  readonly reason: Reason;
}

/** Errors of unknown ids contain only the position. */
function isFound({ reason }: Fault): boolean {
  return reason !== 'appointment_not_found';
}

/** If any error is `time_slot_unavailable`, it is the reason of the problem; otherwise the first error is. All ids are listed. */
export function rejectionFor(faults: readonly Fault[]): Rejection | undefined {
  const first = faults.find(({ reason }) => reason === 'time_slot_unavailable') ?? faults[0];
  return first && { ...rejection(first.reason), faults: faults.filter(isFound).map(({ id }) => id) };
}

/** The reason why an appointment cannot be updated. */
export function updateRejection(model: Model, id: string): Reason | undefined {
  const entry = model.entries.get(id);
  if (!entry) return 'appointment_not_found';
  const { state } = entry.kind === 'view' ? entry.of : entry;
  if (state === 'cancelled') return 'appointment_cancelled';
  return state === 'held' || entry.kind === 'view' ? 'appointment_awaiting_confirmation' : undefined;
}

export function codeOf(model: Model, id: string): Code | undefined {
  return model.entries.get(id)?.code;
}

/** The comment that a request writes. `undefined`: the comment is kept. An empty comment becomes null. */
export function written(comment: string | undefined): string | null | undefined {
  return comment === undefined ? undefined : comment || null;
}
