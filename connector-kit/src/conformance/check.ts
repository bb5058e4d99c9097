import type { Connector } from '../connector.ts';
import type { Subject } from './subject.ts';

/** One promise of the port, and a way to see whether a connector keeps it. */
export interface Check {
  /** The capability that it belongs to. */
  readonly capability: string;
  /** What holds when it passes, in words that fit after the capability. */
  readonly name: string;
  /**
   * @throws Failure when the promise is broken, NotChecked when this subject cannot show it, NotClaimed when there
   * is nothing to show; whatever else is thrown is a failure too
   */
  run(subject: Subject): Promise<void>;
}

/** What a connector may claim, with the checks that prove it. */
export interface Capability {
  readonly name: string;
  /** Whether the connector says that it has it. Without it the checks are not run, and `unclaimed` looks at the rest. */
  isClaimed(connector: Connector): boolean;
  readonly checks: readonly Check[];
}

/** Names the capability once for all of its checks. */
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

/** A broken promise. The message says what was expected and what was seen instead. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

/** The promise is about something that this connector does not claim. */
export class NotClaimed extends Error {
  override readonly name = 'NotClaimed';
}

/** What was given to the kit is not enough to see. Never a pass. */
export class NotChecked extends Error {
  override readonly name = 'NotChecked';
}
