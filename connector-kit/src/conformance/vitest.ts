import { afterAll, beforeAll, describe, test } from 'vitest';
import { capabilities } from './capabilities.ts';
import { Failure } from './check.ts';
import { type RunOptions, runCheck } from './run.ts';
import type { Subject } from './subject.ts';

/**
 * One Vitest test for every check. What is not claimed, and what the subject cannot show, is skipped with the reason.
 * The subject is made once and closed at the end.
 */
export function describeConformance(
  name: string,
  makeSubject: () => Promise<Subject>,
  options: Pick<RunOptions, 'only' | 'readOnly'> = {},
): void {
  describe(`conformance of ${name}`, () => {
    let subject: Subject;
    beforeAll(async () => {
      subject = await makeSubject();
    });
    afterAll(() => subject?.close?.());

    for (const { name: capability, checks } of capabilities) {
      if (!(options.only?.includes(capability) ?? true)) continue;
      describe(capability, () => {
        for (const check of checks) {
          test(check.name, { timeout: 120_000 }, async ({ skip }) => {
            const { outcome, reason, left } = await runCheck(check, subject, options);
            if (outcome === 'not_claimed') skip(reason ?? 'not claimed');
            if (outcome === 'not_checked') skip(`not checked: ${reason}`);
            if (outcome === 'failed') throw new Failure(reason ?? '');
            if (left.length > 0) throw new Failure(`Appointments were left behind: ${left.join(', ')}`);
          });
        }
      });
    }
  });
}
