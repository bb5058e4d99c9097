import type { Connector, ConnectorOperations } from '../connector.ts';
import { type CheckResult, capabilities, runCheck, type Subject } from './index.ts';

export type CompleteConnector = Required<Connector>;
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
