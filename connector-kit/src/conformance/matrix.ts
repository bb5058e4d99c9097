import { capabilities } from './capabilities.ts';
import type { CheckResult, Report } from './report.ts';

/** Formats several reports as Markdown tables with one row per report. */
export function formatMatrix(reports: readonly Report[]): string {
  const names = capabilities.map(({ name }) => name);
  return [
    ...table(
      ['', ...names],
      reports.map((report) => [report.subject, ...names.map((name) => cell(report, name))]),
    ),
    '',
    '## Claimed capabilities',
    '',
    ...table(
      ['', 'patients by', 'resources by', 'changes', 'transactions'],
      reports.map(({ subject, claims }) => [
        subject,
        listed(claims.patientIdentifierTypes),
        listed(claims.resourceIdentifierTypes),
        listed(claims.changes),
        claims.transactions ? upTo(claims.changesPerTransaction) : 'no',
      ]),
    ),
    '',
    '## Not checked',
    '',
    ...reports.flatMap(notChecked),
  ]
    .join('\n')
    .trimEnd()
    .concat('\n');
}

function upTo(changes: number | undefined): string {
  return changes === undefined ? 'yes' : `up to ${changes} changes`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}

function cell({ results }: Report, capability: string): string {
  const of = (...outcomes: readonly CheckResult['outcome'][]) =>
    results.filter((it) => it.capability === capability && outcomes.includes(it.outcome)).length;
  const all = of('passed', 'failed', 'not_checked');
  if (all === 0) return of('not_claimed') > 0 ? '–' : 'not checked';
  if (of('failed') > 0) return `✗ ${of('failed')} of ${all}`;
  if (of('passed') === 0) return 'not checked';
  return of('not_checked') > 0 ? `✓ ${of('passed')} of ${all}` : `✓ ${all}`;
}

function listed(items: readonly string[]): string {
  return items.length === 0 ? 'none' : items.map((item) => `\`${item}\``).join(', ');
}

function notChecked({ subject, results }: Report): string[] {
  const reasons = Map.groupBy(
    results.filter(({ outcome }) => outcome === 'not_checked'),
    ({ reason }) => reason,
  );
  if (reasons.size === 0) return [`**${subject}**: everything was checked.`, ''];
  return [
    `**${subject}**`,
    '',
    ...[...reasons].map(
      ([reason, of]) => `- ${reason}: ${of.map(({ capability, check }) => `${capability} “${check}”`).join('; ')}`,
    ),
    '',
  ];
}
