import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** What other programs print, and commands. */
const notOurs = /^(Out of memory$|npx |npm |crossward |systemctl |kubectl |clients |operators |webhooks |messages )/;
/** Words as in a message of the log, not a setting, a number or a path. */
const words = /^[A-Za-z][a-z]+( [A-Za-z][A-Za-z'-]*[.,:]?)+$/;

const sources = globSync('{server/src,connector-kit/src,connectors/*/src}/**/*.ts')
  .filter((file) => !/\.test(-support)?\.ts$/.test(file))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

/** Whether the code writes a line that begins so. A background job that fails is told with its name. */
function isLogged(line: string): boolean {
  const job = `'${line.replace(/ failed$/, '')}'`;
  return (
    ["'", '`', '"'].some((quote) => sources.includes(quote + line)) ||
    (line.endsWith(' failed') && sources.includes(job))
  );
}

/** Code in a document, without line breaks. */
function codeIn(file: string): readonly { readonly code: string; readonly before: string }[] {
  const text = readFileSync(file, 'utf8').replace(/```[\s\S]*?```/g, '');
  return [...text.matchAll(/`([^`]+)`/g)].map(({ 1: code = '', index }) => ({
    code: code.replace(/\s+/g, ' '),
    before: text.slice(Math.max(0, index - 40), index).replace(/\s+/g, ' '),
  }));
}

test('every line of the log that a runbook quotes is one that the gateway writes', () => {
  const quoted = codeIn('docs/runbooks.md')
    .map(({ code }) => code)
    .filter((code) => words.test(code) && !notOurs.test(code));
  expect(quoted.length).toBeGreaterThan(15);
  expect(quoted.filter((line) => !isLogged(line))).toEqual([]);
});

test('every line of the log that another page names is one that the gateway writes', () => {
  const named = globSync('docs/**/*.md').flatMap((file) =>
    codeIn(file)
      .filter(({ code, before }) => words.test(code) && /\b(lines?|log has) $/i.test(before))
      .map(({ code }) => `${file}: ${code}`),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((it) => !isLogged(it.slice(it.indexOf(': ') + 2)))).toEqual([]);
});
