import { describeRun, type SavedRun, toMarkdown } from './table.ts';

/** `<!-- bench read book -->` to `<!-- /bench -->`. Without names: all benchmarks. */
const block = /(<!-- bench(?<names>[^/]*?) -->\n).*?(<!-- \/bench -->)/gs;

/** Replaces the content of each block in a Markdown text by the results of the benchmarks that it names. */
export function fillBlocks(text: string, run: SavedRun): string {
  return text.replaceAll(block, (...match) => {
    const [, start, namesText, end] = match as [string, string, string, string];
    const names = namesText.split(' ').filter(Boolean);
    const results = run.results.filter(({ bench }) => names.length === 0 || names.includes(bench));
    return `${start}${describeRun(run)}:\n\n${toMarkdown(results)}${end}`;
  });
}
