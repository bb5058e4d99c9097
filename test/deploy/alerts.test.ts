import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readAlertRules } from './alert-rules.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const rules = readAlertRules();
const names = rules.map(({ alert }) => alert);
const runbooks = readFileSync(`${root}docs/runbooks.md`, 'utf8');
const promtoolTests = parse(readFileSync(`${root}test/deploy/alerts.promtool.yaml`, 'utf8')) as {
  readonly tests: readonly { readonly name: string }[];
};

test('each alert has a page that says what to do, and each page an alert', () => {
  const pages = [...runbooks.matchAll(/^### (\w+)\n\n\S/gm)].map(([, name]) => name);
  expect(pages.toSorted()).toEqual(names.toSorted());
});

test.each(rules)('$alert names its page, a severity and what is wrong', ({ alert, labels, annotations }) => {
  expect(annotations.runbook_url).toBe(`docs/runbooks.md#${alert.toLowerCase()}`);
  expect(labels.severity).toBeOneOf(['critical', 'warning']);
  expect(annotations.summary).toMatch(/\S/);
});

test('each alert has a test', () => {
  expect(names.filter((name) => !promtoolTests.tests.some((it) => it.name === name))).toEqual([]);
});

/** Debian's package `prometheus` contains it. */
const promtool = (...args: string[]) => spawnSync('promtool', args, { cwd: root, encoding: 'utf8' });
const isInstalled = promtool('--version').status === 0;
if (!isInstalled) process.stderr.write('promtool is not installed: the tests of the alert rules are skipped\n');

describe.skipIf(!isInstalled)('promtool', () => {
  test.each([
    ['check', 'deploy/prometheus/alerts.yaml'],
    ['test', 'test/deploy/alerts.promtool.yaml'],
  ])('%s rules %s', (command, file) => {
    const { status, stdout, stderr } = promtool(command, 'rules', file);
    expect(status, `${stdout}${stderr}`).toBe(0);
    expect(stdout).toContain('SUCCESS');
  });
});
