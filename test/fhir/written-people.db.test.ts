import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import type { FhirResource } from '../../connectors/fhir-r4/src/fhir.ts';
import type { FhirSettings } from '../../connectors/fhir-r4/src/settings.ts';
import { careUnitPath } from '../ehrs/other-ehrs.ts';
import { type Problem, startGateway } from '../gateway/gateway.ts';
import { creationBody, freeSlot } from '../requests/bookings.ts';
import { fhirEhr, withEhrs } from './fhir-ehr.ts';

/** People as staff have written them, and how callers find them. */
const fake = await startFake({ data: { days: 14 } });
const settings: Partial<FhirSettings> = {
  patient_identifier_types: ['no_personal_number', 'se_personal_number', 'nhs_number'],
};
const gateway = await startGateway({
  configure: (demo) =>
    withEhrs(demo, [
      fhirEhr('fhir', fake, settings),
      fhirEhr('by-get', fake, { ...settings, patient_search: 'get' }),
      fhirEhr('codes', fake, settings, { booking_confirmation: 'code' }),
    ]),
});
afterAll(async () => {
  await gateway.close();
  await fake.close();
});
const north = careUnitPath('fhir', 'north');

const systems = {
  no_personal_number: 'urn:oid:2.16.578.1.12.4.1.4.1',
  se_personal_number: 'urn:oid:1.2.752.129.2.1.3.1',
  nhs_number: 'https://fhir.nhs.uk/Id/nhs-number',
};
type Type = keyof typeof systems;

let ids: string[] = [];
function save(elements: object): string {
  const { id = '' } = fake.store.save({ resourceType: 'Patient', active: true, ...elements } as FhirResource);
  ids.push(id);
  return id;
}
const withNumber = (type: Type, value: string, elements: object = {}) =>
  save({ identifier: [{ system: systems[type], value }], ...someone, ...elements });
const someone = { name: [{ use: 'official', family: 'Vik', given: ['Nora'] }], birthDate: '1970-10-03' };

beforeEach(() => {
  // Those of the data set have some of the numbers.
  for (const { id } of fake.store.all('Patient')) fake.store.remove(`Patient/${id}`);
});
afterEach(() => {
  for (const id of ids) fake.store.remove(`Patient/${id}`);
  ids = [];
  fake.misbehave = () => undefined;
});

interface Patient {
  readonly id: string;
  readonly identifiers: readonly string[];
  readonly phone: string | null;
}

function get(identifier: string, careUnit = north) {
  return gateway.request<Patient & Problem>('GET', `${careUnit}/patients/header:x-p`, {
    headers: { 'x-p': identifier },
  });
}

function findOrCreate(identifier: string, fields: object = {}, careUnit = north) {
  const body = {
    identifier: 'header:x-p',
    given_name: 'Nora',
    family_name: 'Vik',
    birth_date: '1970-10-03',
    ...fields,
  };
  return gateway.request<Patient & Problem>('POST', `${careUnit}/patients`, { body, headers: { 'x-p': identifier } });
}

const people = () => fake.store.all('Patient').length;

describe.each([
  ['se_personal_number', '19121212-1212', '191212121212', '1912-12-12'],
  ['se_personal_number', '640823-3234', '196408233234', '1964-08-23'],
  ['se_personal_number', '7010632391', '197010632391', '1970-10-03'],
  ['se_personal_number', '121212+1212', '191212121212', undefined],
  ['nhs_number', '999 000 0018', '9990000018', '1970-10-03'],
  ['no_personal_number', '158590 00026', '15859000026', '1970-10-03'],
  ['no_personal_number', '158590-00026', '15859000026', '1970-10-03'],
] as const)('a person whose %s the EHR has as %s', (type, written, value, birthDate) => {
  test.each(['fhir', 'by-get'])('is found by the number (%s)', async (ehr) => {
    const id = withNumber(type, written, { birthDate });
    const found = await get(`${type}:${value}`, careUnitPath(ehr, 'north'));
    expect(found).toMatchObject({ status: 200, body: { id: `emr_id:${id}` } });
    expect(found.body.identifiers).toEqual([`emr_id:${id}`, `${type}:${value}`]);
  });

  test('is not created a second time', async () => {
    if (birthDate === undefined) return;
    const id = withNumber(type, written, { birthDate });
    const before = people();
    const found = await findOrCreate(`${type}:${value}`, { birth_date: birthDate });
    expect(found).toMatchObject({ status: 200, body: { id: `emr_id:${id}` } });
    expect(people()).toBe(before);
  });

  test('is found where the server takes no lists of values, and not created a second time', async () => {
    const id = withNumber(type, written, { birthDate });
    const before = people();
    fake.misbehave = ({ path, body, headers }) =>
      (path.endsWith('_search') && body.includes('%2C')) || headers['if-none-exist']?.includes('%2C')
        ? { status: 400 }
        : undefined;
    // A gateway of its own, because a connection remembers that the server takes none.
    const ehr = fhirEhr('fhir', fake, settings);
    const other = await startGateway({ configure: (demo) => withEhrs(demo, [ehr]) });
    try {
      const headers = { 'x-p': `${type}:${value}` };
      const found = { status: 200, body: { id: `emr_id:${id}` } };
      expect(await other.request('GET', `${north}/patients/header:x-p`, { headers })).toMatchObject(found);
      const body = { identifier: 'header:x-p', given_name: 'Nora', family_name: 'Vik', birth_date: birthDate };
      if (birthDate) expect(await other.request('POST', `${north}/patients`, { headers, body })).toMatchObject(found);
    } finally {
      await other.close();
    }
    expect(people()).toBe(before);
  });
});

