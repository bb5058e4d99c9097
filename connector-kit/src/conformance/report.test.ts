import { expect, test } from 'vitest';
import { formatMatrix } from './matrix.ts';
import { type CheckResult, formatReport, type Report } from './report.ts';

function result(capability: string, outcome: CheckResult['outcome'], reason: string | null = null): CheckResult {
  return { capability, check: `keep ${outcome}`, outcome, reason, milliseconds: 1 };
}

function report(subject: string, results: readonly CheckResult[]): Report {
  const count = (outcome: CheckResult['outcome']) => results.filter((it) => it.outcome === outcome).length;
  return {
    subject,
    claims: {
      patientIdentifierTypes: ['emr_id'],
      resourceIdentifierTypes: ['emr_id'],
      changes: [],
      transactions: false,
      sendsCodes: false,
      operations: ['findPatient'],
    },
    passed: count('passed'),
    failed: count('failed'),
    notChecked: count('not_checked'),
    notClaimed: count('not_claimed'),
    results,
    leftBehind: [],
  };
}

const mixed = report('one', [
  result('patients', 'passed'),
  result('patients', 'not_checked', 'nobody is named'),
  result('races', 'passed'),
  result('races', 'failed', 'two won'),
  result('holds', 'not_claimed'),
  result('paging', 'not_checked', 'nobody is named'),
]);

test('a report counts by capability, and tells what failed and what was not checked', () => {
  const text = formatReport(mixed);
  expect(text).toMatch(/^ {2}patients +1 +- +1$/m);
  expect(text).toMatch(/^ {2}races +1 +1 +-$/m);
  expect(text).toMatch(/^ {2}holds +not claimed$/m);
  expect(text).toContain('races: keep failed\n      two won');
  expect(text).toContain('nobody is named\n      patients (1), paging (1)');
  expect(text).toContain('2 passed, 1 failed, 2 not checked, 1 not claimed');
});

test('a report names what could not be taken back', () => {
  expect(formatReport({ ...mixed, leftBehind: ['a-1'] })).toContain('appointments a-1');
});

test('a matrix never shows as proved what was not', () => {
  const text = formatMatrix([mixed, report('two', [result('patients', 'passed')])]);
  expect(text).toContain('| patients | ✓ 1 of 2 | ✓ 1 |');
  expect(text).toMatch(/\| races \| ✗ 1 of 2 \|/);
  expect(text).toMatch(/\| holds \| – \|/);
  expect(text).toContain('| paging | not checked | not checked |');
  expect(text).toContain('- nobody is named: patients “keep not_checked”; paging “keep not_checked”');
});
