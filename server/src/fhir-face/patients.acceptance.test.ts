/** @module-tag any-database */
import { randomUUID } from 'node:crypto';
import type { Bundle, CapabilityStatement, OperationOutcome, Patient } from '@medplum/fhirtypes';
import { afterAll, describe, expect, test } from 'vitest';
import { type GatewayResponse, type RequestOptions, startGateway } from '../../../test/gateway/gateway.ts';
import { oslo } from '../../../test/requests/bookings.ts';
import { bookingOf, fhirClient, issueIn } from './test-requests.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

const norway = fhirClient(gateway, oslo);
const system = 'urn:oid:2.16.578.1.12.4.1.4.1';
/** Synthetic numbers that no patient of the sandbox has. */
const numbers = ['15859000107', '15859000204', '15859000379', '15859000468'] as const;
const known = '15859000026';

function patientOf(number: string, more: Partial<Patient> = {}): Patient {
  return {
    resourceType: 'Patient',
    identifier: [{ system, value: number }],
    name: [{ use: 'official', family: 'Prøvestad', given: ['Ny', 'Anna'] }],
    birthDate: '1990-05-15',
    ...more,
  };
}

const conditionFor = (number: string) => `identifier=${system}|${number}`;

function create(number: string, more: Partial<Patient> = {}, options: RequestOptions = {}) {
  return norway.send<Patient>('POST', '/Patient', patientOf(number, more), {
    ...options,
    headers: { 'if-none-exist': conditionFor(number), ...options.headers },
  });
}

