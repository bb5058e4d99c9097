import { afterAll, beforeAll, describe, test } from 'vitest';
import { capabilities } from './capabilities.ts';
import { Failure } from './check.ts';
import type { CheckResult, Report } from './report.ts';
import { type RunOptions, reportOf, runCheck } from './run.ts';
import type { Subject } from './subject.ts';

interface ConformanceOptions extends Pick<RunOptions, 'only' | 'readOnly'> {
  /** Looks at the report when every check has run; what it throws fails a test of its own. */
  readonly assertReport?: (report: Report) => void | Promise<void>;
}

/**
 * One Vitest test for every check. What is not claimed, and what the subject cannot show, is skipped with the reason.
 * The subject is made once and closed at the end.
 */
export function describeConformance(
  name: string,
  makeSubject: () => Promise<Subject>,
  { assertReport, ...options }: ConformanceOptions = {},
): void {
  const chosen = capabilities.filter(({ name: capability }) => options.only?.includes(capability) ?? true);
  describe(`conformance of ${name}`, () => {
    let subject: Subject;
    const results: CheckResult[] = [];
    beforeAll(async () => {
      subject = await makeSubject();
    });
    afterAll(() => subject?.close?.());

    for (const { name: capability, checks } of chosen) {
      describe(capability, () => {
        for (const check of checks) {
          test(check.name, { timeout: 120_000 }, async ({ skip }) => {
            const { left, ...result } = await runCheck(check, subject, options);
            results.push(result);
            const { outcome, reason } = result;
            if (outcome === 'not_claimed') skip(reason ?? 'not claimed');
            if (outcome === 'not_checked') skip(`not checked: ${reason}`);
            if (outcome === 'failed') throw new Failure(reason ?? '');
            if (left.length > 0) throw new Failure(`Appointments were left behind: ${left.join(', ')}`);
          });
        }
      });
    }

    if (!assertReport) return;
    test('report', async ({ skip }) => {
      const total = chosen.reduce((sum, { checks }) => sum + checks.length, 0);
      if (results.length < total) skip('only some of the checks have run');
      await assertReport(reportOf(subject, results, []));
    });
  });
}
