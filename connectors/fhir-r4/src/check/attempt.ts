import { ConnectorError, type ProbeFinding } from '@crossward/connector-kit';

/** Runs one part of the check. A failure becomes a finding. */
export async function attempt<Result>(
  findings: ProbeFinding[],
  name: string,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    findings.push({ name, status: 'problem', detail: `${error.message}.` });
    return undefined;
  }
}
