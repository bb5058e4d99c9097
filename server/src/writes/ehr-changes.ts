import { createHash } from 'node:crypto';
import { type Appointment, type AppointmentChange, overlaps } from '@crossward/connector-kit';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { Problem } from '../problems/problem.ts';
import type { PlannedChange, WritePlan } from './plan.ts';

interface EhrWrite {
  readonly ehr: EhrConnection;
  readonly careUnit: CareUnitConnection;
  readonly operationId: string;
  readonly changes: readonly AppointmentChange[];
}

/** Whether an error says that nothing was done. A bug says nothing at all. */
export function isSettled(error: unknown): error is Problem {
  return error instanceof Problem && error.reason !== 'outcome_unknown' && error.reason !== 'ehr_timeout';
}

/** The changes of a plan as the EHR takes them. */
export function ehrChanges(plan: WritePlan, expiresAt: Date | null): AppointmentChange[] {
  return plan.changes.map((change) => ehrChange(change, expiresAt));
}

function ehrChange(change: PlannedChange, expiresAt: Date | null): AppointmentChange {
  if (change.kind !== 'create') return change;
  const { hold, ...creation } = change;
  return { ...creation, holdUntil: hold ? expiresAt : null };
}

/** All changes or none. Safe to call again with the same operation id: what is done stays done, once. */
export async function changeAppointments(write: EhrWrite): Promise<readonly Appointment[]> {
  const { ehr, careUnit, operationId, changes } = write;
  if (isWhole(ehr, changes)) {
    return ehr.call('changeAppointments', { operationId, careUnit, changes });
  }
  return oneByOne(write);
}

/** What the write left behind in the EHR. `null`: it was not done. `'in part'`: it was broken off in between. */
export async function findWrite({
  ehr,
  careUnit,
  operationId,
  changes,
}: EhrWrite): Promise<readonly Appointment[] | 'in part' | null> {
  if (isWhole(ehr, changes)) return ehr.call('findOperation', careUnit, operationId);
  const found: Appointment[] = [];
  for (const index of changes.keys()) {
    const [appointment] = (await ehr.call('findOperation', careUnit, partId(operationId, index))) ?? [];
    if (appointment) found[index] = appointment;
  }
  const count = Object.keys(found).length;
  if (count === 0) return null;
  return count === changes.length ? found : 'in part';
}

/** Whether the EHR does the changes all or nothing; else they are done one by one, and undone on a failure. */
export function isWhole(ehr: EhrConnection, changes: readonly unknown[]): boolean {
  const { transactions, changesPerTransaction = Number.POSITIVE_INFINITY } = ehr.capabilities;
  return changes.length <= (transactions ? changesPerTransaction : 1);
}

/**
 * For an EHR without transactions, or more changes than it does in one: one change after the other, and what was done is undone when a later one fails.
 * Cancellations come last, since they cannot be undone.
 *
 * @throws Problem `partially_applied` when that fails too, with the outcome of every id
 */
async function oneByOne({ ehr, careUnit, operationId, changes }: EhrWrite): Promise<readonly Appointment[]> {
  const before = new Map<number, Appointment>();
  for (const [index, change] of changes.entries()) {
    if (change.kind === 'create') continue;
    const [current] = await ehr.call('findAppointments', careUnit, [change.appointmentId]);
    if (!current) throw new Problem('appointment_not_found');
    before.set(index, current);
  }
  const results: Appointment[] = [];
  const done: number[] = [];
  for (const index of withoutCollisions(changes, before)) {
    const change = changes[index] as AppointmentChange;
    try {
      const write = { operationId: partId(operationId, index), careUnit, changes: [change] };
      const [result] = await ehr.call('changeAppointments', write);
      if (!result) throw new Error('The EHR answered no appointment');
      results[index] = result;
      done.push(index);
    } catch (error) {
      // Whether this one was done is not known: to undo the others might leave it alone.
      if (!isSettled(error)) throw error;
      await undo({ ehr, careUnit, operationId, changes }, done, results, before);
      throw error;
    }
  }
  return results;
}

