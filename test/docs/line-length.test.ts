import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const maxLength = 120;
const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
const files = git('ls-files', '-z', '--cached', '--others', '--exclude-standard', '*.md').filter((path) =>
  existsSync(`${root}${path}`),
);
const attributes = git('check-attr', '-z', 'linguist-generated', ...files);
/** Without the generated ones. */
const documents = files.filter((_, index) => attributes[index * 3 + 2] !== 'set');

describe(`prose has at most ${maxLength} characters in a line`, () => {
  test.each(documents)('%s', (path) => {
    expect(longLines(readFileSync(`${root}${path}`, 'utf8'))).toEqual([]);
  });
});

test('the check finds long prose, and accepts tables, blocks of code, and what cannot be wrapped', () => {
  const long = 'word '.repeat(30).trim();
  const code = `\`${long}\``;
  const link = `- [here](https://example.org/${'a'.repeat(120)})`;
  const text = [long, `  ${long}`, `| ${long} |`, '```sh', long, '```', code, link, `# ${long}`, `<!-- ${long} -->`];
  expect(longLines(text.join('\n'))).toEqual([`1: ${long}`, `2:   ${long}`]);
});

/** Lines of prose that are too long and have a space at which they can be wrapped. */
function longLines(text: string): string[] {
  // Keeps the numbers of the lines.
  const prose = text.replace(/^( *)(```|~~~)[\s\S]*?^\1\2$/gm, (block) => block.replace(/[^\n]/g, ''));
  return prose.split('\n').flatMap((line, index) => {
    const isFree = line.length <= maxLength || /^\s*([|#<]|\[[^\]]+\]: )/.test(line);
    return isFree || wordsOf(line).length < 2 ? [] : [`${index + 1}: ${line}`];
  });
}

/** A piece of code with spaces counts as one word. */
function wordsOf(line: string): string[] {
  return line
    .replace(/^\s*([-*>]|\d+\.)?\s+/, '')
    .replace(/`[^`]*`/g, 'code')
    .split(/\s+/)
    .filter(Boolean);
}
