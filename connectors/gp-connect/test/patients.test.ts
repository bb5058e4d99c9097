import { expect, test } from 'vitest';
import { outcome } from '../fake/outcome.ts';
import { change, creation, freeSlot, main, openPractice } from './practice.ts';

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

test('an id that the practice does not have is no patient, who has no appointments and can book none', async () => {
  const opened = await openPractice();
  const { connector } = opened;
  const slot = await freeSlot(opened);
  for (const id of ['999999', 'nobody']) {
    expect(await connector.findPatient({ type: 'emr_id', value: id })).toBeNull();
    expect(await connector.listAppointments({ careUnit: main, patientId: id, limit: 10 })).toEqual([]);
    await expect(change(opened, creation(slot, null, id))).rejects.toMatchObject({ kind: 'patient_not_found' });
  }
});

test('the practice does not take the headers, which says nothing about the patient', async () => {
  const { practice, connector } = await openPractice();
  practice.misbehave = () => ({ status: 400, body: JSON.stringify(outcome('BAD_REQUEST')) });
  const rejected = { kind: 'rejected', message: expect.stringContaining('400 (BAD_REQUEST)') };
  await expect(connector.findPatient({ type: 'emr_id', value: '999999' })).rejects.toMatchObject(rejected);
  const list = connector.listAppointments({ careUnit: main, patientId: '999999', limit: 10 });
  await expect(list).rejects.toMatchObject(rejected);
});
