import { describeRun, figuresTable, type SavedResult, type SavedRun, toMarkdown } from './table.ts';

/**
 * `<!-- bench read book -->` to `<!-- /bench -->`: the ratios. `<!-- bench first read book -->`: the first one of each.
 * `<!-- bench figures read book -->`: the figures of the gateway. Without names: all benchmarks.
 */
const block = /(<!-- bench(?<names>[^/]*?) -->\n).*?(<!-- \/bench -->)/gs;

/** Replaces the content of each block in a Markdown text by the results of the benchmarks that it names. */
export function fillBlocks(text: string, run: SavedRun): string {
  return text.replaceAll(block, (...match) => {
    const [, start, namesText, end] = match as [string, string, string, string];
    const words = namesText.split(' ').filter(Boolean);
    const [form = ''] = words;
    const names = form === 'figures' || form === 'first' ? words.slice(1) : words;
    const results = run.results.filter(({ bench }) => names.length === 0 || names.includes(bench));
    const table =
      form === 'figures' ? figuresTable(results) : toMarkdown(form === 'first' ? firstOf(results) : results);
    return `${start}${describeRun(run)}:\n\n${table}\n${end}`;
  });
}

function firstOf(results: readonly SavedResult[]): readonly SavedResult[] {
  return results.filter(({ bench }, index) => results.findIndex((other) => other.bench === bench) === index);
}
