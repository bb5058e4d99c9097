import { isReached, type Result } from './bench.ts';

const columns = ['bench', 'measure', 'value', 'range', 'reach', 'reached'];

/** One line of text, and a second one with the further figures. */
export function describe(result: Result): string {
  const { name, measure, details } = result;
  const line = `${name}: ${format(result)}   [${measure}${result.reach ? `, reach ${reachOf(result)}` : ''}]\n`;
  const further = Object.entries(details).map(([key, figure]) => `${key} ${round(figure)}`);
  return further.length === 0 ? line : `${line}    ${further.join(', ')}\n`;
}

/** All lines as a table in Markdown. */
export function toMarkdown(results: readonly Result[]): string {
  const rows = results.map((result) => [
    result.name,
    result.measure,
    round(typeof result.value === 'number' ? result.value : result.value.median),
    rangeOf(result),
    reachOf(result),
    result.reach ? (isReached(result) ? 'yes' : 'no') : '',
  ]);
  return [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

function format(result: Result): string {
  const range = rangeOf(result);
  const value = round(typeof result.value === 'number' ? result.value : result.value.median);
  const verdict = result.reach ? ` ${isReached(result) ? 'reached' : 'NOT reached'}` : '';
  return `${value}${range && ` (${range})`}${verdict}`;
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
