import { randomUUID } from 'node:crypto';
import type { AppointmentWrite, Connector } from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import type { Appointment } from '../records.ts';
import { NotChecked } from './check.ts';
import { operations } from './operations.ts';
import type { Subject } from './subject.ts';

/** A subject that records its writes, so that they can be undone. */
export interface Trail {
  readonly subject: Subject;
  /** Whether a write was attempted in a read-only run. */
  readonly wasHeldBack: boolean;
  /** Cancels the recorded appointments. Returns the ids of those that could not be cancelled. */
  cleanUp(): Promise<readonly string[]>;
}

const writes = ['changeAppointments', 'requestBooking', 'requestCancellation', 'resendCode', 'confirmCode'] as const;

export function leaveTrail(subject: Subject, readOnly: boolean): Trail {
  const made = new Set<string>();
  const unclear = new Set<string>();
  let wasHeldBack = false;

  const note = (appointments: readonly Appointment[]) => {
    for (const { id } of appointments) made.add(id);
  };

  function watch(connector: Connector): Connector {
    // As plain functions, because the gateway calls operations without `this`.
    const plain: Connector = Object.assign(
      { capabilities: connector.capabilities },
      ...operations.flatMap((name) => (connector[name] ? [{ [name]: connector[name] }] : [])),
    );
    if (readOnly) return { ...plain, ...heldBack(plain) };
    return { ...plain, ...remembered(plain) };
  }

  function heldBack(plain: Connector): Partial<Connector> {
    const refuse = async (): Promise<never> => {
      wasHeldBack = true;
      throw new NotChecked('the run is read-only');
    };
    return Object.fromEntries(writes.flatMap((name) => (plain[name] ? [[name, refuse]] : [])));
  }

  function remembered({ changeAppointments, requestBooking, confirmCode }: Connector): Partial<Connector> {
    return {
      ...(changeAppointments && {
        changeAppointments: async (write: AppointmentWrite) => {
          try {
            const appointments = await changeAppointments(write);
            note(appointments);
            return appointments;
          } catch (error) {
            if (!isRefusal(error)) unclear.add(write.operationId);
            throw error;
          }
        },
      }),
      ...(requestBooking && {
        requestBooking: async (request: Parameters<typeof requestBooking>[0]) => {
          const confirmation = await requestBooking(request);
          note([confirmation.appointment]);
          return confirmation;
        },
      }),
      ...(confirmCode && {
        confirmCode: async (request: Parameters<typeof confirmCode>[0]) => {
          const appointment = await confirmCode(request);
          note([appointment]);
          return appointment;
        },
      }),
    };
  }

  return {
    subject: Object.create(subject, {
      connector: { get: () => watch(subject.connector) },
      second: { get: () => subject.second && watch(subject.second) },
    }),
    get wasHeldBack() {
      return wasHeldBack;
    },
    async cleanUp() {
      for (const operationId of unclear) {
        const found = await subject.connector.findOperation?.(subject.careUnit, operationId).catch(() => null);
        note(found ?? []);
      }
      return made.size === 0 ? [] : takeBack(subject, [...made]);
    },
  };
}

/** Whether the error means that nothing was changed. */
function isRefusal(error: unknown): boolean {
  return error instanceof ConnectorError && !['timeout', 'outcome_unknown', 'unavailable'].includes(error.kind);
}

async function takeBack({ connector, careUnit }: Subject, ids: readonly string[]): Promise<readonly string[]> {
  const { findAppointments, changeAppointments } = connector;
  const there = (await findAppointments?.(careUnit, ids).catch(() => undefined)) ?? [];
  const left: string[] = [];
  for (const { id: appointmentId, state } of there) {
    if (state === 'cancelled') continue;
    const kind = state === 'held' ? 'release' : 'cancel';
    const changes = [{ kind, appointmentId }] as const;
    const done = connector.capabilities.changes.includes(kind)
      ? await changeAppointments?.({ operationId: randomUUID(), careUnit, changes }).catch(() => undefined)
      : undefined;
    if (!done) left.push(appointmentId);
  }
  return left;
}
