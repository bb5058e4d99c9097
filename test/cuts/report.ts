import { type Fault, type Finding, faults } from './findings.ts';
import { type Kind, kinds, type Write } from './history.ts';

type Row = Kind | 'any';
const firstWidth = Math.max(...kinds.map(({ length }) => length));

/** Numbers of a run so far. Plain data, so that a run can be resumed. */
export interface Totals {
  writes: Partial<Record<Row, number>>;
  /** Writes that met a cut, a kill or a freeze: a lost response, or a problem that asked for another attempt. */
  disturbed: Partial<Record<Row, number>>;
  faults: Partial<Record<Row, Partial<Record<Fault, number>>>>;
  ways: Record<string, number>;
  kills: number;
  freezes: number;
}

export function noTotals(): Totals {
  return { writes: {}, disturbed: {}, faults: {}, ways: {}, kills: 0, freezes: 0 };
}

interface Counted {
  readonly writes: readonly Write[];
  readonly findings: readonly Finding[];
  readonly cutsByWay: readonly string[];
  readonly kills: number;
  readonly freezes: number;
}

export function addRound(totals: Totals, { writes, findings, cutsByWay, kills, freezes }: Counted): void {
  const count = <Name extends string>(numbers: Partial<Record<Name, number>>, name: Name) => {
    numbers[name] = (numbers[name] ?? 0) + 1;
  };
  for (const { kind, isDisturbed } of writes) {
    count(totals.writes, kind);
    if (isDisturbed) count(totals.disturbed, kind);
  }
  for (const { kind = 'any', fault } of findings) {
    totals.faults[kind] ??= {};
    count(totals.faults[kind], fault);
  }
  for (const way of cutsByWay) count(totals.ways, way);
  totals.kills += kills;
  totals.freezes += freezes;
}

/** A table with a line for each kind of write. */
export function table(totals: Totals): string {
  const head = ['', 'writes', 'disturbed', ...faults];
  const lines = [...kinds, 'any' as const].map((kind) => [
    kind,
    totals.writes[kind] ?? 0,
    totals.disturbed[kind] ?? 0,
    ...faults.map((fault) => totals.faults[kind]?.[fault] ?? 0),
  ]);
  const widths = head.map((name, index) => (index === 0 ? firstWidth : name.length));
  const text = [head, ...lines].map((cells) =>
    cells
      .map((cell, index) => (index === 0 ? String(cell).padEnd(firstWidth) : String(cell).padStart(widths[index] ?? 0)))
      .join('  '),
  );
  const ways = Object.entries(totals.ways).map(([way, number]) => `${number} ${way}`);
  return [...text, `cuts: ${ways.join(', ')}; ${totals.kills} kills, ${totals.freezes} freezes`].join('\n');
}
