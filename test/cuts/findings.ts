import type { Kind, Write } from './history.ts';

export const faults = [
  'lost',
  'doubled',
  'told wrongly',
  'stuck',
  'without event',
  'without audit entry',
  'without delivery',
  'counted twice',
  '500',
  'late event',
] as const;
export type Fault = (typeof faults)[number];

export interface Finding {
  readonly fault: Fault;
  /** `undefined`: not about one write. */
  readonly kind: Kind | undefined;
  readonly text: string;
}

/** @param text what is there */
export function finding(
  fault: Fault,
  { kind, subjects, isKeyed, told, answers, requestIds }: Write,
  text: string,
): Finding {
  const about = `${kind} ${isKeyed ? 'with' : 'without'} a key of ${subjects.join(', ')}, told ${told} after ${answers.join(', ')}, last request ${requestIds.at(-1)}`;
  return { fault, kind, text: `${text} (${about})` };
}
