/** @module-tag any-database */
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { type Problem, type RequestOptions, startGateway } from '../../../test/gateway/gateway.ts';
import { bergen, book, oslo } from '../../../test/requests/bookings.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

interface Patient {
  readonly id: string;
  readonly identifiers: readonly string[];
}

/** Synthetic numbers that no patient of the sandbox has. */
const numbers = ['15859000107', '15859000204', '15859000379', '15859000468', '15859000530'].map(
  (it) => `no_personal_number:${it}`,
);
const someone = { given_name: 'Ny', family_name: 'Prøvestad', birth_date: '1990-05-15' };
const rolig = { family_name: 'Strandsand', birth_date: '1974-01-30' };

function create(number: string, fields: object = {}, options: RequestOptions = {}) {
  return gateway.request<Patient & Problem>('POST', `${oslo}/patients`, {
    body: { identifier: 'header:x-new-patient', ...someone, ...fields },
    ...options,
    headers: { 'x-new-patient': number, ...options.headers },
  });
}

function search(body: object, options: RequestOptions = {}) {
  return gateway.request<{ readonly patients: readonly Patient[] } & Problem>('POST', `${oslo}/patients/search`, {
    body,
    ...options,
  });
}

describe('create_patient', () => {
  test('creates a patient whom the EHR then has, at each care unit, for bookings too', async () => {
    const [number = ''] = numbers;
    const details = { gender: 'female', phone: '+4700000900', email: 'ny@patients.example' };
    const address = { lines: ['Prøveveien 9'], postal_code: '0001', city: 'Oslo', country: 'NO' };
    const created = await create(number, { ...details, address });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.stringMatching(/^emr_id:/),
      identifiers: [created.body.id, number],
      ...someone,
      ...details,
      address,
    });
    expect(created.headers.location).toBe(`${oslo}/patients/${encodeURIComponent(created.body.id)}`);
    expect((await gateway.request('GET', created.headers.location as string)).body).toEqual(created.body);
    const elsewhere = await gateway.request('GET', `${bergen}/patients/header:x-p`, { headers: { 'x-p': number } });
    expect(elsewhere.body).toEqual(created.body);
    expect(await book(gateway, { patientId: created.body.id })).toMatchObject({ patient_id: created.body.id });

    const again = await create(number);
    expect(again).toMatchObject({ status: 200, body: created.body });
    expect(again.headers.location).toBeUndefined();
  });

  test('finds a patient by number, family name and birth date, and changes nothing', async () => {
    const before = (await gateway.request('GET', `${oslo}/patients/p-1`)).body as Record<string, string>;
    const { family_name = '', birth_date } = before;
    const named = { given_name: 'Other', family_name: family_name.toUpperCase(), birth_date };
    const found = await create('no_personal_number:15859000026', named);
    expect(found).toMatchObject({ status: 200, body: before });
    expect((await gateway.request('GET', `${oslo}/patients/p-1`)).body).toEqual(before);
  });

  test.each([
    ['family_name', { family_name: 'Annet' }],
    ['birth_date', { birth_date: '1901-01-01' }],
  ])('shows nothing of a patient with another %s', async (_, other) => {
    const { family_name, birth_date } = (await gateway.request('GET', `${oslo}/patients/p-1`)).body as Record<
      string,
      string
    >;
    const { status, body, text } = await create('no_personal_number:15859000026', {
      family_name,
      birth_date,
      ...other,
    });
    expect({ status, reason: body.reason }).toEqual({ status: 409, reason: 'patient_mismatch' });
    for (const value of [family_name, birth_date, 'p-1']) expect(text).not.toContain(value);
  });

  test('a retry with the same key gets the first response, and twenty requests at a time create one patient', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const [, second = '', third = ''] = numbers;
    const first = await create(second, {}, { headers: key });
    const retry = await create(second, {}, { headers: key });
    expect([first.status, retry.status, retry.headers['idempotency-replayed']]).toEqual([201, 201, 'true']);
    expect(retry.body).toEqual(first.body);

    const racers = await Promise.all(Array.from({ length: 20 }, () => create(third)));
    expect(racers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(racers.filter(({ status }) => status === 200)).toHaveLength(19);
    expect(new Set(racers.map(({ body }) => body.id)).size).toBe(1);
  });

  test.each([
    ['no number', { identifier: 'p-1' }, 'identifier_type_unsupported', '/identifier'],
    ['a wrong number', { identifier: 'no_personal_number:15859000027' }, 'identifier_malformed', '/identifier'],
    ['no such day', { birth_date: '1990-02-30' }, 'request_invalid', '/birth_date'],
    ['a blank name', { family_name: ' ' }, 'request_invalid', '/family_name'],
    ['a local phone number', { phone: '90000000' }, 'request_invalid', '/phone'],
  ])('rejects %s', async (_, fields, reason, pointer) => {
    const { status, body } = await create(numbers[4] ?? '', fields);
    expect({ status, pointer: body.errors[0]?.pointer, reason: body.errors[0]?.reason }).toEqual({
      status: 400,
      pointer,
      reason,
    });
  });

  test('needs the scope patients:write', async () => {
    const { status, body } = await create(numbers[4] ?? '', {}, { client: 'patients:read' });
    expect({ status, reason: body.reason }).toEqual({ status: 403, reason: 'scope_missing' });
  });
});

describe('search_patients', () => {
  test('finds by family name and birth date, and by phone number', async () => {
    const byName = await search({ ...rolig, family_name: 'strandsand' }, { client: 'patients:read' });
    expect(byName).toMatchObject({ status: 200, body: { patients: [{ id: 'emr_id:p-3' }] } });
    const { phone } = (await gateway.request<{ phone: string }>('GET', `${oslo}/patients/p-3`)).body;
    expect((await search({ phone })).body).toEqual(byName.body);
    expect((await search({ ...rolig, birth_date: '1974-01-31' })).body.patients).toEqual([]);
    expect((await search({ ...rolig, family_name: 'Strand' })).body.patients).toEqual([]);
  });

  test('finds a patient who was created', async () => {
    const fields = { family_name: 'Søkestad', phone: '+4700000901' };
    const { body } = await create(numbers[3] ?? '', fields);
    const found = { patients: [body] };
    expect((await search({ family_name: 'SØKESTAD', birth_date: someone.birth_date })).body).toEqual(found);
    expect((await search({ phone: fields.phone })).body).toEqual(found);
  });

  test.each([
    [{}, '/family_name'],
    [{ family_name: 'Strandsand' }, '/birth_date'],
    [{ birth_date: '1974-01-30' }, '/family_name'],
    [{ ...rolig, phone: '+4700000003' }, '/phone'],
    [{ phone: '00000003' }, '/phone'],
    [{ given_name: 'Rolig' }, '/given_name'],
  ])('rejects %j', async (body, pointer) => {
    const rejected = await search(body);
    expect(rejected).toMatchObject({ status: 400, body: { reason: 'request_invalid', errors: [{ pointer }] } });
  });

  test('leaves an entry for each patient found, in the audit trail', async () => {
    await search(rolig, { client: 'patients:read' });
    const { body } = await gateway.request<{ accesses: { operation: string; client: { id: string } }[] }>(
      'GET',
      `${oslo}/patients/p-3/accesses`,
    );
    expect(body.accesses[0]).toMatchObject({ operation: 'search_patients', client: { id: 'patients-read' } });
  });
});
