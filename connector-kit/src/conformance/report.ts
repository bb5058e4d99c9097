import type { Capabilities, ConnectorOperation } from '../connector.ts';

/** The result of one check. */
export interface CheckResult {
  readonly capability: string;
  readonly check: string;
  /**
   * - `not_checked`: could not be tested in this run; never counts as passed
   * - `not_claimed`: the connector does not claim the behaviour
   */
  readonly outcome: 'passed' | 'failed' | 'not_checked' | 'not_claimed';
  /** Why it did not pass. */
  readonly reason: string | null;
  readonly milliseconds: number;
}

/** The result of a conformance run. Contains no patient data, so it can be stored and published. */
export interface Report {
  readonly subject: string;
  readonly claims: Capabilities & { readonly operations: readonly ConnectorOperation[] };
  readonly passed: number;
  readonly failed: number;
  readonly notChecked: number;
  readonly notClaimed: number;
  readonly results: readonly CheckResult[];
  /** Ids of appointments that the kit created and could not cancel, and of operations whose records it could not withdraw. */
  readonly leftBehind: readonly string[];
}

/** Formats the report as a table, followed by failed and unchecked checks. */
export function formatReport(report: Report): string {
  const names = [...new Set(report.results.map(({ capability }) => capability))];
  const width = Math.max(...names.map((name) => name.length), 'capability'.length);
  const row = (name: string, ...cells: readonly string[]) =>
    `  ${name.padEnd(width)}${cells.map((cell) => cell.padStart(13)).join('')}`.trimEnd();
  const lines = [
    `Conformance of ${report.subject}`,
    '',
    row('capability', 'passed', 'failed', 'not checked'),
    ...names.map((name) => {
      const of = (outcome: CheckResult['outcome']) => count(report, name, outcome);
      if (of('passed') + of('failed') + of('not_checked') === 0) return row(name, 'not claimed');
      return row(name, ...(['passed', 'failed', 'not_checked'] as const).map((it) => String(of(it) || '-')));
    }),
    ...failures(report),
    ...notChecked(report),
    '',
    `${report.passed} passed, ${report.failed} failed, ${report.notChecked} not checked, ` +
      `${report.notClaimed} not claimed`,
  ];
  if (report.leftBehind.length > 0) {
    lines.push(
      'Left in the EHR because they could not be cancelled or withdrawn: appointments, or records of operations,',
    );
    lines.push(report.leftBehind.join(', '));
  }
  return `${lines.join('\n')}\n`;
}

function count({ results }: Report, capability: string, outcome: CheckResult['outcome']): number {
  return results.filter((result) => result.capability === capability && result.outcome === outcome).length;
}

function failures({ results }: Report): string[] {
  const failed = results.filter(({ outcome }) => outcome === 'failed');
  if (failed.length === 0) return [];
  return [
    '',
    'Failed',
    ...failed.flatMap(({ capability, check, reason }) => [`  ${capability}: ${check}`, `      ${reason}`]),
  ];
}

/** Grouped by reason: one missing fact often prevents many checks. */
function notChecked({ results }: Report): string[] {
  const reasons = Map.groupBy(
    results.filter(({ outcome }) => outcome === 'not_checked'),
    ({ reason }) => reason,
  );
  if (reasons.size === 0) return [];
  const counted = (of: readonly CheckResult[]) =>
    [...Map.groupBy(of, ({ capability }) => capability)].map(([name, { length }]) => `${name} (${length})`).join(', ');
  return ['', 'Not checked', ...[...reasons].flatMap(([reason, of]) => [`  ${reason}`, `      ${counted(of)}`])];
}
