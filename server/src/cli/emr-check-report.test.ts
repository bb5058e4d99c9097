import type { ProbeFinding } from '@crossward/connector-kit';
import { expect, test } from 'vitest';
import { type EmrCheck, isConnectionWell } from '../ehr/check-connection.ts';
import { formatCheck } from './emr-check-report.ts';

const claims: NonNullable<EmrCheck['claims']> = {
  patientIdentifierTypes: ['emr_id', 'nhs_number'],
  resourceIdentifierTypes: ['emr_id'],
  changes: ['create', 'cancel'],
  transactions: false,
  operations: ['findPatient', 'changeAppointments'],
};

function check(findings: readonly ProbeFinding[], recommendedSettings: Record<string, unknown> = {}): EmrCheck {
  return { emr: 'north', connector: 'some', probe: { findings, recommendedSettings }, claims };
}

const fine: ProbeFinding = { name: 'sign-in', status: 'ok', detail: 'A token was given.' };

test('shows findings, capabilities and recommended settings', () => {
  const text = formatCheck(
    check([fine, { name: 'transactions are atomic', status: 'problem', detail: 'They are run as a batch.' }], {
      booking: 'slot_claim',
      search: { by: ['start'] },
    }),
  );
  expect(text).toContain('ok       sign-in                  A token was given.');
  expect(text).toContain('problem  transactions are atomic  They are run as a batch.');
  expect(text).toMatch(/patients +by emr_id, nhs_number/);
  expect(text).toContain('  settings:\n    booking: slot_claim\n    search:\n      by:\n        - start\n');
});

test.each([
  [false, undefined, 'no; the gateway compensates'],
  [true, undefined, 'yes\n'],
  [true, 10, 'up to 10 changes; beyond that, the gateway compensates'],
])('describes atomicity: transactions %s, %s changes', (transactions, changesPerTransaction, expected) => {
  const limited = changesPerTransaction === undefined ? {} : { changesPerTransaction };
  const text = formatCheck({ ...check([fine]), claims: { ...claims, transactions, ...limited } });
  expect(text).toContain(`all or nothing   ${expected}`);
});

test('shows the certificate of the gateway first, also without a probe', () => {
  const certificate: ProbeFinding = { name: 'client certificate', status: 'warning', detail: 'expires in 3 days' };
  expect(formatCheck({ ...check([fine]), certificate })).toMatch(
    /warning {2}client certificate {2}expires in 3 days\n {2}ok {7}sign-in/,
  );
  const withoutProbe: EmrCheck = { emr: 'north', connector: 'some', certificate, claims };
  expect(formatCheck(withoutProbe)).toContain('warning  client certificate  expires in 3 days');
  expect(isConnectionWell(withoutProbe)).toBe(true);
  expect(isConnectionWell({ ...withoutProbe, certificate: { ...certificate, status: 'problem' } })).toBe(false);
});

test('omits settings if none are recommended', () => {
  expect(formatCheck(check([fine]))).not.toContain('Recommended');
});

test.each([
  ['ok', true],
  ['note', true],
  ['warning', true],
  ['untried', true],
  ['problem', false],
] as const)('a finding that is %s makes the report pass: %s', (status, expected) => {
  expect(isConnectionWell(check([fine, { ...fine, status }]))).toBe(expected);
});

test('fails if the connection cannot be opened', () => {
  const failed: EmrCheck = { emr: 'north', connector: 'some', claims: null, error: 'unavailable: The EHR is down' };
  expect(isConnectionWell(failed)).toBe(false);
  expect(formatCheck(failed)).toContain('The connection cannot be opened: unavailable: The EHR is down');
  const told = {
    ...check([{ ...fine, status: 'problem', detail: 'The EHR is down.' }]),
    claims: null,
    error: failed.error,
  };
  expect(formatCheck(told as EmrCheck).match(/The EHR is down/g)).toHaveLength(1);
});
