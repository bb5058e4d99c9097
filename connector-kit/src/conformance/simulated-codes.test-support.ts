import { randomInt, randomUUID } from 'node:crypto';
import type { AppointmentChange, Connector, EhrConfirmation } from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import type { Appointment, CareUnit } from '../records.ts';
import type { Subject } from './subject.ts';

/** Defects of a simulated EHR that sends its own codes. */
export interface CodeFaults {
  readonly acceptsAnyCode?: boolean;
  readonly acceptsPreviousCodes?: boolean;
  readonly doesNotHold?: boolean;
  readonly cancelsWithoutCode?: boolean;
}

interface Pending {
  readonly codes: string[];
  /** Made when the code is confirmed. */
  readonly change: AppointmentChange;
  readonly appointment: Appointment;
  attemptsRemaining: number;
}

/** Pending confirmations with their codes, by reference. */
export type PendingCodes = Map<string, Pending>;

export function pendingCodes(): PendingCodes {
  return new Map();
}

const tenMinutes = 600_000;

/** Wraps the subject as an EHR that sends and checks codes itself. */
export function withCodes(subject: Subject, confirmations: PendingCodes, faults: CodeFaults = {}): Subject {
  const connector = codeConnector(subject.connector as Required<Connector>, confirmations, faults);
  return Object.create(subject, {
    connector: { value: connector },
    second: { value: undefined },
    codeSent: { value: async (reference: string) => confirmations.get(reference)?.codes.at(-1) ?? '' },
  });
}

function codeConnector(ehr: Required<Connector>, confirmations: PendingCodes, faults: CodeFaults): Connector {
  const write = async (careUnit: CareUnit, operationId: string, change: AppointmentChange) => {
    const [appointment] = await ehr.changeAppointments({ careUnit, operationId, changes: [change] });
    if (!appointment) throw new Error('No appointment returned');
    return appointment;
  };
  const send = (reference: string, pending: Pending): EhrConfirmation => {
    const last = Number(pending.codes.at(-1) ?? randomInt(0, 1_000_000));
    pending.codes.push(String((last + 1) % 1_000_000).padStart(6, '0'));
    confirmations.set(reference, pending);
    return {
      reference,
      appointment: pending.appointment,
      channel: 'sms',
      expiresAt: new Date(Date.now() + tenMinutes),
      attemptsRemaining: pending.attemptsRemaining,
    };
  };
  const start = (change: AppointmentChange, appointment: Appointment) =>
    send(randomUUID(), { codes: [], change, appointment, attemptsRemaining: 5 });
  const pendingOf = (reference: string): Pending => {
    const pending = confirmations.get(reference);
    if (!pending) throw new ConnectorError('code_expired', 'No confirmation has this reference');
    return pending;
  };

  return {
    ...ehr,
    capabilities: { ...ehr.capabilities, sendsCodes: true },
    async requestBooking({ careUnit, operationId, creation }) {
      const holdUntil = faults.doesNotHold ? null : new Date(Date.now() + tenMinutes);
      const appointment = await write(careUnit, operationId, { ...creation, holdUntil });
      return start({ kind: 'confirm', appointmentId: appointment.id }, appointment);
    },
    async requestCancellation({ careUnit, operationId, cancellation }) {
      const [appointment] = faults.cancelsWithoutCode
        ? [await write(careUnit, operationId, cancellation)]
        : await ehr.findAppointments(careUnit, [cancellation.appointmentId]);
      if (!appointment) throw new ConnectorError('appointment_not_found', 'No such appointment');
      return start(cancellation, appointment);
    },
    resendCode: async ({ reference }) => send(reference, pendingOf(reference)),
    async confirmCode({ careUnit, operationId, reference, code }) {
      const pending = pendingOf(reference);
      const isCorrect = faults.acceptsPreviousCodes ? pending.codes.includes(code) : pending.codes.at(-1) === code;
      if (!isCorrect && !faults.acceptsAnyCode) {
        pending.attemptsRemaining -= 1;
        const { attemptsRemaining } = pending;
        throw new ConnectorError('code_incorrect', 'The code is incorrect', { attemptsRemaining });
      }
      return write(careUnit, operationId, pending.change);
    },
  };
}
