import { areas, type Finding } from './finding.ts';

export function isWell(findings: readonly Finding[]): boolean {
  return findings.every(({ status }) => status !== 'problem');
}

/** The findings as a table for people, with a summary in the last line. */
export function formatFindings(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ subject }) => subject.length), 0);
  const sections = areas.flatMap((area) => {
    const own = findings.filter((it) => it.area === area);
    if (own.length === 0) return [];
    const rows = own.map(({ subject, status, text }) => {
      const [first = '', ...others] = text.split('\n');
      const further = others.map((line) => `${' '.repeat(15 + width)}${line}\n`).join('');
      return `  ${status.padEnd(9)}  ${subject.padEnd(width)}  ${first}\n${further}`;
    });
    return [`${area[0]?.toUpperCase()}${area.slice(1)}\n${rows.join('')}\n`];
  });
  return `${sections.join('')}${summary(findings)}\n`;
}

function summary(findings: readonly Finding[]): string {
  const count = (status: Finding['status'], name: string) => {
    const { length } = findings.filter((it) => it.status === status);
    return length === 0 ? [] : [`${length} ${name}${length === 1 ? '' : 's'}`];
  };
  const unchecked = findings.filter(({ status }) => status === 'unchecked').length;
  const counts = [
    ...count('problem', 'problem'),
    ...count('warning', 'warning'),
    ...(unchecked === 0 ? [] : [`${unchecked} not checked`]),
  ];
  if (isWell(findings)) return counts.length === 0 ? 'All is well.' : `Nothing must be fixed: ${counts.join(', ')}.`;
  return `${counts.join(', ')}.`;
}
