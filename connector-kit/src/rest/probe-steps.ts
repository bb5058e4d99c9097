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
