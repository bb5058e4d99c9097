import { afterAll, beforeEach, expect, test } from 'vitest';
import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import type { FhirResource } from '../../connectors/fhir-r4/src/fhir.ts';
import { careUnitPath } from '../ehrs/other-ehrs.ts';
import { type Problem, startGateway } from '../gateway/gateway.ts';
import { creationBody, freeSlot } from '../requests/bookings.ts';
import { fhirEhr, withEhrs } from './fhir-ehr.ts';

/** Types that come with the gateway and are not those of the specification, and one that its operators have declared. */
const fake = await startFake({ data: { days: 14 } });
const gateway = await startGateway({
  configure: (demo) => ({
    ...withEhrs(demo, [
      fhirEhr('nordic', fake, {
        patient_identifier_types: ['fi_hetu', 'dk_cpr', 'nz_nhi', 'ee_ik'],
        resource_identifier_types: ['no_hpr'],
      }),
    ]),
    identifier_types: [
      {
        id: 'ee_ik',
        name: 'Estonian personal code',
        of: ['patient'],
        national: true,
        pattern: '[1-8]\\d{10}',
        check: 'isikukood',
        systems: ['https://fhir.ee/sid/pid/est/ni'],
      },
    ],
  }),
});
afterAll(async () => {
  await gateway.close();
  await fake.close();
});
const north = careUnitPath('nordic', 'north');

interface Patient {
  readonly id: string;
  readonly identifiers: readonly string[];
}

beforeEach(() => {
  for (const { id } of fake.store.all('Patient')) fake.store.remove(`Patient/${id}`);
});

function save(system: string, value: string): string {
  const name = [{ use: 'official', family: 'Vik', given: ['Nora'] }];
  const identifier = [{ system, value }];
  const patient = { resourceType: 'Patient', active: true, name, birthDate: '1970-10-03', identifier };
  return fake.store.save(patient as FhirResource).id ?? '';
}
const get = (identifier: string) =>
  gateway.request<Patient & Problem>('GET', `${north}/patients/header:x-p`, { headers: { 'x-p': identifier } });

test.each([
  ['fi_hetu', 'urn:oid:1.2.246.21', '010190-999w', '010190-999W'],
  ['fi_hetu', 'urn:oid:1.2.246.21', '010190U900P', '010190U900P'],
  ['dk_cpr', 'urn:oid:1.2.208.176.1.2', '020160-9995', '0201609995'],
  ['dk_cpr', 'urn:oid:1.2.208.176.1.6.1.1', '0703921VJ4', '0703921VJ4'],
  ['nz_nhi', 'https://standards.digital.health.nz/ns/nhi-id', 'zzz00ac', 'ZZZ00AC'],
  ['ee_ik', 'https://fhir.ee/sid/pid/est/ni', '59912310001', '59912310001'],
])('a patient is found by %s, whom the EHR has under %s as %s', async (type, system, written, number) => {
  const id = save(system, written);
  for (const it of [number, written]) {
    expect(await get(`${type}:${it}`)).toMatchObject({
      status: 200,
      body: { id: `emr_id:${id}`, identifiers: [`emr_id:${id}`, `${type}:${number}`] },
    });
  }
});

test('a new patient has the system of the number, and can be booked by it', async () => {
  const identifier = 'dk_cpr:0703921VJ4';
  const body = { identifier, given_name: 'Nora', family_name: 'Vik', birth_date: '1970-10-03' };
  const created = await gateway.request<Patient>('POST', `${north}/patients`, { body });
  expect(created.status).toBe(201);
  expect(fake.store.all('Patient')[0]).toMatchObject({
    identifier: [{ system: 'urn:oid:1.2.208.176.1.6.1.1', value: '0703921VJ4' }],
  });
  const slot = await freeSlot(gateway, { careUnit: north });
  const booking = { ...creationBody(slot), patient_id: identifier };
  expect(await gateway.request('POST', `${north}/appointments`, { body: booking })).toMatchObject({
    status: 201,
    body: { patient_id: created.body.id },
  });
});

test.each([
  ['de_kvnr:A000000002', 'identifier_type_unsupported'],
  ['nhs_number:9990000018', 'identifier_type_unsupported'],
  ['xx_number:1', 'identifier_malformed'],
  ['fi_hetu:010190-999Y', 'identifier_malformed'],
  ['fi_hetu:010190999W', 'identifier_malformed'],
  ['ee_ik:59912310002', 'identifier_malformed'],
])('%s is %s, with its place', async (identifier, reason) => {
  const place = [{ header: 'x-p', reason }];
  expect(await get(identifier)).toMatchObject({ status: 400, body: { reason, errors: place } });
  const body = { patient_id: identifier, resource_id: 'r-1' };
  const slot = await freeSlot(gateway, { careUnit: north });
  const booked = await gateway.request('POST', `${north}/appointments`, { body: { ...creationBody(slot), ...body } });
  expect(booked).toMatchObject({ status: 400, body: { reason, errors: [{ pointer: '/patient_id', reason }] } });
});

test('the capabilities name the types', async () => {
  expect(await gateway.request('GET', '/api/emrs/nordic')).toMatchObject({
    status: 200,
    body: {
      capabilities: {
        patient_identifier_types: ['emr_id', 'fi_hetu', 'dk_cpr', 'nz_nhi', 'ee_ik'],
        resource_identifier_types: ['emr_id', 'no_hpr'],
      },
    },
  });
});

test('in FHIR, a patient has the number with its system, and is found by it in no URL', async () => {
  save('https://fhir.ee/sid/pid/est/ni', '59912310001');
  const token = 'https://fhir.ee/sid/pid/est/ni|59912310001';
  const found = await gateway.request('POST', `${north}/fhir-r4/Patient/_search`, {
    body: new URLSearchParams({ identifier: token }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  const identifier = [{ system: 'https://fhir.ee/sid/pid/est/ni', value: '59912310001' }];
  expect(found).toMatchObject({ status: 200, body: { entry: [{ resource: { identifier } }] } });
  const inUrl = await gateway.request('GET', `${north}/fhir-r4/Patient?identifier=${encodeURIComponent(token)}`);
  expect(inUrl.status).toBe(400);
  expect(gateway.logLines.join('\n')).not.toContain('59912310001');
});
