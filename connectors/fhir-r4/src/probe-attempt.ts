import { ConnectorError, type ProbeFinding } from '@crossward/connector-kit';

/** What goes wrong is a finding. */
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
