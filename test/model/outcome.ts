import type { Code, Model } from './model.ts';

/** The word of a dry run. */
export type ChangeWord = 'kept' | 'moved' | 'updated' | 'created' | 'cancelled';

interface ShownEntry {
  readonly id: string;
  readonly change: ChangeWord;
  /** It does not exist before the request. */
  readonly isNew?: boolean;
}

export interface Success {
  readonly shown: readonly ShownEntry[];
}

export interface Refusal {
  readonly reason: Reason;
  /** 404 for what the path names and the gateway does not have; in a body that is 400. */
  readonly status: number;
  /** Requests about many: the ids at fault. */
  readonly faults?: readonly string[];
  readonly attemptsRemaining?: number;
}

/** What a request ought to be answered. */
export type Outcome = Success | Refusal;

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

export function shown(id: string, change: ChangeWord, isNew = false): Success {
  return { shown: [{ id, change, isNew }] };
}

export function refused(reason: Reason): Refusal {
  return { reason, status: statuses[reason] };
}

export const notInPath: Refusal = { reason: 'appointment_not_found', status: 404 };

export interface Fault {
  readonly id: string;
  readonly reason: Reason;
}

/** What is no appointment's is named by its place alone. */
function isFound({ reason }: Fault): boolean {
  return reason !== 'appointment_not_found';
}

/**
 * Any missing slot makes the answer `time_slot_unavailable`; otherwise the first faulty id decides; every id at fault is
 * named.
 */
export function refusedFor(faults: readonly Fault[]): Refusal | undefined {
  const decisive = faults.find(({ reason }) => reason === 'time_slot_unavailable') ?? faults[0];
  return decisive && { ...refused(decisive.reason), faults: faults.filter(isFound).map(({ id }) => id) };
}

/** Why an id cannot be updated. */
export function updateRefusal(model: Model, id: string): Reason | undefined {
  const entry = model.entries.get(id);
  if (!entry) return 'appointment_not_found';
  const { state } = entry.kind === 'view' ? entry.of : entry;
  if (state === 'cancelled') return 'appointment_cancelled';
  return state === 'held' || entry.kind === 'view' ? 'appointment_awaiting_confirmation' : undefined;
}

export function codeOf(model: Model, id: string): Code | undefined {
  return model.entries.get(id)?.code;
}

/** What a comment of a request stands for: `undefined` leaves the appointment's, and the empty text takes it away. */
export function written(comment: string | undefined): string | null | undefined {
  return comment === undefined ? undefined : comment || null;
}
