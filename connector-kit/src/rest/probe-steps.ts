import { ConnectorError } from '../errors.ts';
import type { ProbeFinding } from '../probe.ts';

/** Says what a test has found. */
export type Report = (status: ProbeFinding['status'], detail: string) => void;

/** The tests of a probe, each of which reports what it finds. */
export interface ProbeSteps {
  readonly findings: readonly ProbeFinding[];
  /** Runs a test. If it throws, that is the finding. @returns `undefined` then */
  step<Result>(name: string, run: (report: Report) => Promise<Result>): Promise<Result | undefined>;
}

export function probeSteps(): ProbeSteps {
  const findings: ProbeFinding[] = [];
  return {
    findings,
    async step(name, run) {
      try {
        return await run((status, detail) => void findings.push({ name, status, detail }));
      } catch (error) {
        const detail = error instanceof ConnectorError ? `${error.message}.` : 'The test failed.';
        findings.push({ name, status: 'problem', detail });
        return undefined;
      }
    },
  };
}

/**
 * Whether the user may write, before anything is booked: by a write that the EHR must refuse for another reason, such as a booking
 * of a slot that does not exist.
 *
 * @param write throws a ConnectorError with the `refusal` of the EHR
 * @throws what `write` throws if it says nothing about rights, such as a failure of the EHR
 */
export async function rightToWrite(
  write: () => Promise<unknown>,
): Promise<readonly [status: ProbeFinding['status'], detail: string]> {
  try {
    await write();
  } catch (error) {
    const status = error instanceof ConnectorError ? error.refusal?.status : undefined;
    if (status === 403) return ['problem', 'The user may not book: give it the right to.'];
    if (status === undefined || status < 400 || status > 499 || [401, 408, 429].includes(status)) throw error;
    return ['ok', 'The user may book.'];
  }
  return ['problem', 'The EHR accepts a booking of something that does not exist.'];
}
