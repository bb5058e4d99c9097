import { expect, test } from 'vitest';
import type { Capabilities } from '../connector.ts';
import { formatMatrix } from './matrix.ts';
import { type CheckResult, formatReport, type Report } from './report.ts';
import { reportOf } from './run.ts';

function result(capability: string, outcome: CheckResult['outcome'], reason: string | null = null): CheckResult {
  return { capability, check: `check ${outcome}`, outcome, reason, milliseconds: 1 };
}

function report(name: string, results: readonly CheckResult[]): Report {
  const capabilities: Capabilities = {
    patientIdentifierTypes: ['emr_id'],
    resourceIdentifierTypes: ['emr_id'],
    changes: [],
    transactions: false,
  };
  return reportOf({ name, connector: { capabilities } }, results, []);
}

const mixed = report('one', [
  result('patients', 'passed'),
  result('patients', 'not_checked', 'no patient is given'),
  result('races', 'passed'),
  result('races', 'failed', 'two succeeded'),
  result('holds', 'not_claimed'),
  result('paging', 'not_checked', 'no patient is given'),
]);

test('a report counts results by capability and lists failed and unchecked checks', () => {
  const text = formatReport(mixed);
  expect(text).toMatch(/^ {2}patients +1 +- +1$/m);
  expect(text).toMatch(/^ {2}races +1 +1 +-$/m);
  expect(text).toMatch(/^ {2}holds +not claimed$/m);
  expect(text).toContain('races: check failed\n      two succeeded');
  expect(text).toContain('no patient is given\n      patients (1), paging (1)');
  expect(text).toContain('2 passed, 1 failed, 2 not checked, 1 not claimed');
});

test('a report lists what could not be cancelled or withdrawn', () => {
  expect(formatReport({ ...mixed, leftBehind: ['a-1', 'b-2'] })).toMatch(/ withdrawn: .+\na-1, b-2\n$/);
});

test('a matrix shows a check mark only for passed checks', () => {
  const text = formatMatrix([mixed, report('two', [result('patients', 'passed')])]);
  const [head, , one, two] = text.split('\n').map((line) => line.split(' | '));
  const cell = (row: readonly string[] | undefined, name: string) => row?.[head?.indexOf(name) ?? -1];
  expect(cell(one, 'patients')).toBe('✓ 1 of 2');
  expect(cell(two, 'patients')).toBe('✓ 1');
  expect(cell(one, 'races')).toBe('✗ 1 of 2');
  expect(cell(one, 'holds')).toBe('–');
  expect(cell(one, 'paging')).toBe('not checked');
  expect(cell(two, 'paging')).toBe('not checked');
  expect(text).toContain('- no patient is given: patients “check not_checked”; paging “check not_checked”');
});
