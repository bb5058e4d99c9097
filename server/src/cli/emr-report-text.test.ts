import { expect, test } from 'vitest';
import { Secret } from '../config/environment/secret.ts';
import { demoConfigurationPath } from '../config/file/demo.ts';
import { loadEmr } from '../config/file/load.ts';
import type { EmrCheck } from '../ehr/check-connection.ts';
import { connectors } from '../ehr/connectors.ts';
import { reportOf } from '../ehr/emr-report.ts';
import { markdownOf } from './emr-report-text.ts';

const { emr: sandbox } = await loadEmr(
  { path: demoConfigurationPath, connectors, environment: {} },
  () => 'sandbox-se',
);
const emr = {
  ...sandbox,
  settings: {
    base_url: 'https://ehr.example/fhir',
    auth: { type: 'bearer', token: new Secret('canary-secret') },
    headers: { 'x-key': 'canary-header', 'x-other': new Secret('canary-other') },
  },
};
const at = new Date('2030-03-15T09:00:00Z');
const check: EmrCheck = {
  emr: emr.id,
  connector: emr.connector,
  probe: {
    findings: [{ name: 'sign-in', status: 'ok', detail: 'By | a\ntoken.' }],
    recommendedSettings: {},
  },
  claims: {
    patientIdentifierTypes: ['emr_id', 'se_personal_number'],
    resourceIdentifierTypes: ['emr_id'],
    changes: ['create', 'update', 'cancel'],
    transactions: false,
    rebooks: true,
    commentLength: 255,
    appointmentsByPatient: 'required',
    operations: ['findPatient', 'listTimeSlots', 'listAppointments', 'changeAppointments'],
  },
};

test('a report says what works, what does not, and what was found', () => {
  const text = markdownOf(reportOf(emr, check, at));
  const [works = '', not = ''] = text.split('## What works')[1]?.split('## What does not work') ?? [];
  expect(works).toContain('| look up a patient | by emr_id, se_personal_number |\n');
  expect(works).toContain('| list appointments | of one patient at a time |\n');
  expect(works).toContain('| move | by booking the new time and cancelling the former appointment: a new id |\n');
  expect(not).toContain('| hold a time until a code is entered | the gateway keeps a draft;');
  expect(not).toContain('| write documents |  |\n');
  expect(text).toContain('- A comment has at most 255 characters.');
  expect(text).toContain('| ok | sign-in | By \\| a token. |\n');
  expect(text).toContain('| Checked | 2030-03-15T09:00:00.000Z |\n');
  expect(text).toContain('bookings: with a code, cancellations: without a code');
});

test('a report shows the settings, and neither a secret nor the value of a header', () => {
  const { settings } = reportOf(emr, check, at);
  expect(settings).toContain('base_url: https://ehr.example/fhir');
  expect(settings).toContain('token: "[secret]"');
  expect(settings).toContain('- x-key');
  expect(settings).not.toContain('canary');
});

test('a connection that cannot be opened has a report, too', () => {
  const text = markdownOf(reportOf(emr, { ...check, claims: null, error: 'unavailable: ECONNREFUSED' }, at));
  expect(text).toContain('The connection has a problem: unavailable: ECONNREFUSED');
  expect(text).not.toContain('What works');
});
