import type { Appointment, AppointmentChange, AppointmentCreation, PatientDetails } from '@crossward/connector-kit';
import type { TimeRange } from '../../api/request-times.ts';
import type { Awaited } from '../../confirmations/items.ts';
import type { ConfirmationKind } from '../../db/tables/confirmations.ts';
import type { Channel } from '../../db/tables/messages.ts';
import { publicDetailOf } from '../../ehr/connector-problems.ts';

import { type Fault, type Place, Problem } from '../../problems/problem.ts';
import { formatInstant, localDay } from '../../time/date-times.ts';
import type { DaysTaken } from '../../writes/write-kind.ts';
import type { KnownAppointment } from '../known-appointments.ts';

/** The name of the kinds of writes to appointments, which is stored with every write. */
export const appointmentKindName = 'appointments';

/** What happens to an appointment: the values of `change` in a dry run. */
export const shownChanges = ['kept', 'moved', 'updated', 'created', 'cancelled'] as const;
export type ShownChange = (typeof shownChanges)[number];

/** The end of a hold is known once the write has started. A plan only marks it as a hold. */
export type PlannedCreation = Omit<AppointmentCreation, 'holdUntil'> & { readonly hold: boolean };
type PlannedExtension = { readonly kind: 'extend'; readonly appointmentId: string };
export type PlannedChange =
  | Exclude<AppointmentChange, AppointmentCreation | { readonly kind: 'extend' }>
  | PlannedCreation
  | PlannedExtension;

/** A code to send for an appointment. Steps of the same kind and patient share one code. */
export interface PlannedCode {
  readonly kind: ConfirmationKind;
  readonly patientId: string;
  readonly channel: Channel;
  readonly to: string;
  /** The gateway's own id, for a draft or a two-step cancellation. */
  readonly newId?: string;
  /** A booking that is sent to the EHR only once its code is confirmed, because the EHR has no holds. */
  readonly draft?: PlannedCreation;
  /** Of a booking that is not in the EHR yet, or for the next code. */
  readonly patientDetails?: PatientDetails | undefined;
  /** Two-step cancellation: the caller's id of the original, and the comment to write. */
  readonly replacesId?: string;
  readonly comment?: string | null | undefined;
  /** Where the page for the patient links back to. */
  readonly returnUrl?: string | undefined;
}

/** An entry of the response. */
export interface StepResponse {
  /** Shown if the step changes nothing, and in a dry run. Otherwise the EHR's result is shown. */
  readonly appointment: KnownAppointment;
  /** The caller's id, if it is not the EHR's. */
  readonly id?: string | undefined;
  readonly replacesId?: string | undefined;
  /** A code that it already awaits. */
  readonly awaiting?: Awaited | undefined;
  readonly word: ShownChange;
}

/** What is done to one appointment. Plans are merged by joining their steps. */
export interface Step {
  /** The change to make in the EHR. */
  readonly change?: PlannedChange;
  /** The appointment before the change. Compensation restores it. */
  readonly before?: Appointment;
  readonly response?: StepResponse;
  /** Where the request names the appointment. */
  readonly place?: Place;
  /** The fault to report if its time is taken. */
  readonly faultIfTaken?: Fault;
  readonly awaits?: PlannedCode;
  /** The id that the entered code confirms. */
  readonly confirms?: string;
  /** The id that no longer awaits its code. */
  readonly releases?: string;
  /**
   * The EHR's id of the appointment in whose place this step makes a new one. An update moves it, and gives it a new id. For a
   * booking, another step cancels it, because the EHR cannot move it.
   */
  readonly supersedes?: string;
}

/**
 * Everything that a write will do to appointments, decided in advance. A plan can be stored, performed, performed again
 * after a crash, or shown in a dry run.
 */
export interface AppointmentPlan {
  readonly steps: readonly Step[];
  /** Whether the response is a list of appointments. */
  readonly many: boolean;
  /** The confirmation whose code was entered. */
  readonly confirmationId?: string;
  /** Whether all changes have one operation id in the EHR, or each has its own. Absent until `asWrite`. */
  readonly hasOneId?: boolean;
}

