import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ehrStates, events, keyStates, type Row, rowAfter, rows } from './end-table.ts';

/* The page about writes shows the table as it is. */

const page = readFileSync(new URL('../../../docs/architecture/writes.md', import.meta.url), 'utf8');

/** One line for each event and each thing that the EHR may still do, unless it makes no difference. */
function tableInWords(): string[] {
  return events.flatMap((event) => {
    const cells = (ehr: (typeof ehrStates)[number]) => keyStates.map((key) => rowAfter(event, ehr, key)).join(' | ');
    const byCells = Map.groupBy(ehrStates, cells);
    return [...byCells].map(([row, states]) => {
      return `| ${event} | ${byCells.size === 1 ? 'any' : states.join(', ')} | ${row} |`;
    });
  });
}

/** The ways of a write with a key out of `pending`. */
function pictureInWords(): string[] {
  const ends = events.flatMap((event) =>
    ehrStates.map((ehr) => ({ event, isLate: ehr === 'late', row: rowAfter(event, ehr, 'key') })),
  );
  const stateOf = (row: Row) => (row === 'open' ? 'pending' : row.replaceAll(' ', '_'));
  return Object.keys(rows).map((name) => {
    const row = name as Row;
    const ofRow = ends.filter((it) => it.row === row);
    const isLate = ofRow.every((it) => it.isLate);
    const labels = [...new Set(ofRow.map(({ event }) => event))].join(', ');
    return `pending --> ${stateOf(row)}: ${labels}${isLate ? ' (late)' : ''}`;
  });
}

describe('the page about writes has', () => {
  test.each(tableInWords())('the line %s', (line) => {
    expect(page.split('\n')).toContain(line);
  });

  test.each(pictureInWords())('the way %s', (way) => {
    expect(page.split('\n').map((line) => line.trim())).toContain(way);
  });

  test.each(Object.entries(rows))('what %s means', (row, meaning) => {
    expect(page.split('\n')).toContain(`| ${row} | ${meaning} |`);
  });
});

test('a write that the EHR may still make is looked at, unless it is given up', () => {
  const ends = events.flatMap((event) => keyStates.map((key) => [event, rowAfter(event, 'late', key)] as const));
  const looked: readonly Row[] = ['monitored', 'monitored under its lease', 'open'];
  for (const [event, row] of ends) expect([event, looked.includes(row)]).toEqual([event, event !== 'given up']);
});

test('a response that a caller got stays under its key', () => {
  for (const event of events.filter((it) => it !== 'starts over'))
    for (const ehr of ehrStates) expect(['answered', 'monitored', 'open']).toContain(rowAfter(event, ehr, 'response'));
});

test('what no retry can find and nobody looks at is deleted', () => {
  for (const event of events.filter((it) => it !== 'starts over'))
    for (const ehr of ehrStates) expect(['gone', 'monitored', 'open']).toContain(rowAfter(event, ehr, 'no key'));
});
