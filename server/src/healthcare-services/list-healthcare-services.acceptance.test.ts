/** @module-tag any-database */
import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { pagesOf } from '../../../test/requests/bookings.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

const path = '/api/emrs/sandbox-uk/care-units/riverside/healthcare-services';
const system = 'http://terminology.hl7.org/CodeSystem/service-type';
const coded = (code: string, display: string) => [{ system, code, display }];
const services = [
  { id: 'consultation', name: 'Consultation', codes: coded('124', 'General Practice'), duration_minutes: 30 },
  { id: 'vaccination', name: 'Vaccination', codes: coded('57', 'Immunization'), duration_minutes: 30 },
];

test('returns every healthcare service, by id', async () => {
  const { status, body } = await gateway.request('GET', path);
  expect(status).toBe(200);
  expect(body).toEqual({ healthcare_services: services, next_cursor: null });
});

test('is paged', async () => {
  expect(await pagesOf(gateway, `${path}?limit=1`, 'healthcare_services')).toEqual(services.map((it) => [it]));
});

test.each([
  ['oslo-sentrum', 'sandbox-no'],
  ['bergen-nord', 'sandbox-no'],
  ['sodermalm', 'sandbox-se'],
  ['hillview', 'sandbox-uk'],
])('returns both in %s', async (careUnit, emr) => {
  const { body } = await gateway.request<{ healthcare_services: { id: string; duration_minutes: number }[] }>(
    'GET',
    `/api/emrs/${emr}/care-units/${careUnit}/healthcare-services`,
  );
  expect(body.healthcare_services).toMatchObject([
    { id: 'consultation', duration_minutes: 30 },
    { id: 'vaccination', duration_minutes: 30 },
  ]);
});