/** The patients who get a code. */
export function patientsWithCode({ steps }: AppointmentPlan): readonly string[] {
  return [...new Set(steps.flatMap(({ awaits }) => awaits?.patientId ?? []))];
}

/** The days of all times that the EHR may take or give back for the plan: undoing a change takes the former time again. */
export function daysTaken({ steps }: AppointmentPlan, timeZone: string): DaysTaken {
  const changed = steps.filter(({ change }) => change !== undefined);
  const times = changed.flatMap(({ change, before }) => [
    ...(change?.kind === 'create' ? [change] : []),
    ...(change?.kind === 'update' && change.time ? [change.time] : []),
    ...(before ? [before] : []),
  ]);
  const days = times.flatMap(({ start, end }) => [start, end ?? start].map((at) => localDay(at, timeZone))).sort();
  return { takesFrom: days[0] ?? null, takesUntil: days.at(-1) ?? null };
}

/** Groups the steps that need a code by kind and patient. Each group gets one code and one message. */
export function codeGroups({ steps }: AppointmentPlan): readonly (readonly AwaitingStep[])[] {
  const groups = new Map<string, AwaitingStep[]>();
  for (const [index, step] of steps.entries()) {
    if (!step.awaits) continue;
    const key = JSON.stringify([step.awaits.kind, step.awaits.patientId]);
    groups.set(key, [...(groups.get(key) ?? []), { ...step, index, awaits: step.awaits }]);
  }
  return [...groups.values()];
}

export interface AwaitingStep extends Step {
  readonly index: number;
  readonly awaits: PlannedCode;
}

/** An id of the response that awaits a code. */
export interface Made {
  readonly id: string;
  readonly awaited: Awaited;
}
/** Codes that were created. Key: the index of the step, or the id that the plan assigned. */
export type MadeCodes = ReadonlyMap<number | string, Made>;

/** A booking as the appointment that it would become. */
export function draftAppointment(
  { kind: _, hold: __, patientDetails: ___, ...booking }: PlannedCreation,
  id: string,
  careUnitId: string,
  state: Appointment['state'],
): Appointment {
  return { ...booking, id, state, heldUntil: null, careUnitId };
}

/** Whether the plan has records to store. */
export function hasRecords({ steps, confirmationId }: AppointmentPlan): boolean {
  const does = ({ awaits, releases }: Step) => (awaits ?? releases) !== undefined;
  return confirmationId !== undefined || steps.some(does);
}

/** The longest appointment. Connectors may rely on it when they search. */
export const longestAppointmentHours = 24;
/** The longest range of a continuous reschedule. */
export const longestRescheduleHours = 31 * 24;

interface Requested extends TimeRange {
  readonly resourceId: string;
}

/** A fault that says which time is not free. The resource id is the EHR's, whatever identifier the request used. */
export function slotFault(requested: Requested, timeZone: string, place: Place | undefined, id?: string): Fault {
  const range = `from ${formatInstant(requested.start, timeZone)} to ${formatInstant(requested.end, timeZone)}`;
  return {
    place,
    ...(id === undefined ? {} : { id }),
    reason: 'time_slot_unavailable',
    detail: `No free time slot with resource ${requested.resourceId} ${range}.`,
  };
}

/** Reports each fault of the steps once. What the EHR says to the person comes first. */
export function timesTaken(steps: readonly { readonly faultIfTaken?: Fault }[], cause?: unknown): Problem {
  const faults = steps.flatMap(({ faultIfTaken }) => faultIfTaken ?? []);
  const reported = [...new Map(faults.map((fault) => [JSON.stringify(fault), fault])).values()];
  const detail = publicDetailOf(cause) ?? reported[0]?.detail;
  return new Problem('time_slot_unavailable', { detail, faults: reported, cause });
}
