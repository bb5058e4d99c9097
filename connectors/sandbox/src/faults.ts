import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Appointment, type CareUnit, type Connector, ConnectorError } from '@crossward/connector-kit';

/** Seconds that the EHR takes for a slow look-up. Less than the time-out of a connection in the demo. */
const slowSeconds = 3;
/** Seconds after which the EHR makes a late booking. */
const lateSeconds = 5;

/** A patient for whom the EHR fails, and what a caller sees. Texts are plain, with code in backticks. */
export interface SandboxFault {
  readonly patientId: string;
  readonly givenName: string;
  readonly ehr: string;
  readonly response: string;
  readonly remedy: string;
}

/** The patients on which every sandbox breaks. Documents and the start page of the demo show this list. */
export const sandboxFaults: readonly SandboxFault[] = [
  {
    patientId: 'p-slow',
    givenName: 'Slow',
    ehr: `Takes ${slowSeconds} seconds to look up the patient.`,
    response: 'The usual one, late.',
    remedy: 'Wait.',
  },
  {
    patientId: 'p-timeout',
    givenName: 'Timeout',
    ehr: 'Never answers the first look-up, and answers the second; and so on.',
    response: '504 `ehr_timeout`, after the 20 seconds of `timeout_ms`.',
    remedy: 'Try again: nothing was changed.',
  },
  {
    patientId: 'p-unavailable',
    givenName: 'Unavailable',
    ehr: 'Is unavailable at the first look-up, and answers the second; and so on.',
    response: '503 `ehr_unavailable`, with `Retry-After`.',
    remedy: 'Try again after `Retry-After`, with the same key.',
  },
  {
    patientId: 'p-lost',
    givenName: 'Lost',
    ehr: 'Makes the booking, and its answer is lost.',
    response: '504 `outcome_unknown`.',
    remedy: 'Send it again with the same key: 201, and one appointment.',
  },
  {
    patientId: 'p-late',
    givenName: 'Late',
    ehr: `Does not answer the booking, and makes it ${lateSeconds} seconds later.`,
    response: '504 `outcome_unknown`.',
    remedy: 'Send it again with the same key, before or after: 201, and one appointment.',
  },
  {
    patientId: 'p-staff',
    givenName: 'Staff',
    ehr: 'Makes the booking. Its staff cancel it before the answer arrives.',
    response: '201; with the same key again, the stored 201.',
    remedy: 'Read the appointment, or follow the events: it is `cancelled`.',
  },
];

type Operations = Required<Pick<Connector, 'findPatient' | 'changeAppointments'>>;
type Write = () => Promise<readonly Appointment[]>;

/**
 * The operations, with the faults of the patients in `sandboxFaults`. A write that is sent again, with the same operation id,
 * never fails.
 */
export function withFaults({ findPatient, changeAppointments }: Operations): Operations {
  const lookUps = new Map<string, () => Promise<void>>([
    ['p-slow', () => sleep(slowSeconds * 1000)],
    // The time-out of the connection ends the call.
    ['p-timeout', everySecond(() => new Promise<never>(() => undefined))],
    ['p-unavailable', everySecond(() => Promise.reject(unavailable()))],
  ]);

  const bookings = new Map<string, (book: Write, careUnit: CareUnit) => ReturnType<Write>>([
    ['p-lost', (book) => book().then(() => Promise.reject(answerLost()))],
    [
      'p-late',
      (book) => {
        // It can fail as any booking, for example because the time is taken by then. Nobody waits for it.
        setTimeout(() => book().catch(() => undefined), lateSeconds * 1000).unref();
        return Promise.reject(answerLost());
      },
    ],
    [
      'p-staff',
      async (book, careUnit) => {
        const booked = await book();
        const changes = booked.map(({ id, state }) => ({
          kind: state === 'held' ? ('release' as const) : ('cancel' as const),
          appointmentId: id,
        }));
        await changeAppointments({ careUnit, operationId: randomUUID(), changes });
        return booked;
      },
    ],
  ]);

  return {
    findPatient(identifier, intended) {
      const fault = lookUps.get(identifier.value);
      return fault ? fault().then(() => findPatient(identifier, intended)) : findPatient(identifier, intended);
    },
    changeAppointments(write) {
      const [change] = write.changes;
      const fault = write.isFirst && change?.kind === 'create' ? bookings.get(change.patientId) : undefined;
      return fault ? fault(() => changeAppointments(write), write.careUnit) : changeAppointments(write);
    },
  };
}

/** Fails at the first call and not at the second; and so on. */
function everySecond(fail: () => Promise<never>): () => Promise<void> {
  let fails = false;
  return async () => {
    fails = !fails;
    if (fails) await fail();
  };
}

function unavailable(): ConnectorError {
  return new ConnectorError('unavailable', 'Simulated failure', { retryAfterSeconds: 1 });
}

function answerLost(): ConnectorError {
  return new ConnectorError('outcome_unknown', 'Simulated loss of the answer');
}
