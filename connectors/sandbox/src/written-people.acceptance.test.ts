/** @module-tag any-database */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { oslo, sodermalm } from '../../../test/requests/bookings.ts';

/** Patients whom somebody has edited in the sandbox's table, as staff do in an EHR. */
const gateway = await startGateway();
afterAll(() => gateway.close());

const riverside = '/api/emrs/sandbox-uk/care-units/riverside';

async function sql(text: string, values: readonly unknown[] = []) {
  const client = await gateway.database.pool.connect();
  return client.query<{ count: string }>(text, [...values]).finally(() => client.release());
}

async function save(emr: string, type: string, number: string, birthDate: string, phone: string | null = null) {
  const id = randomUUID();
  await sql(
    `INSERT INTO sandbox.patients
      (emr, id, identifier_type, identifier_value, given_name, family_name, birth_date, phone, operation_id)
      VALUES ($1, $2, $3, $4, 'Skriven ', 'O’Provtext ', $5, $6, $7)`,
    [emr, id, type, number, birthDate, phone, randomUUID()],
  );
  return id;
}

const people = async () => Number((await sql('SELECT count(*) FROM sandbox.patients')).rows[0]?.count);
afterEach(async () => {
  await sql('DELETE FROM sandbox.patients');
});

describe.each([
  [sodermalm, 'se_personal_number', '640823-3234', '196408233234', '1964-08-23'],
  [sodermalm, 'se_personal_number', '6408233234', '196408233234', '1964-08-23'],
  [sodermalm, 'se_personal_number', '19640823-3234', '196408233234', '1964-08-23'],
  [oslo, 'no_personal_number', '158590 00107', '15859000107', '1990-05-15'],
  [riverside, 'nhs_number', '999 000 0042', '9990000042', '1984-02-17'],
])('a person in %s whose %s is written %s', (careUnit, type, written, value, birthDate) => {
  const emr = careUnit.split('/')[3] ?? '';
  const headers = { 'x-p': `${type}:${value}` };

  test('is found by the number, and not created a second time', async () => {
    const id = `emr_id:${await save(emr, type, written, birthDate)}`;
    const identifiers = [id, `${type}:${value}`];
    const found = await gateway.request('GET', `${careUnit}/patients/header:x-p`, { headers });
    expect(found).toMatchObject({ status: 200, body: { id, identifiers, family_name: 'O’Provtext' } });
    const body = {
      identifier: 'header:x-p',
      given_name: 'Skriven',
      family_name: "o'provtext ",
      birth_date: birthDate,
    };
    const again = await gateway.request('POST', `${careUnit}/patients`, { headers, body });
    expect(again).toMatchObject({ status: 200, body: { id, identifiers } });
    expect(await people()).toBe(1);
  });

  test('is nobody while another record has the number', async () => {
    await save(emr, type, written, birthDate);
    await save(emr, type, value, birthDate);
    const found = await gateway.request('GET', `${careUnit}/patients/header:x-p`, { headers });
    expect(found).toMatchObject({ status: 409, body: { reason: 'patient_ambiguous' } });
  });
});

test('a number without its century is of the person who was born then', async () => {
  await save('sandbox-se', 'se_personal_number', '121212-1212', '2012-12-12');
  const headers = { 'x-p': 'se_personal_number:201212121212' };
  const found = await gateway.request('GET', `${sodermalm}/patients/header:x-p`, { headers });
  expect(found).toMatchObject({ status: 200, body: { birth_date: '2012-12-12' } });
  // Another person, whom the sandbox begins with.
  const old = await gateway.request('GET', `${sodermalm}/patients/se_personal_number:191212121212`);
  expect(old).toMatchObject({ status: 200, body: { id: 'emr_id:p-1' } });
});

test.each([
  ['0046701740698', true],
  ['+46 (0)70-174 06 98', true],
  // The care unit has no country whose numbers need no country code.
  ['070-174 06 98', false],
])('who has the phone number %s is found by +46701740698: %s', async (written, isFound) => {
  const id = await save('sandbox-se', 'se_personal_number', '640823-3234', '1964-08-23', written);
  const search = (phone: string) =>
    gateway.request('POST', `${sodermalm}/patients/search`, { body: { phone } }).then(({ body }) => body);
  expect(await search('+46701740698')).toMatchObject({ patients: isFound ? [{ id: `emr_id:${id}` }] : [] });
  expect(await search('+4531740698')).toEqual({ patients: [] });
});

test.each([
  ['+46 (0)70-174 06 99 ankn. 2', '+46701740699'],
  ['+47123', null],
])('the phone number %s is %s', async (written, phone) => {
  const id = await save('sandbox-se', 'se_personal_number', '640823-3234', '1964-08-23', written);
  expect(await gateway.request('GET', `${sodermalm}/patients/${id}`)).toMatchObject({ body: { phone } });
});
