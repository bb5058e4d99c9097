import { type Appointment, type AppointmentChange, overlaps } from '@crossward/connector-kit';
import { type Fault, Problem } from '../problems/problem.ts';
import { type EhrWrite, isFinal, isSettled, partId } from './ehr-write.ts';

/** What was found done of a write, by the index of the change. */
export type DoneParts = ReadonlyMap<number, Appointment>;

/** The EHR has done some of it, and does not undo it. */
export class PartiallyApplied extends Problem {
  readonly stuck: DoneParts;

  constructor(faults: readonly Fault[], stuck: DoneParts) {
    super('partially_applied', { faults });
    this.stuck = stuck;
  }
}

/**
 * For an EHR without transactions, or more changes than it does in one: one change after the other, and what was done is
 * undone when a later one fails.
 * Cancellations come last, since they cannot be undone.
 *
 * @throws PartiallyApplied when the EHR refuses that too, with the outcome of every id; `outcome_unknown` when
 *   it could not be asked: the rest is for whoever goes on with the write
 */
export async function oneByOne(write: EhrWrite): Promise<readonly Appointment[]> {
  const { ehr, careUnit, operationId, changes } = write;
  const done = new Map<number, Appointment>();
  for (const index of withoutCollisions(write)) {
    const change = changes[index] as AppointmentChange;
    try {
      const part = { operationId: partId(operationId, index), careUnit, changes: [change] };
      const [result] = await ehr.call('changeAppointments', part);
      if (!result) throw new Error('The EHR answered no appointment');
      done.set(index, result);
    } catch (error) {
      // Whether this one was done is not known: to undo the others might leave it alone.
      if (!isSettled(error)) throw error;
      await write.onUndo?.();
      await undoOrLeave(write, done);
      throw error;
    }
  }
  return changes.map((_, index) => done.get(index) as Appointment);
}

async function undoOrLeave(write: EhrWrite, done: DoneParts): Promise<void> {
  try {
    await undo(write, done);
  } catch (error) {
    if (error instanceof PartiallyApplied) throw error;
    throw new Problem('outcome_unknown', { cause: error });
  }
}

/**
 * Undoes what is done of a write, the last first. Safe to call again: what is undone already stays so.
 *
 * @throws PartiallyApplied when something cannot be undone, with the outcome of every id; any error that is
 *   not the EHR's last word
 */
export async function undo(write: EhrWrite, done: DoneParts): Promise<void> {
  const { ehr, careUnit, operationId, changes } = write;
  const before = standingBefore(write);
  const stuck: number[] = [];
  for (const index of withoutCollisions(write).toReversed()) {
    const change = changes[index] as AppointmentChange;
    const result = done.get(index);
    const reverse = result ? reversed(change, result, before.get(index)) : 'nothing';
    if (reverse === 'nothing') continue;
    if (reverse === 'impossible') {
      stuck.push(index);
      continue;
    }
    try {
      await ehr.call('changeAppointments', {
        operationId: partId(`${operationId} undo`, index),
        careUnit,
        changes: [reverse],
      });
    } catch (error) {
      if (!isFinal(error)) throw error;
      stuck.push(index);
    }
  }
  if (stuck.length === 0) return;
  const faults = changes.map((change, index) => ({
    ...idOf(change, done.get(index)),
    reason: 'partially_applied' as const,
    detail: stuck.includes(index) ? 'Changed, and could not be changed back.' : 'As it was.',
  }));
  throw new PartiallyApplied(faults, new Map([...done].filter(([index]) => stuck.includes(index))));
}

/** By the index of the change. */
function standingBefore({ changes, before = [] }: EhrWrite): DoneParts {
  const byId = new Map(before.map((appointment) => [appointment.id, appointment]));
  return new Map(
    changes.flatMap((change, index) => {
      const standing = change.kind === 'create' ? undefined : byId.get(change.appointmentId);
      return standing ? [[index, standing] as const] : [];
    }),
  );
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
function withoutCollisions(write: EhrWrite): readonly number[] {
  const { changes } = write;
  const before = standingBefore(write);
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

/** Which of the changes that go one by one were done, in an EHR that knows operations. */
export async function findParts({ ehr, careUnit, operationId, changes }: EhrWrite): Promise<DoneParts> {
  const found = new Map<number, Appointment>();
  for (const index of changes.keys()) {
    const [appointment] = (await ehr.call('findOperation', careUnit, partId(operationId, index))) ?? [];
    if (appointment) found.set(index, appointment);
  }
  return found;
}
