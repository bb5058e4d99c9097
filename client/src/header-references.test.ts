import { expect, test } from 'vitest';
import { withHeaderReferences } from './header-references.ts';
import { clientWithReplies, json } from './test-gateway.ts';

test('identifiers in the path and the query are sent in headers', async () => {
  const { unit, requests } = clientWithReplies([json({ timeslots: [], appointments: [], next_cursor: null })]);
  await unit.patients.get('no_personal_number:15859000026');
  await unit.appointments.list({ patient_id: 'p-3', resource_id: 'r-1', status: ['booked'] }).all();
  await unit.timeSlots
    .list({ start: '2030-01-01', end: '2030-01-02', resource_id: ['r-1', 'r-2'], patient_id: 'p-3' })
    .all();

  expect(requests.map(({ url }) => decodeURIComponent(url.pathname.split('/oslo-sentrum')[1] + url.search))).toEqual([
    '/patients/header:x-patient-id',
    '/appointments?patient_id=header:x-patient-id&resource_id=header:x-resource-id&status=booked',
    '/timeslots?start=2030-01-01&end=2030-01-02&resource_id=header:x-resource-id-1&resource_id=header:x-resource-id-2&patient_id=header:x-patient-id',
  ]);
  expect(requests[0]?.headers.get('x-patient-id')).toBe('no_personal_number:15859000026');
  expect(requests[2]?.headers.get('x-resource-id-2')).toBe('r-2');
});

test('identifiers stay in the URL if the options say so', async () => {
  const { unit, requests } = clientWithReplies([json({})], { identifiers: 'url' });
  await unit.patients.get('emr_id:p/3');
  expect(requests[0]?.url.pathname).toMatch(/\/patients\/emr_id%3Ap%2F3$/);
});

test('other characters than ASCII are sent as UTF-8', () => {
  const { headers } = withHeaderReferences({ path: { patient_id: 'emr_id:blåbær' } });
  expect(Buffer.from(headers['x-patient-id'] ?? '', 'latin1').toString('utf8')).toBe('emr_id:blåbær');
});

test('spaces around an identifier are not sent', () => {
  const { headers } = withHeaderReferences({ path: { patient_id: ' 15859000026\n' } });
  expect(headers).toEqual({ 'x-patient-id': '15859000026' });
});

test.each(['', ' ', 'p\n3', 'p\u00003'])('%j is rejected without being shown', (patient_id) => {
  expect(() => withHeaderReferences({ path: { patient_id } })).toThrow(
    new TypeError('patient_id must not be empty or contain control characters'),
  );
});

test("a reference of the caller's own stays", () => {
  const { params } = withHeaderReferences({ query: { patient_id: 'header:x-own', limit: 5 } });
  expect(params).toEqual({ query: { patient_id: 'header:x-own', limit: 5 } });
});
