import type { EmrReport } from '../ehr/emr-report.ts';

/** The report as Markdown. */
export function markdownOf(report: EmrReport): string {
  const { name, facts, isWell, error, can, cannot, limits, findings, careUnits, settings } = report;
  const sections = [
    `# ${line(name)}: report on its connection`,
    table(['', ''], facts),
    isWell ? 'The connection works.' : `The connection has a problem${error === undefined ? '.' : `: ${line(error)}`}`,
    ...(can.length > 0
      ? [
          '## What works',
          table(
            ['', 'how'],
            can.map(({ what, how }) => [what, how]),
          ),
        ]
      : []),
    ...(cannot.length > 0
      ? [
          '## What does not work',
          table(
            ['', 'instead'],
            cannot.map(({ what, how }) => [what, how]),
          ),
        ]
      : []),
    ...(limits.length > 0 ? ['## Limits', limits.map((limit) => `- ${limit}`).join('\n')] : []),
    '## Findings of the check',
    findings.length === 0
      ? 'This connector has no probe; its server was not checked.'
      : table(
          ['result', 'subject', 'finding'],
          findings.map((it) => [it.status, it.name, it.detail]),
        ),
    '## Care units',
    table(['', ''], careUnits),
    '## Settings',
    `\`\`\`yaml\n${settings.trimEnd()}\n\`\`\``,
  ];
  return `${sections.join('\n\n')}\n`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]) => `| ${cells.map(line).join(' | ')} |`;
  return [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');
}

/** Text on one line of a table. */
function line(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');
}
