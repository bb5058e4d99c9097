import type { Appointment } from '@crossward/connector-kit';
import type { ChangeStep, Results } from '../write/changes.ts';
import { changesOf } from '../write/changes.ts';
import type { AppointmentPlan } from '../write/plan.ts';

/** A move after which the appointment has a new id. */
export interface Move {
  /** Books the new time. */
  readonly booking: ChangeStep;
  /** Cancels the former appointment. The same step as `booking` if the EHR does both in one. */
  readonly cancellation: ChangeStep & { readonly before: Appointment };
  /** The EHR's id of the former appointment, and the id by which callers know it. */
  readonly formerId: string;
  readonly supersedesId: string;
}

/** The moves of a plan after which appointments have new ids. */
export function movesOf(plan: AppointmentPlan): readonly Move[] {
  const changes = changesOf(plan);
  return changes.flatMap((booking) => {
    const { supersedes: formerId, response } = booking;
    if (formerId === undefined) return [];
    const cancellation = isOneStep(booking)
      ? booking
      : changes.find(({ change }) => change.kind === 'cancel' && change.appointmentId === formerId);
    if (!cancellation?.before) throw new Error('A move does not cancel the former appointment');
    const supersedesId = response?.appointment.supersedesId ?? formerId;
    return [{ booking, cancellation: { ...cancellation, before: cancellation.before }, formerId, supersedesId }];
  });
}

/** Whether one step of the EHR moves the appointment, and gives it a new id. */
export function isOneStep({ change, supersedes }: Pick<ChangeStep, 'change' | 'supersedes'>): boolean {
  return change.kind === 'update' && supersedes !== undefined;
}

/** The moves that book in one step and cancel in another. */
export function twoStepMovesOf(plan: AppointmentPlan): readonly Move[] {
  return movesOf(plan).filter(({ booking }) => !isOneStep(booking));
}

/** The move that a step belongs to. */
export function moveOf(plan: AppointmentPlan, index: number): Move | undefined {
  return movesOf(plan).find(({ booking, cancellation }) => booking.index === index || cancellation.index === index);
}

/**
 * The appointment that is booked in place of the former one: at the new time or, after compensation, at the former time again.
 * `undefined`: the former one is not cancelled, or has no successor.
 */
export function successorOf({ booking, cancellation, formerId }: Move, results: Results): Appointment | undefined {
  const former = results.get(cancellation.index);
  if (!former) return undefined;
  return former.id === formerId ? results.get(booking.index) : former;
}

/**
 * How far the moves of a plan are in an EHR that does not find writes by id. `nearly`: all times are booked, and only former
 * appointments remain to be cancelled. `undefined`: none has an effect that can be seen.
 */
export function unfinishedMoves(plan: AppointmentPlan, done: Results): 'nearly' | 'in part' | undefined {
  const cancellations = new Set(twoStepMovesOf(plan).map(({ cancellation }) => cancellation.index));
  if (cancellations.size === 0 || done.size === 0) return undefined;
  const missing = changesOf(plan).filter(({ index }) => !done.has(index));
  return missing.every(({ index }) => cancellations.has(index)) ? 'nearly' : 'in part';
}
