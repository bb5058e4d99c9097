import { createHash } from 'node:crypto';
import type { Appointment, AppointmentChange } from '@crossward/connector-kit';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { Problem } from '../problems/problem.ts';
import type { PlannedChange, WritePlan } from './plan.ts';

/** What the EHR is asked for under one operation id. */
export interface EhrWrite {
  readonly ehr: EhrConnection;
  readonly careUnit: CareUnitConnection;
  readonly operationId: string;
  readonly changes: readonly AppointmentChange[];
  /** The appointments as they were before: what an undo puts back. */
  readonly before?: readonly Appointment[] | undefined;
  /** Comes before anything is undone. */
  readonly onUndo?: () => Promise<void>;
}

/** Whether an error says that nothing was done. A bug says nothing at all. */
export function isSettled(error: unknown): error is Problem {
  return error instanceof Problem && error.reason !== 'outcome_unknown' && error.reason !== 'ehr_timeout';
}

/** Whether an EHR that was asked to take something back has said its last word: one that is down is asked again. */
export function isFinal(error: unknown): boolean {
  return isSettled(error) && error.reason !== 'ehr_unavailable';
}

interface PlannedWrite extends Pick<EhrWrite, 'ehr' | 'careUnit'> {
  readonly write: { readonly operationId: string };
}

/** What a plan asks the EHR for. */
export function ehrWrite({ ehr, careUnit, write }: PlannedWrite, plan: WritePlan, expiresAt: Date | null): EhrWrite {
  return {
    ehr,
    careUnit,
    operationId: plan.ehrOperationId ?? write.operationId,
    changes: plan.changes.map((change) => ehrChange(change, expiresAt)),
    before: plan.before,
  };
}

function ehrChange(change: PlannedChange, expiresAt: Date | null): AppointmentChange {
  if (change.kind !== 'create') return change;
  const { hold, ...creation } = change;
  return { ...creation, holdUntil: hold ? expiresAt : null };
}

/** A UUID of its own for each part of a write, always the same one (RFC 9562 section 5.8). */
export function partId(operationId: string, part: number | string): string {
  const bytes = createHash('sha256').update(`${operationId} ${part}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
