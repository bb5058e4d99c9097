import { glob, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Their texts are an operator's own, such as the configuration, or come from these sources. */
const trusted = /^server\/src\/(?:config|cli|telemetry|console\/time-zone|http\/demo)\b|\/conformance\/|\.test\.ts$/;
/** Ends of URLs of the configuration. */
const ofUrls = String.raw`\/+$`;
/** What their callers limit to a few hundred characters before. */
const limited = /^(?:connector-kit\/src\/phone-numbers|server\/src\/documents\/file-name)\.ts$/;

/** What makes patterns work: 24 signs take a pattern that tries every way for long enough, and 8,000 one that tries all pairs. */
const lengths = [24, 8_000];
const usual = [' ', '0', 'a', 'A', '/', '"', '.', ',', '=', '-', '(', '\t'];
/** As many times as long as a pattern that looks at each sign once. */
const mostTimes = 150;

interface Pattern {
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

async function patterns(): Promise<Pattern[]> {
  const found: Pattern[] = [];
  const folders = ['server/src/**/*.ts', 'connector-kit/src/**/*.ts', 'connectors/*/src/**/*.ts'];
  for await (const place of glob(folders, { cwd: root })) {
    if (trusted.test(place) || limited.test(place)) continue;
    const { program } = parseSync(place, await readFile(`${root}/${place}`, 'utf8'));
    new Visitor({
      Literal(node) {
        if (!('regex' in node) || node.regex.pattern === ofUrls) return;
        found.push({ place, source: node.regex.pattern, flags: node.regex.flags });
      },
    }).visit(program);
  }
  return found;
}

/** Texts of one sign, behind what the pattern may begin with, and with an end that fits nothing. */
function* hardTexts({ source }: Pattern, length: number): Generator<string> {
  const words = source.match(/(?<!\\)[\w<":/ -]{2,}/g) ?? [];
  const signs = new Set([...usual, ...words.slice(0, 4), ...source.replaceAll(/\\./g, '').replaceAll(/[\w\s]/g, '')]);
  for (const sign of signs) {
    for (const start of ['', ...words.slice(0, 2)]) {
      yield `${start}${sign.repeat(Math.ceil(length / sign.length))}!\n`;
    }
  }
}

/** Milliseconds of the fastest of some runs: another process may have stopped the others. */
function fastest(work: () => unknown, enough: number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 5 && best > enough; run++) {
    const begin = performance.now();
    work();
    best = Math.min(best, performance.now() - begin);
  }
  return best;
}

const yardstick = `${'ab'.repeat(4_000)}!`;
const unit = fastest(() => yardstick.replaceAll(/[^!]/g, ''), 0);

function isSlow(pattern: Pattern): boolean {
  const regExp = new RegExp(pattern.source, pattern.flags);
  return lengths.some((length) => {
    for (const text of hardTexts(pattern, length)) {
      if (fastest(() => text.replace(regExp, ''), unit * mostTimes) > unit * mostTimes) return true;
    }
    return false;
  });
}

test('the measure finds patterns that try every way, or all pairs of places', () => {
  const place = '';
  for (const source of ['^(a+)+$', String.raw`^(\w|a)*$`, String.raw`\s+$`, ',[^=]*=', ' +-']) {
    expect([source, isSlow({ place, source, flags: '' })]).toEqual([source, true]);
  }
  expect(isSlow({ place, source: '^[^a]*$|b+', flags: 'g' })).toBe(false);
});

test('the time of each pattern grows with the length of the text, not faster', async () => {
  const all = await patterns();
  expect(all.length).toBeGreaterThan(200);
  expect(all.filter(isSlow)).toEqual([]);
});
