import { isReached, medianOf, type Result } from './bench.ts';

export interface SavedResult extends Result {
  /** Name of the benchmark. */
  readonly bench: string;
}

/** The file in `bench/results/`. */
export interface SavedRun {
  readonly at: string;
  readonly commit: string;
  readonly machine: {
    readonly processors: number;
    readonly model: string;
    readonly memoryGib: number;
    readonly node: string;
    readonly postgresql: string;
  };
  readonly results: readonly SavedResult[];
}

const columns = ['bench', 'measure', 'value', 'range', 'reach', 'reached'];

/** One line of text, and a second one with the further figures. */
export function describe(result: Result): string {
  const [range, reach] = [rangeOf(result), reachOf(result)];
  const value = `${round(medianOf(result))}${range && ` (${range})`}`;
  const verdict = reach && (isReached(result) ? ' reached' : ' NOT reached');
  const line = `${result.name}: ${value}${verdict}   [${result.measure}${reach && `, reach ${reach}`}]\n`;
  const further = detailsOf(result);
  return further === '' ? line : `${line}    ${further}\n`;
}

/** All lines as a table. */
export function toMarkdown(results: readonly Result[]): string {
  const rows = results.map((result) => [
    result.name,
    result.measure,
    round(medianOf(result)),
    rangeOf(result),
    reachOf(result),
    result.reach ? (isReached(result) ? 'yes' : '**no**') : '',
  ]);
  return tableOf(columns, rows);
}

function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

/** What a request costs, of the lines for which it was measured. */
export function figuresTable(results: readonly Result[]): string {
  const names = ['requests/s', 'p50 ms', 'gateway CPU ms', 'database CPU ms', 'statements', 'commits'];
  const rows = results
    .filter(({ details }) => names.every((name) => name in details))
    .map(({ name, details }) => [name, ...names.map((figure) => round(details[figure] ?? Number.NaN))]);
  return tableOf(['', ...names], rows);
}

/** When and where the results were measured. */
export function describeRun({ at, commit, machine }: SavedRun): string {
  const { processors, model, memoryGib, node, postgresql } = machine;
  return (
    `${at.slice(0, 10)}, commit ${commit}, ${processors} processors (${model}), ${memoryGib} GiB, Node.js ${node}, ` +
    `PostgreSQL ${postgresql}`
  );
}

function detailsOf({ details }: Result): string {
  return Object.entries(details)
    .map(([key, figure]) => `${key} ${round(figure)}`)
    .join(', ');
}

function rangeOf({ value }: Result): string {
  return typeof value === 'number' ? '' : `${round(value.lowest)} to ${round(value.highest)}`;
}

function reachOf({ reach }: Result): string {
  if (!reach) return '';
  return 'atLeast' in reach ? `≥ ${reach.atLeast}` : `≤ ${reach.atMost}`;
}

/** Three significant digits, and whole numbers from 100 on. */
function round(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
