/** @module-tag any-database */
import type { Appointment, Bundle, CapabilityStatement, OperationOutcome, Resource, Slot } from '@medplum/fhirtypes';
import { afterAll, describe, expect, test } from 'vitest';
import { type RequestOptions, startGateway } from '../../../test/gateway/gateway.ts';
import { creationBody, freeSlot, oslo, sodermalm } from '../../../test/requests/bookings.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

const face = `${oslo}/fhir-r4`;
const get = <Body = Bundle>(path: string, options?: RequestOptions) =>
  gateway.request<Body>('GET', `${face}${path}`, options);
const post = <Body = Bundle>(path: string, form: Record<string, string>, careUnit = oslo) =>
  gateway.request<Body>('POST', `${careUnit}/fhir-r4${path}`, {
    body: new URLSearchParams(form).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
const typesIn = ({ entry = [] }: Bundle) => entry.map(({ resource }) => resource?.resourceType);
const idsIn = ({ entry = [] }: Bundle) => entry.map(({ resource }) => resource?.id);

describe('metadata', () => {
  test('is one statement for every path without credentials', async () => {
    const paths = [face, `${sodermalm}/fhir-r4`, '/api/emrs/nobody/care-units/nowhere/fhir-r4'];
    const responses = await Promise.all(
      paths.map((it) => gateway.request<CapabilityStatement>('GET', `${it}/metadata`, { client: null })),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(responses[0]?.body.fhirVersion).toBe('4.0.1');
  });

  test('is that of the EHR with credentials, and 304 if it is known', async () => {
    const { body, headers } = await get<CapabilityStatement>('/metadata');
    expect(body.implementation?.url).toBe(`http://127.0.0.1:${gateway.port}${face}`);
    expect(body.rest?.[0]?.resource?.map(({ type }) => type)).toContain('Appointment');
    const again = await get('/metadata', { headers: { 'if-none-match': String(headers.etag) } });
    expect(again.status).toBe(304);
  });

  test.each([
    ['oslo-sentrum', face, 'nothing awaits a code'],
    ['sodermalm', `${sodermalm}/fhir-r4`, 'bookings await a code'],
    ['riverside', '/api/emrs/sandbox-uk/care-units/riverside/fhir-r4', 'cancellations await a code'],
  ])('says what awaits a code at %s', async (_name, base, text) => {
    const { body } = await gateway.request<CapabilityStatement>('GET', `${base}/metadata`);
    expect(body.rest?.[0]?.documentation).toContain(` Here, ${text}.`);
    const patient = body.rest?.[0]?.resource?.find(({ type }) => type === 'Patient');
    expect(patient?.documentation).toContain('_search');
  });

  test("names the gateway's own operations by URLs at which they can be read, as at each base URL", async () => {
    const { body } = await get<CapabilityStatement>('/metadata');
    const operations = body.rest?.[0]?.resource?.find(({ type }) => type === 'Appointment')?.operation ?? [];
    const own = operations.filter(({ definition }) => definition?.includes('127.0.0.1'));
    expect(own.map(({ name }) => name)).toEqual(['confirm', 'resend-code']);
    for (const { name, definition = '' } of own) {
      const { status, body: read } = await gateway.request('GET', new URL(definition).pathname, { client: null });
      const expected = { resourceType: 'OperationDefinition', code: name, url: definition, instance: true };
      expect([status, read]).toEqual([200, expect.objectContaining(expected)]);
      expect((await get(`/OperationDefinition/${name}`)).body).toEqual(read);
    }
    expect((await get('/OperationDefinition/other')).status).toBe(404);
  });

  test('rejects wrong credentials, and a care unit that is not granted', async () => {
    const wrong = await get<OperationOutcome>('/metadata', { client: { id: 'everything', secret: 'wrong' } });
    expect(wrong.status).toBe(401);
    expect(wrong.body.issue?.[0]?.code).toBe('login');
    const other = await gateway.request('GET', `${sodermalm}/fhir-r4/metadata`, { client: 'narrowed' });
    expect(other.status).toBe(404);
  });
});

test('lists who can be booked, services and Schedules, with what they include', async () => {
  for (const type of ['Practitioner', 'Location', 'Device', 'HealthcareService', 'Schedule']) {
    const { status, body } = await get(`/${type}`);
    expect(status).toBe(200);
    expect(body.total).toBe(body.entry?.length ?? 0);
    const first = body.entry?.[0]?.resource;
    if (!first) continue;
    const one = await get<Resource>(`/${type}/${first.id}`);
    expect(one.body).toEqual(first);
    expect(one.headers.etag).toBe(`W/"${first.meta?.versionId}"`);
    expect((await get(`/${type}/${first.id}`, { headers: { 'if-none-match': String(one.headers.etag) } })).status).toBe(
      304,
    );
    const unknown = await get<OperationOutcome>(`/${type}/unknown`);
    expect([unknown.status, unknown.body.issue?.map(({ expression }) => expression)]).toEqual([404, [undefined]]);
    expect((await get(`/${type}/__`)).status).toBe(404);
  }
  const { body } = await get('/Schedule?actor=Practitioner/r-1&_include=Schedule:actor');
  expect(new Set(typesIn(body))).toEqual(new Set(['Schedule', 'Practitioner', 'HealthcareService', 'Location']));
  expect((await get('/Practitioner?name=zzz')).body.total).toBe(0);
  const all = idsIn((await get('/Schedule')).body);
  expect(idsIn((await get('/Schedule?date=ge2030-03-15&date=lt2030-03-16')).body)).toEqual(all);
  expect((await get('/Schedule?date=tomorrow')).status).toBe(400);
});

test('finds free Slots, pages through them, and says of each whether it is free', async () => {
  const query = 'schedule.actor=Practitioner/r-1&service-type=consultation&_include=Slot:schedule';
  const first = await get(`/Slot?${query}&_include:iterate=Schedule:actor&_count=2`);
  expect(typesIn(first.body).slice(0, 3)).toEqual(['Slot', 'Slot', 'Schedule']);
  const self = first.body.link?.find(({ relation }) => relation === 'self')?.url ?? '';
  expect(self).toContain('start=ge');
  const next = first.body.link?.find(({ relation }) => relation === 'next')?.url ?? '';
  const base = `http://127.0.0.1:${gateway.port}`;
  expect(next.startsWith(`${base}${face}/Slot?`)).toBe(true);
  const second = await gateway.request<Bundle>('GET', next.slice(base.length));
  expect(idsIn(second.body).slice(0, 2)).not.toEqual(idsIn(first.body).slice(0, 2));
  const slot = first.body.entry?.[0]?.resource as Slot;
  expect((await get<Slot>(`/Slot/${slot.id}`)).body).toEqual(slot);
  const same = await get(`/Slot?schedule=${slot.schedule?.reference}&start=${encodeURIComponent(slot.start ?? '')}`);
  expect(idsIn(same.body)).toEqual([slot.id]);
  expect((await get('/Slot?status=busy-unavailable')).body.total).toBe(0);
  const past = slot.id?.replace(/\.\d+\./, '.1000000000.');
  const both = await get<Bundle<Slot>>(`/Slot?_id=${slot.id},${past},unknown`);
  expect(both.body.entry?.map(({ resource }) => resource?.status)).toEqual(['free', 'busy']);
  expect((await get(`/Slot?start=ap2027-01-01`)).status).toBe(400);
});

test('finds a patient by number in a body, and never in a URL', async () => {
  const system = 'urn:oid:2.16.578.1.12.4.1.4.1';
  const found = await post('/Patient/_search', { identifier: `${system}|15859000026` });
  expect(idsIn(found.body)).toEqual(['p-1']);
  expect(found.body.link?.[0]?.url).not.toContain('1585');
  expect((await get(`/Patient?identifier=${system}%7C15859000026`)).status).toBe(400);
  expect((await get('/Patient?family=Hansen')).status).toBe(400);
  expect((await get('/Patient')).status).toBe(400);
  expect((await get('/Patient?_id=p-1')).body.total).toBe(1);
  expect((await get('/Patient?_id=nobody')).body.total).toBe(0);
  expect((await get<Resource>('/Patient/p-1')).body.resourceType).toBe('Patient');
});

describe('Appointment', async () => {
  const { body: native } = await gateway.request<{ id: string; start: string }>('POST', `${oslo}/appointments`, {
    body: { ...creationBody(await freeSlot(gateway)), patient_id: 'p-1', comment: 'Bring the letter.' },
  });

  test('is the same when it is read, searched and included', async () => {
    const { body, headers } = await get<Appointment>(`/Appointment/${native.id}`);
    expect(body).toMatchObject({ status: 'booked', comment: 'Bring the letter.', start: native.start });
    expect(headers.etag).toBe(`W/"${body.meta?.versionId}"`);
    const day = native.start.slice(0, 10);
    const location = body.participant[3]?.actor?.reference;
    const searches = [
      'patient=p-1&_include=Appointment:patient',
      'patient=Patient/p-1&status=booked,pending',
      'actor=Practitioner/r-1&patient=p-1',
      `date=${day}`,
      `date=ge${day}&date=le${day}&service-type=consultation`,
      `_id=${native.id}`,
      `actor=Practitioner/r-2,Practitioner/r-1&date=${day}`,
      `actor=HealthcareService/consultation&location=${location}&patient=p-1`,
      `slot=${body.slot?.[0]?.reference}&patient=p-1`,
    ];
    for (const query of searches) {
      const found = await get(`/Appointment?${query}`);
      expect(found.status, query).toBe(200);
      expect(found.body.entry?.find(({ resource }) => resource?.id === native.id)?.resource, query).toEqual(body);
    }
    const others = ['actor=Practitioner/r-1&practitioner=r-2', 'actor=Location/r-1'].map((it) => `${it}&date=${day}`);
    for (const query of others) expect((await get(`/Appointment?${query}`)).body.total, query).toBe(0);
    const included = await get('/Appointment?patient=p-1&_include=Appointment:actor&_include=Appointment:slot');
    expect(new Set(typesIn(included.body))).toEqual(
      new Set(['Appointment', 'Patient', 'Practitioner', 'HealthcareService', 'Location', 'Slot']),
    );
  });

  test('is found by number in a body, and the links have no number', async () => {
    const form = { 'patient:identifier': 'urn:oid:2.16.578.1.12.4.1.4.1|15859000026', _count: '1' };
    const { body, text } = await post('/Appointment/_search', form);
    expect(idsIn(body)).toContain(native.id);
    expect(text).not.toContain('15859000026');
  });

  test('rejects a status and an include that do not exist, and leaves the latter out if that is asked for', async () => {
    const search = (query: string, prefer = '') =>
      get<OperationOutcome>(`/Appointment?patient=p-1&${query}`, { headers: { prefer } });
    for (const query of ['status=bookd', '_include=Appointment:foo']) {
      const { status, body } = await search(query);
      const [name = ''] = query.split('=');
      expect([status, body.issue?.[0]?.expression]).toEqual([400, [`http.${name}`]]);
    }
    const lenient = await search('_include=Appointment:foo', 'handling=lenient');
    expect([lenient.status, lenient.text.includes('foo')]).toEqual([200, false]);
  });

  test('includes nothing that the client may not read', async () => {
    const { body } = await get('/Appointment?patient=p-1&_include=Appointment:actor', { client: 'appointments:read' });
    expect(new Set(typesIn(body))).toEqual(new Set(['Appointment', 'HealthcareService']));
  });

  test('is counted', async () => {
    const { body } = await get('/Appointment?patient=p-1&_summary=count');
    expect(body).toMatchObject({ total: 1 });
    expect(body.entry).toBeUndefined();
    expect((await get('/Appointment?patient=p-1&_count=0')).body.total).toBe(1);
    expect((await get('/Appointment?patient=nobody')).body.total).toBe(0);
  });

  test.each(['', '?status=booked', '?date=ge2027-01-01', '?patient=p-1&foo=bar', '?_count=1'])(
    '%s is no search',
    async (query) => {
      const { status, body } = await get<OperationOutcome>(`/Appointment${query}`);
      expect(status).toBe(400);
      expect(body.issue?.[0]?.details?.coding?.[0]?.code).toBe('request_invalid');
    },
  );

  test('an unknown parameter is ignored if the client asks for it, and another one selects', async () => {
    const headers = { prefer: 'handling=lenient' };
    const { status, body } = await get('/Appointment?patient=p-1&foo=bar', { headers });
    expect(status).toBe(200);
    expect(body.link?.[0]?.url).not.toContain('foo');
    expect((await get('/Appointment?foo=bar', { headers })).status).toBe(400);
  });
});

test.each([
  ['GET', '/Encounter', 404],
  ['GET', '', 405],
  ['DELETE', '/Appointment/a', 405],
  ['GET', '/Appointment/a/_history', 404],
  ['GET', '/Practitioner/%zz', 400],
])('%s %s is an OperationOutcome with %i', async (method, path, status) => {
  const response = await gateway.request(method, `${face}${path}`);
  expect(response.status).toBe(status);
});

test('speaks JSON unless XML is asked for, and no other version', async () => {
  const xml = { accept: 'application/fhir+xml' };
  expect((await get('/Practitioner?_format=turtle')).status).toBe(406);
  expect((await get('/Practitioner', { headers: { accept: 'text/turtle' } })).status).toBe(406);
  expect((await get('/Practitioner?_format=json', { headers: xml })).status).toBe(200);
  const both = { accept: 'application/fhir+xml;q=1.0, application/fhir+json;q=1.0, application/json+fhir;q=0.9' };
  const { status, headers } = await get('/Practitioner', { headers: both });
  expect([status, headers['content-type']]).toEqual([200, 'application/fhir+json; charset=utf-8']);
  expect((await get('/Practitioner', { headers: { accept: 'application/fhir+json; fhirVersion=5.0' } })).status).toBe(
    406,
  );
  expect((await get('/Practitioner', { headers: { 'x-service-standard': 'native' } })).status).toBe(400);
  expect((await get('/Practitioner', { headers: { 'x-service-standard': 'fhir-r4' } })).status).toBe(200);
  expect((await get('/Practitioner', { client: null })).status).toBe(401);
  expect((await get('/Practitioner', { client: 'patients:read' })).status).toBe(403);
});
