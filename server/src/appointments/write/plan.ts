import type { Appointment, AppointmentChange, AppointmentCreation } from '@crossward/connector-kit';
import type { Awaited } from '../../confirmations/items.ts';
import type { ConfirmationKind } from '../../db/tables/confirmations.ts';
import type { Channel } from '../../db/tables/messages.ts';
import type { Fault, Place } from '../../problems/problem.ts';

/** What becomes of an appointment, in the words of a dry run. */
export const changeWords = ['kept', 'moved', 'updated', 'created', 'cancelled'] as const;
export type ChangeWord = (typeof changeWords)[number];

/** How long a hold lasts is known when the operation begins: until then a plan only says that it is one. */
export type PlannedCreation = Omit<AppointmentCreation, 'holdUntil'> & { readonly hold: boolean };
type PlannedExtension = { readonly kind: 'extend'; readonly appointmentId: string };
export type PlannedChange =
  | Exclude<AppointmentChange, AppointmentCreation | { readonly kind: 'extend' }>
  | PlannedCreation
  | PlannedExtension;

/** A code that an appointment is to await. Steps of one kind and patient share one. */
export interface PlannedCode {
  readonly kind: ConfirmationKind;
  readonly patientId: string;
  readonly channel: Channel;
  readonly to: string;
  /** The id that the gateway makes, where the EHR's own will not do: of a draft, or of a two-step cancellation. */
  readonly newId?: string;
  /** A booking that is not told to the EHR before the code has come, since it cannot hold a time. */
  readonly draft?: PlannedCreation;
  /** A two-step cancellation: what the caller knows the original by, and the comment to write. */
  readonly replacesId?: string;
  readonly comment?: string | null | undefined;
}

/** An entry of the answer. */
export interface StepAnswer {
  /** As the EHR answers the change, or this, where nothing is changed. A dry run shows this one. */
  readonly appointment: Appointment;
  /** What the caller knows it by, where that is not the EHR's id. */
  readonly id?: string | undefined;
  readonly replacesId?: string | undefined;
  /** A code that it waits for already. */
  readonly awaiting?: Awaited | undefined;
  readonly word: ChangeWord;
}

/** What is done to one appointment. Everything about it is here: plans are merged by putting their steps together. */
export interface Step {
  /** What the EHR is asked for. */
  readonly change?: PlannedChange;
  /** The appointment as it stands before: what an undo puts back. */
  readonly before?: Appointment;
  readonly answer?: StepAnswer;
  /** Where the request names it. */
  readonly place?: Place;
  /** What is told when its time is taken. */
  readonly taken?: Fault;
  readonly awaits?: PlannedCode;
  /** The id whose code has come. */
  readonly confirms?: string;
  /** The id whose awaited code is given up. */
  readonly releases?: string;
}

/** A fresh code for everything that waits for the one before. */
export interface FreshCode {
  readonly confirmationId: string;
  /** The id that the request names. */
  readonly askedFor: string;
  readonly patientId: string;
  readonly channel: Channel;
  readonly to: string;
  /** In the order of the first message. */
  readonly appointments: readonly { readonly id: string; readonly start: Date }[];
}

/**
 * Everything a write is going to do to appointments, decided before any of it is done: it can be stored, done, done again
 * after a crash, or only shown.
 */
export interface AppointmentPlan {
  readonly steps: readonly Step[];
  /** One appointment is answered, or a list of them. */
  readonly many: boolean;
  /** Whose code has come. */
  readonly confirmationId?: string;
  readonly freshCode?: FreshCode;
}

/** A step that the EHR is asked for, under its number in the plan. */
export interface ChangeStep extends Step {
  readonly index: number;
  readonly change: PlannedChange;
}

export function changesOf({ steps }: AppointmentPlan): readonly ChangeStep[] {
  return steps.flatMap((step, index) => (step.change ? [{ ...step, index, change: step.change }] : []));
}

/** What the EHR is told, once it is known how long holds last. */
export function ehrChange(change: PlannedChange, expiresAt: Date | null): AppointmentChange {
  if (change.kind === 'create') {
    const { hold, ...creation } = change;
    return { ...creation, holdUntil: hold ? expiresAt : null };
  }
  if (change.kind !== 'extend') return change;
  if (!expiresAt) throw new Error('A hold is extended without an end');
  return { ...change, holdUntil: expiresAt };
}

/** By the number of the step: what the EHR has made of it. */
export type Results = ReadonlyMap<number, Appointment>;

/** The steps that await a code, those of one kind and patient together: each group has one code and one message. */
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
