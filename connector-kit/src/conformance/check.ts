import type { Connector } from '../connector.ts';
import type { Subject } from './subject.ts';

/** A test of one requirement of the port. */
export interface Check {
  /** Name of its capability. */
  readonly capability: string;
  /** The behaviour that the check proves. Shown in reports after the capability. */
  readonly name: string;
  /**
   * @throws Failure if the requirement is not met, NotChecked if this subject cannot test it, NotClaimed if the connector
   * does not claim it. Any other error counts as a failure.
   */
  run(subject: Subject): Promise<void>;
}

/** A capability that a connector can claim, with its checks. */
export interface Capability {
  readonly name: string;
  /** Whether the connector claims the capability. If not, its checks are skipped. */
  isClaimed(connector: Connector): boolean;
  readonly checks: readonly Check[];
}

/** Creates a capability from checks by name. */
export function capability(
  name: string,
  isClaimed: Capability['isClaimed'],
  checks: Readonly<Record<string, Check['run']>>,
): Capability {
  return {
    name,
    isClaimed,
    checks: Object.entries(checks).map(([check, run]) => ({ capability: name, name: check, run })),
  };
}

/** A failed check. The message gives the expected and the actual behaviour. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

/** The check does not apply: the connector does not claim the behaviour. */
export class NotClaimed extends Error {
  override readonly name = 'NotClaimed';
}

/** The check could not run, for example for lack of test data. Never counts as passed. */
export class NotChecked extends Error {
  override readonly name = 'NotChecked';
}
