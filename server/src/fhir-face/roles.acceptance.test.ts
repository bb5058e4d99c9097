/** @module-tag any-database */
import type { Bundle, HealthcareService, Organization, PractitionerRole } from '@medplum/fhirtypes';
import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { oslo } from '../../../test/requests/bookings.ts';
import { fhirClient } from './test-requests.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());
const norway = fhirClient(gateway, oslo);
const [unit = ''] = ((await norway.get<Bundle<Organization>>('/Organization')).body.entry ?? []).flatMap(
  ({ resource }) => resource?.id ?? [],
);

async function found(query: string): Promise<(string | undefined)[]> {
  const { status, body } = await norway.get<Bundle>(query);
  expect([query, status]).toEqual([query, 200]);
  return (body.entry ?? []).map(({ resource }) => `${resource?.resourceType}/${resource?.id}`);
}

test('the Organization is the care unit', async () => {
  const { body } = await norway.get<Organization>(`/Organization/${unit}`);
  expect(body).toMatchObject({ resourceType: 'Organization', active: true, name: 'Oslo sentrum' });
  const location = await norway.get(`/Location/${unit}`);
  expect(location.body).toMatchObject({ name: body.name });
  expect((await norway.get('/Organization/another')).status).toBe(404);
  expect(await found('/Organization?name=oslo')).toEqual([`Organization/${unit}`]);
  for (const query of ['_id=another', 'name=Bergen', 'active=false'])
    expect(await found(`/Organization?${query}`)).toEqual([]);
});

test('a PractitionerRole says what a practitioner does at the care unit', async () => {
  const { body } = await norway.get<PractitionerRole>('/PractitionerRole/r-1');
  const practitioner = (await norway.get<{ name: { text: string }[] }>('/Practitioner/r-1')).body;
  expect(body).toMatchObject({
    active: true,
    practitioner: { reference: 'Practitioner/r-1', display: practitioner.name[0]?.text },
    organization: { reference: `Organization/${unit}`, display: 'Oslo sentrum' },
    location: [{ reference: `Location/${unit}` }],
  });
  const services = await Promise.all(
    (body.healthcareService ?? []).map(({ reference }) => norway.get<HealthcareService>(`/${reference}`)),
  );
  expect(services.length).toBeGreaterThan(0);
  expect(services.map(({ status }) => status)).not.toContain(404);
  expect(await norway.get('/PractitionerRole?_include=PractitionerRole:practitioner')).toMatchObject({ status: 200 });
  for (const nobody of ['nobody', unit]) expect((await norway.get(`/PractitionerRole/${nobody}`)).status).toBe(404);
});

test.each([
  'practitioner=r-1',
  'practitioner=Practitioner/r-1',
  'practitioner:Practitioner=r-1',
  `_id=r-1&organization=${unit}&location=Location/${unit}&active=true`,
  '_id=r-1&service=HealthcareService/consultation',
])('PractitionerRole?%s finds the one', async (query) => {
  expect(await found(`/PractitionerRole?${query}`)).toEqual(['PractitionerRole/r-1']);
});

test('PractitionerRoles are practitioners, each with what is included', async () => {
  const practitioners = await found('/Practitioner');
  expect((await found('/PractitionerRole')).map((it) => it?.replace('Role', ''))).toEqual(practitioners);
  for (const query of ['organization=another', 'location=another', 'service=another', 'active=false', '_id=another'])
    expect(await found(`/PractitionerRole?${query}`)).toEqual([]);
  const includes = ['practitioner', 'organization', 'location']
    .map((it) => `_include=PractitionerRole:${it}`)
    .join('&');
  expect(await found(`/PractitionerRole?_id=r-1&${includes}`)).toEqual([
    ...['PractitionerRole/r-1', 'Practitioner/r-1', `Organization/${unit}`, `Location/${unit}`],
  ]);
});
