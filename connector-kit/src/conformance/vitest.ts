import { afterAll, describe, test } from 'vitest';
import { capabilities } from './capabilities.ts';
import { Failure } from './check.ts';
import { assertNodeVersion } from './node-version.ts';
import type { CheckResult, Report } from './report.ts';
import {
  type CheckRun,
  isClaimed,
  leftAfter,
  notClaimed,
  type RunOptions,
  reportOf,
  runCheck,
  timeLimit,
} from './run.ts';
import type { Subject } from './subject.ts';

interface ConformanceOptions extends Pick<RunOptions, 'only' | 'readOnly'> {
  /** Called with the report after all checks. If it throws, the test `report` fails. */
  readonly assertReport?: (report: Report) => void | Promise<void>;
}

/**
 * Defines one Vitest test for each check that the connector claims. A check that cannot run with this EHR is skipped with the
 * reason. The subject is created once, while Vitest collects the tests, and closed at the end.
 */
export function describeConformance(
  name: string,
  makeSubject: () => Promise<Subject>,
  { assertReport, ...options }: ConformanceOptions = {},
): void {
  describe(`conformance of ${name}`, async () => {
    assertNodeVersion();
    const subject = await makeSubject();
    const unfinished: Required<CheckRun>['cleanUpAgain'][] = [];
    afterAll(async () => {
      await leftAfter(unfinished);
      await subject.close?.();
    });
    const results: CheckResult[] = [];
    const chosen = capabilities.filter(({ name: capability }) => options.only?.includes(capability) ?? true);
    for (const { name: capability, checks } of chosen) {
      const claimed = checks.filter((check) => isClaimed(check, subject));
      results.push(...checks.filter((check) => !claimed.includes(check)).map(notClaimed));
      if (claimed.length === 0) continue;
      describe(capability, () => {
        for (const check of claimed) {
          test(check.name, { timeout: timeLimit(subject) }, async ({ skip }) => {
            const { left, cleanUpAgain, ...result } = await runCheck(check, subject, options);
            results.push(result);
            if (cleanUpAgain) unfinished.push(cleanUpAgain);
            const { outcome, reason } = result;
            if (outcome === 'not_checked') skip(`not checked: ${reason}`);
            if (outcome === 'failed') throw new Failure(reason ?? '');
            if (left.length > 0) throw new Failure(`Not cancelled or withdrawn: ${left.join(', ')}`);
          });
        }
      });
    }

    if (!assertReport) return;
    test('report', async ({ skip }) => {
      const total = chosen.reduce((sum, { checks }) => sum + checks.length, 0);
      if (results.length < total) skip('not all checks have run');
      await assertReport(reportOf(subject, results, []));
    });
  });
}
