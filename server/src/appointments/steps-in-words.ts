import type { AppointmentPlan, PlannedChange, Step } from './write/plan.ts';

const words: Readonly<Record<PlannedChange['kind'], string>> = {
  create: 'book an appointment',
  update: 'change an appointment',
  cancel: 'cancel an appointment',
  confirm: 'confirm an appointment',
  extend: 'extend a hold',
  release: 'release a hold',
};

/** What each step of a plan does. Names nobody and no appointment. */
export function stepsOf({ steps }: AppointmentPlan): string[] {
  return steps.flatMap(describe);
}

function describe({ change, awaits }: Step): string[] {
  const made = change?.kind === 'create' && change.hold ? 'hold a time' : change && words[change.kind];
  const code = awaits && `send a code for the ${awaits.kind} by ${awaits.channel}`;
  return [...(made === undefined ? [] : [made]), ...(code === undefined ? [] : [code])];
}
