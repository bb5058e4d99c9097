import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import { temporaryFolder } from '../../server/src/config/test-support.ts';
import { freePort } from '../processes/free-port.ts';

const run = promisify(execFile);

test('the commands that fhir:load prints can be run unchanged', async () => {
  const server = await startFake({ takesIds: true, data: [] });
  onTestFinished(() => server.close());
  const env = { ...process.env, CROSSWARD_DATA_DIR: await temporaryFolder() };
  const load = ['examples/fhir/load.ts', '--base-url', server.url, '--days', '14'];
  const { stdout } = await run(process.execPath, load, { env });
  const [check, ...more] = stdout
    .replaceAll('\\\n', '')
    .split('\n')
    .filter((line) => line.startsWith('npx '));
  expect(more).toHaveLength(1);
  const checked = await run('sh', ['-c', check ?? ''], { env });
  expect(checked.stdout).toContain('Booking by transaction');
  const proved = await run('sh', ['-c', `${more[0]} --only patients clock-changes concurrent-edits`], { env });
  // The people of the example have numbers of their own, and records in use.
  expect(proved.stdout).toMatch(/no number of several people is given\s+patients \(1\)/);
  expect(proved.stdout).toMatch(/no record that is out of use is given\s+patients \(1\)/);
  expect(proved.stdout).toMatch(/, 0 failed, 2 not checked/);
});

function load(...words: string[]) {
  return run(process.execPath, ['examples/fhir/load.ts', ...words]).catch((error) => error);
}

test('fhir:load --help shows its options', async () => {
  const { stdout, stderr, code } = await load('--help');
  expect(stdout).toMatch(/^Usage: npm run fhir:load.*--base-url.*--also-on/s);
  expect([stderr, code]).toEqual(['', undefined]);
});

test.each([
  [[], '--base-url is missing.'],
  [['--base-url', 'fhir.example'], '--base-url must be an http or https URL: fhir.example'],
  [['--base-url', 'http://fhir.example', '--days', 'ten'], '--days must be a whole number from 1: ten'],
  [['--base-url', 'http://fhir.example', '--also-on', 'monday'], '--also-on must be a date such as 2030-03-15: monday'],
  [['--base-url', 'http://fhir.example', '--header', 'secret'], "--header must have the form 'Name: value'."],
  [['--url', 'http://fhir.example'], "Unknown option '--url'"],
])('fhir:load with %j says what is wrong', async (words, message) => {
  const { stderr, code } = await load(...words);
  expect(code).toBe(2);
  expect(stderr.split('\n')[0]).toContain(message);
  expect(stderr).not.toContain('    at ');
});

test('fhir:load says that the server cannot be reached', async () => {
  const { stderr, code } = await load('--base-url', `http://127.0.0.1:${await freePort()}`);
  expect(code).toBe(1);
  expect(stderr).toContain('The server cannot be reached: connect ECONNREFUSED');
  expect(stderr).not.toContain('    at ');
});
