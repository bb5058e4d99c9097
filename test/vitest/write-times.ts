// Writes times.json, after which slow test files start first, from Vitest's JSON reports: npm run test-times -- <report.json …>
// Files that are in no report keep their time.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';

interface Report {
  readonly testResults: readonly { readonly name: string; readonly startTime: number; readonly endTime: number }[];
}

/** Seconds. Shorter files can start at any time. */
const shortest = 5;
const target = new URL('times.json', import.meta.url);

const times = new Map<string, number>(Object.entries(JSON.parse(readFileSync(target, 'utf8'))));
const results = process.argv.slice(2).flatMap((path) => (JSON.parse(readFileSync(path, 'utf8')) as Report).testResults);
for (const [file, runs] of Map.groupBy(results, ({ name }) => relative('.', name))) {
  // A file can run in several projects.
  times.set(file, Math.max(...runs.map(({ startTime, endTime }) => Math.round((endTime - startTime) / 1000))));
}
const slow = [...times].filter(([file, seconds]) => seconds >= shortest && existsSync(file));
const sorted = slow.sort(([a, x], [b, y]) => y - x || a.localeCompare(b));
writeFileSync(target, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`);
