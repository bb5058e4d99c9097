import { capabilities as everyCapability } from './capabilities.ts';
import { type Check, Failure, NotChecked, NotClaimed } from './check.ts';
import { describe } from './expect.ts';
import { operations } from './operations.ts';
import { waitedFor } from './patience.ts';
import type { CheckResult, Report } from './report.ts';
import type { Subject } from './subject.ts';
import { leaveTrail } from './trail.ts';

export interface RunOptions {
  /** Names of capabilities. Absent: all. */
  readonly only?: readonly string[] | undefined;
  /** Whether everything that would change the EHR is left out, and told as not checked. */
  readonly readOnly?: boolean | undefined;
  /** How long one check may take. Default: two minutes. */
  readonly timeoutMilliseconds?: number | undefined;
  /** Called after each check. */
  readonly onResult?: ((result: CheckResult) => void) | undefined;
}

const twoMinutes = 120_000;

/**
 * Proves what the connector claims, and that it does nothing else. Checks run one after the other; what they book, they
 * cancel again.
 */
export async function runConformance(subject: Subject, options: RunOptions = {}): Promise<Report> {
  const chosen = everyCapability.filter(({ name }) => options.only?.includes(name) ?? true);
  const results: CheckResult[] = [];
  const leftBehind: string[] = [];
  for (const { checks } of chosen) {
    for (const check of checks) {
      const { left, ...result } = await runCheck(check, subject, options);
      results.push(result);
      leftBehind.push(...left);
      options.onResult?.(result);
    }
  }
  return reportOf(subject, results, leftBehind);
}

/** What was seen of a subject, with what it claims. */
export function reportOf(
  { name, connector }: Pick<Subject, 'name' | 'connector'>,
  results: readonly CheckResult[],
  leftBehind: readonly string[],
): Report {
  const count = (outcome: CheckResult['outcome']) => results.filter((result) => result.outcome === outcome).length;
  return {
    subject: name,
    claims: { ...connector.capabilities, operations: operations.filter((it) => connector[it] !== undefined) },
    passed: count('passed'),
    failed: count('failed'),
    notChecked: count('not_checked'),
    notClaimed: count('not_claimed'),
    results,
    leftBehind,
  };
}

/** Runs one check and tidies up after it. */
export async function runCheck(
  check: Check,
  subject: Subject,
  options: RunOptions = {},
): Promise<CheckResult & { readonly left: readonly string[] }> {
  const { capability, name } = check;
  if (!isClaimed(check, subject)) {
    return { capability, check: name, outcome: 'not_claimed', reason: null, milliseconds: 0, left: [] };
  }
  const trail = leaveTrail(waitedFor(subject), options.readOnly ?? false);
  const start = performance.now();
  const [outcome] = await Promise.allSettled([
    within(check.run(trail.subject), options.timeoutMilliseconds ?? twoMinutes),
  ]);
  const milliseconds = Math.round(performance.now() - start);
  const left = await trail.cleanUp();
  const told = { capability, check: name, milliseconds, left };
  if (trail.wasHeldBack) return { ...told, outcome: 'not_checked', reason: 'nothing may be written in this run' };
  if (outcome.status === 'fulfilled') return { ...told, outcome: 'passed', reason: null };
  const { reason } = outcome;
  if (reason instanceof NotClaimed) return { ...told, outcome: 'not_claimed', reason: reason.message };
  if (reason instanceof NotChecked) return { ...told, outcome: 'not_checked', reason: reason.message };
  const words = reason instanceof Failure ? reason.message : `The connector threw ${describe(reason)}`;
  return { ...told, outcome: 'failed', reason: words };
}

function isClaimed(check: Check, { connector }: Subject): boolean {
  const capability = everyCapability.find(({ name }) => name === check.capability);
  return capability?.isClaimed(connector) ?? true;
}

async function within<Result>(promise: Promise<Result>, milliseconds: number): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Failure(`Not done after ${milliseconds / 1000} seconds`)), milliseconds);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
