import { randomUUID } from 'node:crypto';
import { type AppointmentCreation, type AppointmentWrite, type Connector, writeOperations } from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import { operations } from '../operations.ts';
import type { Appointment, CareUnit } from '../records.ts';
import type { Write } from '../writes.ts';
import { NotChecked } from './check.ts';
import { type Subject, withEachConnector } from './subject.ts';

/** A subject that records its writes, so that its appointments can be cancelled and its other records withdrawn. */
export interface RecordedWrites {
  readonly subject: Subject;
  /** Whether a write was attempted in a read-only run. */
  readonly wasWriteBlocked: boolean;
  /**
   * Cancels and withdraws what was recorded, and, if the check has failed, what was booked although its write said otherwise. Returns
   * the ids of what is left.
   */
  cleanUp(check: { readonly hasFailed: boolean }): Promise<readonly string[]>;
}

/** Writes that create a record, each with the operation that withdraws it. */
const withdrawals = {
  createMedicalNote: 'withdrawMedicalNote',
  createDocument: 'withdrawDocument',
  endSchedule: 'withdrawSchedule',
  addScheduleException: 'withdrawSchedule',
  createSchedule: 'withdrawSchedule',
} as const;

export function recordWrites(subject: Subject, readOnly: boolean): RecordedWrites {
  const appointmentIds = new Set<string>();
  /** Operation ids of writes with an unknown outcome. */
  const unknownOutcomes = new Set<string>();
  /** Bookings whose write has thrown. */
  const notTold: Booking[] = [];
  /** Writes to withdraw, in order. */
  const records: RecordedWrite[] = [];
  let wasWriteBlocked = false;

  const record = (appointments: readonly Appointment[]) => {
    for (const { id } of appointments) appointmentIds.add(id);
  };

  function wrap(connector: Connector): Connector {
    // As plain functions, because the gateway calls operations without `this`.
    const plain: Connector = Object.assign(
      { capabilities: connector.capabilities },
      ...operations.flatMap((name) => (connector[name] ? [{ [name]: connector[name] }] : [])),
    );
    if (readOnly) return { ...plain, ...blocked(plain) };
    return { ...plain, ...recorded(plain), ...recordedRecords(plain) };
  }

  function blocked(plain: Connector): Partial<Connector> {
    const reject = async (): Promise<never> => {
      wasWriteBlocked = true;
      throw new NotChecked('the run is read-only');
    };
    return Object.fromEntries(writeOperations.flatMap((name) => (plain[name] ? [[name, reject]] : [])));
  }

  function recorded({ changeAppointments }: Connector): Partial<Connector> {
    if (!changeAppointments) return {};
    return {
      changeAppointments: async (write: AppointmentWrite) => {
        try {
          const appointments = await changeAppointments(write);
          record(appointments);
          return appointments;
        } catch (error) {
          if (!isRejection(error)) unknownOutcomes.add(write.operationId);
          for (const it of write.changes) if (it.kind === 'create') notTold.push({ ...it, careUnit: write.careUnit });
          throw error;
        }
      },
    };
  }

  function recordedRecords(plain: Connector): Partial<Connector> {
    const names = Object.keys(withdrawals) as (keyof typeof withdrawals)[];
    return Object.fromEntries(
      names.flatMap((name) => {
        const write = plain[name] as ((it: Write) => Promise<unknown>) | undefined;
        // An EHR without operation ids cannot withdraw what it has created: it stays.
        if (!write || !plain[withdrawals[name]]) return [];
        const recording = (it: Write) => {
          records.push({ operationId: it.operationId, careUnit: it.careUnit, withdrawal: withdrawals[name] });
          return write(it);
        };
        return [[name, recording]];
      }),
    );
  }

  return {
    subject: withEachConnector(subject, wrap),
    get wasWriteBlocked() {
      return wasWriteBlocked;
    },
    async cleanUp({ hasFailed }) {
      for (const operationId of unknownOutcomes) {
        const found = await subject.connector.findOperation?.(subject.careUnit, operationId).catch(() => null);
        record(found ?? []);
      }
      for (const booking of hasFailed ? notTold : []) record(await findBooked(subject, booking));
      const notCancelled = appointmentIds.size === 0 ? [] : await cancelAll(subject, [...appointmentIds]);
      return [...notCancelled, ...(await withdrawAll(subject, records))];
    },
  };
}

interface Booking extends Pick<AppointmentCreation, 'patientId' | 'start' | 'end' | 'resourceId'> {
  readonly careUnit: CareUnit;
}

/** What the EHR has of a booking that a connector has not told. */
async function findBooked({ connector }: Subject, booking: Booking): Promise<readonly Appointment[]> {
  const { careUnit, patientId, start, end, resourceId } = booking;
  const query = { careUnit, patientId, range: { start, end }, limit: 500 };
  const found = (await connector.listAppointments?.(query).catch(() => [])) ?? [];
  return found.filter((it) => it.resourceId === resourceId && it.start.getTime() === start.getTime());
}

interface RecordedWrite {
  readonly operationId: string;
  readonly careUnit: CareUnit;
  readonly withdrawal: (typeof withdrawals)[keyof typeof withdrawals];
}

/** Withdraws the newest writes first. Returns the operation ids of those that were not withdrawn. */
async function withdrawAll({ connector }: Subject, records: readonly RecordedWrite[]): Promise<readonly string[]> {
  const left = new Set<string>();
  for (const { operationId, careUnit, withdrawal } of records.toReversed()) {
    const result = await connector[withdrawal]?.(careUnit, operationId).catch(() => undefined);
    if (result !== 'withdrawn') left.add(operationId);
  }
  return [...left];
}

/** Whether the error means that nothing was changed. */
function isRejection(error: unknown): boolean {
  return error instanceof ConnectorError && !['timeout', 'outcome_unknown', 'unavailable'].includes(error.kind);
}

async function cancelAll({ connector, careUnit }: Subject, ids: readonly string[]): Promise<readonly string[]> {
  const { findAppointments, changeAppointments } = connector;
  const found = await findAppointments?.(careUnit, ids).catch(() => undefined);
  if (!found) return ids;
  const notCancelled: string[] = [];
  for (const { id: appointmentId, state } of found) {
    if (state === 'cancelled') continue;
    const kind = state === 'held' ? 'release' : 'cancel';
    const changes = [{ kind, appointmentId }] as const;
    const cancelled = connector.capabilities.changes.includes(kind)
      ? await changeAppointments?.({ operationId: randomUUID(), careUnit, changes }).catch(() => undefined)
      : undefined;
    if (!cancelled) notCancelled.push(appointmentId);
  }
  return notCancelled;
}
