import { randomUUID } from 'node:crypto';
import type { AppointmentChange, AppointmentWrite, Connector, ConnectorOperations } from '../connector.ts';
import type { Appointment } from '../records.ts';
import { type CheckResult, capabilities, runCheck, type Subject } from './index.ts';

export type CompleteConnector = Required<Connector>;
export type Variant = [name: string, capability: string, check: string, defects: (right: CompleteConnector) => Defects];
export type Defects = Partial<ConnectorOperations> & Partial<Pick<Connector, 'capabilities'>>;

/** Wraps the subject's connector with defects. A restart of the connector resets their state. */
export function withDefects(subject: Subject, defects: (right: CompleteConnector) => Defects): Subject {
  const made = new WeakMap<Connector, Connector>();
  const broken = (right: Connector) => {
    const connector = made.get(right) ?? { ...right, ...defects(right as CompleteConnector) };
    made.set(right, connector);
    return connector;
  };
  return Object.create(subject, {
    connector: { get: () => broken(subject.connector) },
    second: { value: undefined },
  });
}

/** Runs the check with this name. */
export async function outcomeOf(subject: Subject, capability: string, name: string): Promise<CheckResult> {
  const check = capabilities
    .flatMap(({ checks }) => checks)
    .find((it) => it.capability === capability && it.name === name);
  if (!check) throw new Error(`No check of ${capability} is named: ${name}`);
  return runCheck(check, subject, { timeoutMilliseconds: 25_000 });
}

/** Alters every change before it is written. */
export function changing(right: CompleteConnector, alter: (change: AppointmentChange) => AppointmentChange): Defects {
  return { changeAppointments: (write) => right.changeAppointments({ ...write, changes: write.changes.map(alter) }) };
}

/** Alters every appointment that is read. */
export function reading(right: CompleteConnector, alter: (appointment: Appointment) => Appointment): Defects {
  return {
    findAppointments: async (unit, ids) => (await right.findAppointments(unit, ids)).map(alter),
    listAppointments: async (query) => (await right.listAppointments(query)).map(alter),
  };
}

/** Makes each change in a write of its own. */
export async function inSeparateWrites(
  right: CompleteConnector,
  write: AppointmentWrite,
): Promise<readonly Appointment[]> {
  const done: Appointment[] = [];
  for (const change of write.changes) {
    done.push(...(await right.changeAppointments({ ...write, operationId: randomUUID(), changes: [change] })));
  }
  return done;
}

/** A time as a connector reads it that takes local text for a time of its process. In UTC it is right. */
export function withoutOffset(time: Date): Date {
  return new Date(time.toISOString().replace('Z', ''));
}
