import { expect, test } from 'vitest';
import { openPractice } from './practice.ts';

test('a patient has the name, number and address of the practice, and phone numbers have a country code', async () => {
  const { connector } = await openPractice();
  expect(await connector.findPatient({ type: 'nhs_number', value: '9990000018' })).toEqual({
    id: '1',
    identifiers: [
      { type: 'emr_id', value: '1' },
      { type: 'nhs_number', value: '9990000018' },
    ],
    givenName: 'Merry',
    familyName: 'Meadow',
    birthDate: '1984-02-17',
    gender: 'female',
    phone: '+447700900001',
    email: null,
    address: { lines: ['1 Test Street'], postalCode: 'LS1 6AE', city: 'Leeds', country: null },
  });
});

test.each([
  ['whom the practice hides', '9990000034'],
  ['with a number that nobody has', '9990000042'],
  ['with a number that nobody can have', '9990000019'],
])('a patient %s is not found', async (_, value) => {
  const { connector } = await openPractice();
  expect(await connector.findPatient({ type: 'nhs_number', value })).toBeNull();
});