test('two people whose numbers differ in the century only are two people', async () => {
  const old = withNumber('se_personal_number', '121212-1212', { birthDate: '1912-12-12' });
  expect(await get('se_personal_number:201212121212')).toMatchObject({ status: 404 });
  const child = await findOrCreate('se_personal_number:201212121212', { birth_date: '2012-12-12' });
  expect(child).toMatchObject({ status: 201, body: { birth_date: '2012-12-12' } });
  ids.push(child.body.id.slice('emr_id:'.length));
  expect(await get('se_personal_number:191212121212')).toMatchObject({ status: 200, body: { id: `emr_id:${old}` } });
  expect(await get('se_personal_number:201212121212')).toMatchObject({ status: 200, body: { id: child.body.id } });
  expect(await findOrCreate('se_personal_number:201212121212', { birth_date: '2012-12-12' })).toMatchObject({
    status: 200,
    body: { id: child.body.id },
  });
});

describe('two records with one number', () => {
  const number = 'nhs_number:9990000018';
  const ambiguous = { status: 409, body: { reason: 'patient_ambiguous', origin: 'caller', retryable: false } };

  test('are no patient, wherever a request names one', async () => {
    withNumber('nhs_number', '9990000018');
    withNumber('nhs_number', '999 000 0018');
    expect(await get(number)).toMatchObject(ambiguous);
    expect((await get(number)).body.errors).toMatchObject([{ parameter: 'patient_id', reason: 'patient_ambiguous' }]);
    const before = people();
    const created = await findOrCreate(number);
    expect(created).toMatchObject(ambiguous);
    expect(created.body.errors).toMatchObject([{ pointer: '/identifier', reason: 'patient_ambiguous' }]);
    expect(people()).toBe(before);

    const headers = { 'x-p': number };
    const slot = await freeSlot(gateway, { careUnit: north });
    const body = { ...creationBody(slot), patient_id: 'header:x-p' };
    const booked = await gateway.request<Problem>('POST', `${north}/appointments`, { body, headers });
    expect(booked).toMatchObject(ambiguous);
    expect(booked.body.errors).toMatchObject([{ pointer: '/patient_id', reason: 'patient_ambiguous' }]);
    const listed = await gateway.request<Problem>('GET', `${north}/appointments?patient_id=header:x-p`, { headers });
    expect(listed).toMatchObject(ambiguous);
    expect(listed.body.errors).toMatchObject([{ parameter: 'patient_id' }]);
  });

  test('are one patient if one of them replaces the other, or is out of use', async () => {
    const first = withNumber('nhs_number', '9990000018');
    withNumber('nhs_number', '999 000 0018', {
      link: [{ type: 'replaced-by', other: { reference: `Patient/${first}` } }],
    });
    withNumber('nhs_number', '999-000-0018', { active: false });
    expect(await get(number)).toMatchObject({ status: 200, body: { id: `emr_id:${first}` } });
  });
});

describe('a search that the server answers with 200 and nothing but an error', () => {
  const bundle = (...resources: readonly object[]) => ({
    status: 200,
    body: {
      resourceType: 'Bundle',
      type: 'searchset',
      entry: resources.map((resource) => ({ resource, search: { mode: 'outcome' } })),
    },
  });
  const outcome = (severity: string) => ({
    resourceType: 'OperationOutcome',
    issue: [{ severity, code: 'exception' }],
  });
  const answerSearches = (answer: ReturnType<typeof bundle>) => {
    fake.misbehave = ({ method, path }) =>
      (method === 'GET' && /^\/[A-Z][A-Za-z]+$/.test(path)) || path.endsWith('_search') ? answer : undefined;
  };
  const refused = { status: 502, body: { reason: 'ehr_rejected' } };

  test.each(['error', 'fatal'])('finds nothing out, and nothing is created (%s)', async (severity) => {
    answerSearches(bundle(outcome(severity)));
    const before = people();
    expect(await get('nhs_number:9990000018')).toMatchObject(refused);
    expect(await findOrCreate('nhs_number:9990000018')).toMatchObject(refused);
    expect(people()).toBe(before);
    const id = save(someone);
    expect(await gateway.request('GET', `${north}/appointments?patient_id=${id}`)).toMatchObject(refused);
    const range = 'start=2030-01-30T00:00:00Z&end=2030-03-01T00:00:00Z';
    expect(await gateway.request('GET', `${north}/timeslots?${range}`)).toMatchObject(refused);
  });

  test('is the failure of the search also beside matches', async () => {
    answerSearches(bundle({ resourceType: 'Patient', id: 'x', ...someone }, outcome('error')));
    expect(await get('nhs_number:9990000018')).toMatchObject(refused);
  });

  test('is none if it is a warning', async () => {
    answerSearches(bundle(outcome('warning')));
    expect(await get('nhs_number:9990000018')).toMatchObject({ status: 404 });
  });
});

