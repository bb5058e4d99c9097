import { operations } from '../operations.ts';
import { withRightAnswers } from '../right-answers.ts';
import { capabilities as everyCapability } from './capabilities.ts';
import { type Check, Failure, NotChecked } from './check.ts';
import { describe } from './expect.ts';
import { assertNodeVersion } from './node-version.ts';
import type { ConnectorInProcess } from './own-process.ts';
import { recordWrites } from './recorded-writes.ts';
import type { CheckResult, Report } from './report.ts';
import { withRetries } from './retry-after.ts';
import { type Subject, withEachConnector } from './subject.ts';
import { withKnownWrites } from './watched-calls.ts';

/** Options of a conformance run. */
export interface RunOptions {
  /** Names of the capabilities to check. Absent: all. */
  readonly only?: readonly string[] | undefined;
  /** Whether to write nothing. Checks that need a write are reported as not checked. */
  readonly readOnly?: boolean | undefined;
  /** Time-out of one check, in milliseconds. Default: five minutes, more for an EHR that allows few requests. */
  readonly timeoutMilliseconds?: number | undefined;
  /** Called after each check. */
  readonly onResult?: ((result: CheckResult, progress: Progress) => void) | undefined;
  /** When it is aborted, the check that runs is the last one. */
  readonly signal?: AbortSignal | undefined;
}

/** How far a run is, in checks of what the connector claims. */
export interface Progress {
  readonly done: number;
  readonly of: number;
}

/** A check that has run. */
export interface CheckRun extends CheckResult {
  /** What could not be cancelled or withdrawn. */
  readonly left: readonly string[];
  /** Cleans up again, after what is left or still running. Returns what is left then. Absent: nothing is. */
  readonly cleanUpAgain?: () => Promise<readonly string[]>;
}

const fiveMinutes = 300_000;
/** Requests per second with which no check takes longer. */
const ampleRate = 5;

/** Milliseconds that one check may take. */
export function timeLimit({ connector }: Pick<Subject, 'connector'>): number {
  return fiveMinutes * Math.max(1, ampleRate / (connector.capabilities.requestsPerSecond ?? ampleRate));
}

/**
 * Checks that the connector does what it claims, and nothing else. Checks run one at a time and cancel the appointments
 * that they book.
 */
export async function runConformance(subject: Subject, options: RunOptions = {}): Promise<Report> {
  assertNodeVersion();
  const chosen = everyCapability.filter(({ name }) => options.only?.includes(name) ?? true);
  const checks = chosen.flatMap((it) => it.checks);
  const of = checks.filter((check) => isClaimed(check, subject)).length;
  const results: CheckResult[] = [];
  const unfinished: Required<CheckRun>['cleanUpAgain'][] = [];
  let done = 0;
  for (const check of checks) {
    if (options.signal?.aborted) break;
    const { left: _, cleanUpAgain, ...result } = await runCheck(check, subject, options);
    results.push(result);
    if (cleanUpAgain) unfinished.push(cleanUpAgain);
    if (result.outcome !== 'not_claimed') done++;
    options.onResult?.(result, { done, of });
  }
  return reportOf(subject, results, await leftAfter(unfinished));
}

/** Cleans up after the checks that left something, when all others have ended. Returns what is left. */
export async function leftAfter(unfinished: readonly Required<CheckRun>['cleanUpAgain'][]): Promise<readonly string[]> {
  const left: string[] = [];
  for (const cleanUpAgain of unfinished) left.push(...(await cleanUpAgain()));
  return left;
}

/** Builds a report from check results and the subject's capabilities. */
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

/** Runs one check and cleans up after it. */
export async function runCheck(check: Check, subject: Subject, options: RunOptions = {}): Promise<CheckRun> {
  const { capability, name } = check;
  if (!isClaimed(check, subject)) return { ...notClaimed(check), left: [] };
  const recorder = recordWrites(withRetries(checked(subject)), options.readOnly ?? false);
  const start = performance.now();
  let isRunning = true;
  const running = check.run(recorder.subject).finally(() => {
    isRunning = false;
  });
  const [outcome] = await Promise.allSettled([within(running, options.timeoutMilliseconds ?? timeLimit(subject))]);
  const milliseconds = Math.round(performance.now() - start);
  const cleanUp = () => recorder.cleanUp({ hasFailed: outcome.status === 'rejected' });
  // One that has timed out may still book.
  const isUnfinished = isRunning;
  const left = await cleanUp();
  const again = isUnfinished || left.length > 0 ? { cleanUpAgain: cleanUp } : {};
  const result = { capability, check: name, milliseconds, left, ...again };
  if (recorder.wasWriteBlocked) return { ...result, outcome: 'not_checked', reason: 'the run is read-only' };
  if (outcome.status === 'fulfilled') return { ...result, outcome: 'passed', reason: null };
  const { reason } = outcome;
  if (reason instanceof NotChecked) return { ...result, outcome: 'not_checked', reason: reason.message };
  const message = reason instanceof Failure ? reason.message : `The connector threw ${describe(reason)}`;
  return { ...result, outcome: 'failed', reason: message };
}

/** With the results and errors checked, as in the gateway. */
function checked(subject: Subject): Subject {
  const { second, inTimeZone = inTimeZoneOf(second) } = subject;
  const inZones: Subject = Object.create(subject, { inTimeZone: { value: inTimeZone } });
  return withEachConnector(inZones, (connector) => withKnownWrites(withRightAnswers(connector)));
}

function inTimeZoneOf(second: Subject['second']): Subject['inTimeZone'] {
  return second && 'inTimeZone' in second ? (second as ConnectorInProcess).inTimeZone : undefined;
}

/** The result of a check that has not run because the connector does not claim the behaviour. */
export function notClaimed({ capability, name }: Check): CheckResult {
  return { capability, check: name, outcome: 'not_claimed', reason: null, milliseconds: 0 };
}

/** Whether the connector claims what the check proves. */
export function isClaimed(check: Check, subject: Subject): boolean {
  const capability = everyCapability.find(({ name }) => name === check.capability);
  return (capability?.isClaimed(subject.connector) ?? true) && check.isClaimed(subject);
}

async function within<Result>(promise: Promise<Result>, milliseconds: number): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Failure(`Timed out after ${milliseconds / 1000} seconds`)), milliseconds);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
