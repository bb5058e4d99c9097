import type { Connector } from '../connector.ts';
import type { Subject } from './subject.ts';

/** A test of one requirement of the port. */
export interface Check {
  /** Name of its capability. */
  readonly capability: string;
  /** The behaviour that the check proves. Shown in reports after the capability. */
  readonly name: string;
  /** Whether the connector claims the behaviour, beside the capability. If not, the check does not run. */
  isClaimed: Claim;
  /**
   * @throws Failure if the requirement is not met, NotChecked if this subject cannot test it. Any other error counts as a
   * failure.
   */
  run(subject: Subject): Promise<void>;
}

/** Whether a subject claims something. It answers without asking the EHR. */
export type Claim = (subject: Subject) => boolean;

/** A capability that a connector can claim, with its checks. */
export interface Capability {
  readonly name: string;
  /** Whether the connector claims the capability. If not, its checks do not run. */
  isClaimed(connector: Connector): boolean;
  readonly checks: readonly Check[];
}

type ClaimedRun = Pick<Check, 'isClaimed' | 'run'>;

/** Creates a capability from checks by name. */
export function capability(
  name: string,
  isClaimed: Capability['isClaimed'],
  checks: Readonly<Record<string, Check['run'] | ClaimedRun>>,
): Capability {
  return {
    name,
    isClaimed,
    checks: Object.entries(checks).map(([check, it]) => ({
      capability: name,
      name: check,
      ...(typeof it === 'function' ? claimed([], it) : it),
    })),
  };
}

/** A check of what not every connector with the capability claims. */
export function claimed(claims: readonly Claim[], run: Check['run']): ClaimedRun {
  return { isClaimed: (subject) => claims.every((claim) => claim(subject)), run };
}

/** A failed check. The message gives the expected and the actual behaviour. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

/** The check could not run, for example for lack of test data. Never counts as passed. */
export class NotChecked extends Error {
  override readonly name = 'NotChecked';
}