describe('a name', () => {
  test('that is only a text is the family name', async () => {
    const id = save({ name: [{ use: 'official', text: 'Nora Vik' }] });
    const read = await gateway.request('GET', `${north}/patients/${id}`);
    expect(read).toMatchObject({ status: 200, body: { given_name: null, family_name: 'Nora Vik' } });
  });

  test.each([
    [[{ use: 'official', text: 'Nora Vik' }], 'Vik'],
    [[{ use: 'official', family: 'O\u2019Brien\u2011Lie ', given: [' Nora'] }], "o'brien-lie"],
    [[{ use: 'official', family: 'A\u030as', given: ['Nora'] }], ' \u00c5S\u00a0'],
  ])('of %j is that of a person who is found by it', async (name, family_name) => {
    const id = withNumber('nhs_number', '9990000018', { name });
    expect(await findOrCreate('nhs_number:9990000018', { family_name })).toMatchObject({
      status: 200,
      body: { id: `emr_id:${id}` },
    });
  });

  test.each([
    ['Vik', 'Vik ', 'vik'],
    ['O\u2019Brien', "O'Brien", 'o\u02bcbrien'],
    ['Smith\u2011Lie', 'Smith-Lie', 'SMITH\u2013LIE'],
  ])('%s is found by %s and by %s', async (family, ...searched) => {
    const id = save({ ...someone, name: [{ family, given: ['Nora'] }] });
    for (const family_name of searched) {
      const body = { family_name, birth_date: someone.birthDate };
      const found = await gateway.request('POST', `${north}/patients/search`, { body });
      expect(found).toMatchObject({ status: 200, body: { patients: [{ id: `emr_id:${id}` }] } });
    }
  });

  test('is stored without white space at its ends', async () => {
    const names = { given_name: ' Nora  Maria ', family_name: 'Vik ' };
    const created = await findOrCreate('nhs_number:9990000018', names);
    ids.push(created.body.id.slice('emr_id:'.length));
    expect(created).toMatchObject({ status: 201, body: { given_name: 'Nora Maria', family_name: 'Vik' } });
  });

  test.each(['Vi\u202ek', 'Vi\u200bk', 'Vi\u00adk', 'Vik\u200f', 'Vik\u2066'])(
    '%j hides or reverses text',
    async (family_name) => {
      const refused = await findOrCreate('nhs_number:9990000018', { family_name });
      expect(refused).toMatchObject({ status: 400, body: { errors: [{ pointer: '/family_name' }] } });
    },
  );
});

describe('the phone number', () => {
  const phone = (value: string, use?: string) => ({ system: 'phone', value, use });
  test.each([
    [[phone('see notes', 'mobile'), phone('+4722000001', 'home')], '+4722000001'],
    [[phone('+47 22 00 00 01 ext. 12', 'work')], '+4722000001'],
    [[phone('+46 (0)70-174 06 05', 'mobile')], '+46701740605'],
    [[phone('tel:+47-900-00-001;ext=2')], '+4790000001'],
    [[phone('+47 900 00 001 / +47 22 00 00 01 (mor)')], '+4790000001'],
    [[phone('+47123')], null],
  ])('of %j is %s', async (telecom, expected) => {
    const id = save({ ...someone, telecom });
    expect(await gateway.request('GET', `${north}/patients/${id}`)).toMatchObject({ body: { phone: expected } });
  });

  test('that is impossible in its country gets no code, and nothing is booked', async () => {
    const id = save({ ...someone, telecom: [phone('+47123')] });
    const careUnit = careUnitPath('codes', 'north');
    const slot = await freeSlot(gateway, { careUnit });
    const body = { ...creationBody(slot), patient_id: id };
    const refused = await gateway.request('POST', `${careUnit}/appointments`, { body });
    expect(refused).toMatchObject({ status: 409, body: { reason: 'no_contact_channel' } });
    expect(await freeSlot(gateway, { careUnit })).toEqual(slot);
  });

  test.each(['+47123', '+4712345678901', '+460701740605'])('%s of a request is refused', async (number) => {
    const refused = await findOrCreate('nhs_number:9990000018', { phone: number });
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ pointer: '/phone' }] } });
  });
});
