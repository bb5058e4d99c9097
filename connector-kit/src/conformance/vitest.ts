import { afterAll, beforeAll, describe, test } from 'vitest';
import { capabilities } from './capabilities.ts';
import { Failure } from './check.ts';
import type { CheckResult, Report } from './report.ts';
import { type RunOptions, reportOf, runCheck } from './run.ts';
import type { Subject } from './subject.ts';

interface ConformanceOptions extends Pick<RunOptions, 'only' | 'readOnly'> {
  /** Called with the report after all checks. If it throws, the test `report` fails. */
  readonly assertReport?: (report: Report) => void | Promise<void>;
}

/**
 * Defines one Vitest test per check. Checks that are not claimed or cannot run are skipped with the reason. The subject
 * is created once and closed at the end.
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