function search(form: Record<string, string>) {
  return gateway.request<Bundle<Patient>>('POST', `${norway.base}/Patient/_search`, {
    body: new URLSearchParams(form).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
}
const idsIn = ({ body }: GatewayResponse<Bundle>) => (body.entry ?? []).map(({ resource }) => resource?.id);

describe('a conditional create', () => {
  test('creates a patient once, who can be read, found and booked for', async () => {
    const [number] = numbers;
    const telecom = [
      { system: 'phone', value: '+4700000900' },
      { system: 'email', value: 'ny@patients.example' },
    ] as const;
    const address = [{ line: ['Prøveveien 9'], postalCode: '0001', city: 'Oslo', country: 'NO' }];
    const created = await create(number, { gender: 'female', telecom: [...telecom], address });
    expect(created.status).toBe(201);
    const { id, meta, ...rest } = created.body;
    expect(rest).toEqual({
      ...patientOf(number),
      name: [{ use: 'official', family: 'Prøvestad', given: ['Ny Anna'] }],
      gender: 'female',
      telecom,
      address,
    });
    const url = `http://127.0.0.1:${gateway.port}${norway.base}/Patient/${id}/_history/${meta?.versionId}`;
    expect(created.headers).toMatchObject({ etag: `W/"${meta?.versionId}"`, location: url });
    expect((await norway.get<Patient>(`/Patient/${id}`)).body).toEqual(created.body);
    expect(idsIn(await search({ family: 'prøvestad', birthdate: '1990-05-15' }))).toEqual([id]);
    const [slot] = await norway.slots(5);
    expect((await norway.post('/Appointment', bookingOf(slot, id))).status).toBe(201);
    const again = await create(number);
    expect([again.status, again.body]).toEqual([200, created.body]);
  });

  test('takes the condition as HAPI sends it, and keeps what was created under an idempotency key', async () => {
    const [, number] = numbers;
    const condition = `http://127.0.0.1:${gateway.port}${norway.base}/Patient?identifier=${encodeURIComponent(`${system}|${number}`)}`;
    const options = { headers: { 'if-none-exist': condition, 'idempotency-key': randomUUID() } };
    const [first, second] = [await create(number, {}, options), await create(number, {}, options)];
    expect([first.status, second.status, second.headers['idempotency-replayed']]).toEqual([201, 201, 'true']);
    expect(second.body).toEqual(first.body);
  });

  test('of twenty at a time creates one patient', async () => {
    const [, , number] = numbers;
    const racers = await Promise.all(Array.from({ length: 20 }, () => create(number)));
    expect(racers.map(({ status }) => status).toSorted()).toEqual([...Array(19).fill(200), 201]);
    expect(new Set(racers.map(({ body }) => body.id)).size).toBe(1);
  });

  test('shows nothing of a patient with another name', async () => {
    const mismatch = await create(known);
    expect(issueIn(mismatch)).toEqual([409, 'conflict', 'patient_mismatch']);
    const { body } = await norway.get<Patient>('/Patient/p-1');
    for (const value of ['p-1', known, body.birthDate, body.name?.[0]?.family]) {
      expect(mismatch.text).not.toContain(value);
    }
  });

  test('needs the condition', async () => {
    const rejected = await norway.post('/Patient', patientOf(numbers[3]));
    expect(issueIn(rejected)).toEqual([400, 'required', 'request_invalid']);
  });

  test.each<[string, Partial<Patient>, NonNullable<RequestOptions['headers']>, unknown]>([
    ['the number of somebody else', {}, { 'if-none-exist': conditionFor(known) }, [400, 'value', 'request_invalid']],
    ['a condition by name', {}, { 'if-none-exist': 'family=Strandsand' }, [400, 'value', 'request_invalid']],
    [
      'an unknown system',
      { identifier: [{ system: 'urn:oid:1.2.3', value: 'x' }] },
      { 'if-none-exist': 'identifier=urn:oid:1.2.3|x' },
      [422, 'not-supported', 'request_invalid'],
    ],
    ['no given name', { name: [{ family: 'Prøvestad' }] }, {}, [422, 'required', 'request_invalid']],
    ['no such day', { birthDate: '1990-02-30' }, {}, [400, 'value', 'request_invalid']],
    ['a dead patient', { deceasedBoolean: true }, {}, [422, 'not-supported', 'request_invalid']],
    [
      'a local phone number',
      { telecom: [{ system: 'phone', value: '90000000' }] },
      {},
      [400, 'value', 'request_invalid'],
    ],
    [
      'what is not kept, strictly',
      { photo: [{}] },
      { prefer: 'handling=strict' },
      [422, 'not-supported', 'request_invalid'],
    ],
    ['an unknown element', { nickname: 'x' } as Partial<Patient>, {}, [400, 'structure', 'request_invalid']],
  ])('with %s is rejected', async (_name, more, headers, issue) => {
    const number = numbers[3];
    expect(issueIn(await create(number, more, { headers }))).toEqual(issue);
    expect(idsIn(await search({ identifier: `${system}|${number}` }))).toEqual([]);
  });

  test('says where a fault is, in terms of FHIR, and what is left out', async () => {
    const number = numbers[3];
    const faults = (await create(number, { birthDate: '1990-02-30' })).body as unknown as OperationOutcome;
    expect(faults.issue?.[0]?.expression).toEqual(['Patient.birthDate']);
    const names = [...(patientOf(number).name ?? []), { use: 'nickname' as const, text: 'N' }];
    const more = { name: names, maritalStatus: { text: 'married' } };
    const { status, body } = await create(number, more, { headers: { prefer: 'return=OperationOutcome' } });
    expect(status).toBe(201);
    expect((body as unknown as OperationOutcome).issue?.flatMap(({ expression }) => expression ?? [])).toEqual([
      'Patient.name[1]',
      'Patient.maritalStatus',
    ]);
  });

  test('needs the scope patients:write', async () => {
    expect(issueIn(await create(numbers[3], {}, { client: 'patients:read' }))).toEqual([
      403,
      'forbidden',
      'scope_missing',
    ]);
  });
});

describe('a search', () => {
  const rolig = { family: 'Strandsand', birthdate: '1974-01-30' };

  test('finds by name and birth date, and by phone number, in a body', async () => {
    const found = await search(rolig);
    expect([found.status, idsIn(found)]).toEqual([200, ['p-3']]);
    const links = JSON.stringify(found.body.link);
    expect(links).toContain('_id=p-3');
    expect(links).not.toContain('Strandsand');
    const [phone = ''] = (found.body.entry?.[0]?.resource?.telecom ?? []).flatMap(({ value }) => value ?? []);
    expect(idsIn(await search({ phone }))).toEqual(['p-3']);
    expect(idsIn(await search({ ...rolig, birthdate: 'eq1974-01-30' }))).toEqual(['p-3']);
    const none = await search({ ...rolig, birthdate: '1974-01-31' });
    expect(idsIn(none)).toEqual([]);
    const [self] = none.body.link ?? [];
    const followed = await norway.get<Bundle>((self?.url ?? '').slice(-'/Patient?_id=&_count=100'.length));
    expect([followed.status, followed.body.total, followed.body.link]).toEqual([200, 0, none.body.link]);
  });

  test.each([
    ['family alone', { family: 'Strandsand' }],
    ['birthdate alone', { birthdate: '1974-01-30' }],
    ['name and phone', { ...rolig, phone: '+4700000003' }],
    ['no such day', { ...rolig, birthdate: '1974-02-30' }],
    ['a range of days', { ...rolig, birthdate: 'ge1974-01-30' }],
    ['a local phone number', { phone: '90000000' }],
    ['a given name alone', { given: 'Rolig' }],
    ['a given name and a birth date', { given: 'Rolig', birthdate: '1974-01-30' }],
    ['a name alone', { name: 'Strandsand' }],
    ['a name and a family name', { ...rolig, name: 'Rolig' }],
  ])('by %s is rejected', async (_name, form) => {
    const { status, body } = await search(form as Record<string, string>);
    expect(status).toBe(400);
    const [expression = ''] = (body as unknown as OperationOutcome).issue?.[0]?.expression ?? [];
    expect(expression).toMatch(/^http\.(family|birthdate|phone|given|name)$/);
  });

  test.each([
    [{ name: 'Strandsand' }, ['p-3']],
    [{ name: 'rolig strandsand' }, ['p-3']],
    [{ name: 'Rol  Strandsand' }, ['p-3']],
    [{ name: 'Strandsand Rolig' }, []],
    [{ name: 'Rolig' }, []],
    [{ name: 'Anna Strandsand' }, []],
    [{ family: 'Strandsand', given: 'Rolig' }, ['p-3']],
    [{ family: 'Strandsand', given: 'Anna' }, []],
  ])('by %j and the birth date finds %j', async (form, ids) => {
    const found = await search({ ...form, birthdate: rolig.birthdate } as unknown as Record<string, string>);
    expect([found.status, idsIn(found)]).toEqual([200, ids]);
    expect(JSON.stringify(found.body.link)).not.toMatch(/strandsand|rolig/i);
  });

  test('is never made in a URL', async () => {
    const queries = [
      'family=Strandsand&birthdate=1974-01-30',
      'name=Strandsand&birthdate=1974-01-30',
      'phone=%2B4700000003',
    ];
    for (const query of queries) expect((await norway.get(`/Patient?${query}`)).status).toBe(400);
    const inUrl = await gateway.request('POST', `${norway.base}/Patient/_search?${queries[0]}`);
    expect(inUrl.status).toBe(400);
  });

  test('is in the CapabilityStatement, as the create is', async () => {
    const { body } = await norway.get<CapabilityStatement>('/metadata');
    const patient = body.rest?.[0]?.resource?.find(({ type }) => type === 'Patient');
    expect(patient?.searchParam?.map(({ name }) => name)).toEqual([
      '_id',
      'identifier',
      'family',
      'given',
      'name',
      'birthdate',
      'phone',
      '_count',
    ]);
    expect(patient).toMatchObject({ conditionalCreate: true });
    expect(patient?.interaction?.map(({ code }) => code)).toEqual(['read', 'search-type', 'create']);
  });
});
