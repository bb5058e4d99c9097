import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';

/** Starts a process that logs some lines and then runs `end`. */
function logger(count: number, end: string, format = 'json') {
  const module = new URL('./create-log.ts', import.meta.url).href;
  const script = `
    import { createLog } from ${JSON.stringify(module)};
    const log = await createLog('info', '${format}');
    for (let n = 0; n < ${count}; n++) log.info({ n, text: 'å'.repeat(200) }, 'line');
    ${end}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return { child, lines: createInterface(child.stdout) };
}

test.each(['', 'process.exit(1)', "throw new Error('a bug')"])(
  'no line is lost or broken at the end: %s',
  async (end) => {
    const numbers: number[] = [];
    for await (const line of logger(100, end).lines) numbers.push(JSON.parse(line).n);
    expect(numbers).toEqual(Array.from({ length: 100 }, (_, n) => n));
  },
);

test('a few lines are written while the process goes on', async () => {
  const { child, lines } = logger(3, 'setInterval(() => undefined, 60_000)');
  const numbers: number[] = [];
  for await (const line of lines) {
    numbers.push(JSON.parse(line).n);
    if (numbers.length === 3) child.kill();
  }
  expect(numbers).toEqual([0, 1, 2]);
});

test('no pretty line is lost at the end, and other texts stay as they are', async () => {
  const lines: string[] = [];
  const print = new URL('./print.ts', import.meta.url).href;
  const end = `const { print } = await import(${JSON.stringify(print)}); print(log, 'a text\\n'); process.exit(1)`;
  for await (const line of logger(50, end, 'pretty').lines) lines.push(line);
  expect(lines.map((line) => line.replace(/^\[[\d:]+\] /, '').slice(0, 10))).toEqual([
    ...Array.from({ length: 50 }, () => 'INFO: line'),
    'a text',
  ]);
});
