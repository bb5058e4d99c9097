import { describeRun, figuresTable, type SavedRun, toMarkdown } from './table.ts';

/**
 * `<!-- bench read book -->` to `<!-- /bench -->`: the ratios. `<!-- bench figures read book -->`: the figures of the gateway.
 * Without names: all benchmarks.
 */
const block = /(<!-- bench(?<names>[^/]*?) -->\n).*?(<!-- \/bench -->)/gs;

/** Replaces the content of each block in a Markdown text by the results of the benchmarks that it names. */
export function fillBlocks(text: string, run: SavedRun): string {
  return text.replaceAll(block, (...match) => {
    const [, start, namesText, end] = match as [string, string, string, string];
    const words = namesText.split(' ').filter(Boolean);
    const [names, toTable] = words[0] === 'figures' ? [words.slice(1), figuresTable] : [words, toMarkdown];
    const results = run.results.filter(({ bench }) => names.length === 0 || names.includes(bench));
    return `${start}${describeRun(run)}:\n\n${toTable(results)}\n${end}`;
  });
}