async function undo(
  { ehr, careUnit, operationId, changes }: EhrWrite,
  done: readonly number[],
  results: readonly Appointment[],
  before: ReadonlyMap<number, Appointment>,
): Promise<void> {
  const stuck: number[] = [];
  for (const index of done.toReversed()) {
    const reverse = reversed(changes[index] as AppointmentChange, results[index] as Appointment, before.get(index));
    if (reverse === 'nothing') continue;
    try {
      if (reverse === 'impossible') throw new Error('A cancellation cannot be undone');
      await ehr.call('changeAppointments', {
        operationId: partId(`${operationId} undo`, index),
        careUnit,
        changes: [reverse],
      });
    } catch {
      stuck.push(index);
    }
  }
  if (stuck.length === 0) return;
  throw new Problem('partially_applied', {
    faults: changes.map((change, index) => ({
      ...idOf(change, results[index]),
      reason: 'partially_applied',
      detail: stuck.includes(index) ? 'Changed, and could not be changed back.' : 'As it was.',
    })),
  });
}

function idOf(change: AppointmentChange, result: Appointment | undefined): { id?: string } {
  if (change.kind !== 'create') return { id: change.appointmentId };
  return result ? { id: result.id } : {};
}

function reversed(
  change: AppointmentChange,
  result: Appointment,
  before: Appointment | undefined,
): AppointmentChange | 'nothing' | 'impossible' {
  switch (change.kind) {
    case 'create':
      return { kind: result.state === 'held' ? 'release' : 'cancel', appointmentId: result.id };
    case 'update':
      if (!before) return 'impossible';
      return {
        kind: 'update',
        appointmentId: before.id,
        time: { start: before.start, end: before.end },
        resourceId: before.resourceId,
        comment: before.comment,
      };
    case 'extend':
      return 'nothing';
    case 'cancel':
    case 'release':
      return before?.state === 'cancelled' ? 'nothing' : 'impossible';
    case 'confirm':
      return before?.state === 'booked' ? 'nothing' : 'impossible';
  }
}

/** What cannot be undone comes last. */
function inOrder(changes: readonly AppointmentChange[]): number[] {
  const rank = ({ kind }: AppointmentChange) => (kind === 'cancel' || kind === 'release' || kind === 'confirm' ? 1 : 0);
  return changes
    .map((_, index) => index)
    .sort((a, b) => rank(changes[a] as AppointmentChange) - rank(changes[b] as AppointmentChange));
}

/** An appointment is moved to where another one stands only once that has left, even if it leaves by being cancelled. */
function withoutCollisions(
  changes: readonly AppointmentChange[],
  before: ReadonlyMap<number, Appointment>,
): readonly number[] {
  const targets = changes.map((change, index) => targetOf(change, before.get(index)));
  const order: number[] = [];
  const remaining = new Set(inOrder(changes));
  const isFree = (index: number) => {
    const target = targets[index];
    return ![...remaining].some((other) => {
      const standing = before.get(other);
      if (!target || !standing || other === index || standing.state === 'cancelled') return false;
      return standing.resourceId === target.resourceId && overlaps(standing, target);
    });
  };
  while (remaining.size > 0) {
    const waiting = [...remaining];
    const next = waiting.find(isFree) ?? waiting[0];
    if (next === undefined) break;
    order.push(next);
    remaining.delete(next);
  }
  return order;
}

/** The time that a change wants to take. */
function targetOf(change: AppointmentChange, before: Appointment | undefined) {
  if (change.kind === 'create') return change;
  if (change.kind !== 'update' || !before) return undefined;
  return { ...(change.time ?? before), resourceId: change.resourceId ?? before.resourceId };
}

/** A UUID of its own for each part of a write, always the same one (RFC 9562 section 5.8). */
export function partId(operationId: string, part: number | string): string {
  const bytes = createHash('sha256').update(`${operationId} ${part}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
