/** @module-tag any-database */
import type { Appointment, Bundle, OperationOutcome } from '@medplum/fhirtypes';
import { Fhir } from 'fhir';
import { afterAll, describe, expect, test } from 'vitest';
import { type RequestOptions, startGateway } from '../../../test/gateway/gateway.ts';
import { book, oslo } from '../../../test/requests/bookings.ts';
import { bookingOf, fhirClient } from './test-requests.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());
const norway = fhirClient(gateway, oslo);
const converter = new Fhir();
const base = `${oslo}/fhir-r4`;
const accept = 'application/fhir+xml';
const headers = { accept, 'content-type': `${accept}; fhirVersion=4.0` };

const get = (path: string, sent: Record<string, string> = { accept }) =>
  gateway.request('GET', `${base}${path}`, { headers: sent });
const send = (method: string, path: string, body: string, sent: Record<string, string> = headers) =>
  gateway.request(method, `${base}${path}`, { body, headers: sent });
const resourceIn = <Its>({ text }: { readonly text: string }) => converter.xmlToObj(text) as unknown as Its;

describe('a response', async () => {
  const [slot] = await norway.slots(1);
  const { body: booked } = await norway.post('/Appointment', bookingOf(slot, 'p-1'));

  test.each([
    ...['/Patient/p-1', '/Practitioner/r-1', '/PractitionerRole/r-1', '/Schedule', '/HealthcareService', '/metadata'],
    ...[
      `/Slot?_id=${slot?.id}&_include=Slot:schedule`,
      '/Appointment?patient=p-1&_include=Appointment:actor',
      '/Organization',
    ],
    ...['/Location', '/Device', '/OperationDefinition/confirm', '/Practitioner/nobody'],
  ])('to %s in XML is the one in JSON', async (path) => {
    const json = await norway.get<object>(path);
    const xml = await get(path);
    expect([xml.status, xml.headers['content-type']]).toEqual([json.status, 'application/fhir+xml; charset=utf-8']);
    const { id: _, issue, ...shown } = json.body as Record<string, unknown> & OperationOutcome;
    expect(resourceIn(xml)).toMatchObject(issue ? { resourceType: 'OperationOutcome' } : shown);
    expect(xml.headers.etag).toBe(json.headers.etag);
  });

  test.each([
    ['?_format=xml', {}],
    ['?_format=application/fhir%2Bxml', { accept: 'application/fhir+json' }],
    ['', { accept: 'text/xml' }],
    ['', { accept: 'application/xml;q=0.9, text/html' }],
    ['', { accept: 'application/fhir+xml;q=0.9, application/json;q=0.1' }],
    ['', { accept: '*/*;q=0.8, text/xml' }],
    ['', { accept: 'application/fhir+json;q=0, */*' }],
  ])('is XML for %s with %j', async (query, sent) => {
    const { status, headers: got } = await get(`/Appointment/${booked.id}${query}`, sent as Record<string, string>);
    expect([status, got['content-type']]).toEqual([200, 'application/fhir+xml; charset=utf-8']);
  });

  test.each([
    'application/fhir+xml, application/json',
    'application/fhir+xml;q=0.5, application/*',
    'application/fhir+json;fhirVersion=3.0, */*',
  ])('is JSON for %s', async (sent) => {
    const { headers: got } = await get('/Patient/p-1', { accept: sent });
    expect(got['content-type']).toBe('application/fhir+json; charset=utf-8');
  });

  test.each<[string, number, string, string, RequestOptions]>([
    ['without credentials', 401, 'GET', '/Patient/p-1', { client: null }],
    ['of another version of FHIR', 406, 'GET', '/Patient/p-1', { headers: { accept: `${accept}; fhirVersion=3.0` } }],
    ['to no route', 404, 'GET', '/Encounter/1', {}],
    ['with another method', 405, 'DELETE', '/Patient/p-1', {}],
  ])('to a request %s is XML, too', async (_name, status, method, path, options) => {
    const got = await gateway.request(method, `${base}${path}`, { headers: { accept }, ...options });
    expect([got.status, got.headers['content-type']]).toEqual([status, 'application/fhir+xml; charset=utf-8']);
    expect(resourceIn<OperationOutcome>(got).issue?.[0]?.severity).toBe('error');
  });

  test('has no signs that XML cannot have', async () => {
    const { id } = await book(gateway, { comment: 'a\u0001b\uFFFEc\td <&"' });
    const got = await get(`/Appointment/${id}`);
    expect([resourceIn<Appointment>(got).comment, got.text.includes('\u0001')]).toEqual([
      'a\uFFFDb\uFFFDc\td <&"',
      false,
    ]);
  });

  test('has no body where JSON has none', async () => {
    const { headers: got } = await get('/Patient/p-1');
    const known = await get('/Patient/p-1', { accept, 'if-none-match': String(got.etag) });
    expect([known.status, known.text]).toEqual([304, '']);
  });
});

test('an Appointment is booked, moved and cancelled in XML', async () => {
  const [slot, later] = await norway.slots(2);
  const made = await send('POST', '/Appointment', converter.objToXml(bookingOf(slot, 'p-2')));
  expect(made.status, made.text).toBe(201);
  const booked = resourceIn<Appointment>(made);
  expect(booked.minutesDuration).toBeTypeOf('number');
  const moved = { ...booked, start: later?.start, end: later?.end, slot: undefined };
  const put = await send('PUT', `/Appointment/${booked.id}`, converter.objToXml(moved));
  expect([put.status, Date.parse(resourceIn<Appointment>(put).start ?? '')]).toEqual([
    200,
    Date.parse(later?.start ?? ''),
  ]);
  const patch = {
    resourceType: 'Parameters',
    parameter: [
      {
        name: 'operation',
        part: [
          { name: 'type', valueCode: 'replace' },
          { name: 'path', valueString: 'Appointment.status' },
          { name: 'value', valueCode: 'cancelled' },
        ],
      },
    ],
  };
  const cancelled = await send('PATCH', `/Appointment/${booked.id}`, converter.objToXml(patch));
  expect([cancelled.status, resourceIn<Appointment>(cancelled).status]).toEqual([200, 'cancelled']);
});

test('a batch in XML has entries that answer alike', async () => {
  const entry = ['Patient/p-1?_format=xml', 'Patient/nobody'].map((url) => ({ request: { method: 'GET', url } }));
  const answer = await send('POST', '', converter.objToXml({ resourceType: 'Bundle', type: 'batch', entry }));
  const { entry: found = [] } = resourceIn<Bundle>(answer);
  expect(found.map(({ response }) => response?.status)).toEqual(['200 OK', '404 Not Found']);
  expect(found[0]?.resource).toMatchObject({ resourceType: 'Patient', id: 'p-1' });
});

test('comments in a body say nothing', async () => {
  const [slot] = await norway.slots(1);
  const body = converter.objToXml(bookingOf(slot, 'p-3')).replace('<status', '<!-- by the portal --><status');
  const { status, text } = await send('POST', '/Appointment', body, { ...headers, prefer: 'handling=strict' });
  expect([status, text.includes('fhir_comments')]).toEqual([201, false]);
});

const ns = 'xmlns="http://hl7.org/fhir"';
test.each([
  ['no XML', 'this is not XML'],
  ['nothing', ''],
  ['an element that is not closed', `<Appointment ${ns}><status value="booked"/>`],
  ['an entity', `<!DOCTYPE a [<!ENTITY x "p">]><Appointment ${ns}><status value="&x;"/></Appointment>`],
  ['another language', '<html><body>booked</body></html>'],
  ['an unknown element', `<Appointment ${ns}><status value="booked"/><colour value="red"/></Appointment>`],
  ['a prefix', `<f:Appointment xmlns:f="http://hl7.org/fhir"><f:status value="booked"/></f:Appointment>`],
  ['another namespace', '<Appointment xmlns="urn:x"><status value="booked"/></Appointment>'],
  ['many levels', `<Appointment ${ns}>${'<contained><Bundle><entry><resource>'.repeat(2_000)}</Appointment>`],
  ['many levels of one', `${'<a>'.repeat(15_000)}${'</a>'.repeat(15_000)}`],
])('a body with %s is refused', async (_name, body) => {
  const { status, text, headers: got } = await send('POST', '/Appointment', body);
  expect([status, got['content-type']]).toEqual([400, 'application/fhir+xml; charset=utf-8']);
  expect(resourceIn<OperationOutcome>({ text }).issue?.[0]?.severity).toBe('error');
});

test.each([
  ['<colour value="red"/>', 'Appointment.colour'],
  [
    '<participant><actor><reference value="Patient/p-1"/><age value="4"/></actor><status value="accepted"/></participant>',
    'Appointment.participant.actor.age',
  ],
  ['<comment value="1"/><comment value="2"/>', 'Appointment.comment'],
  ['<p15859000026/>', 'Appointment'],
])('what FHIR does not have is named: %s', async (element, place) => {
  const { status, text } = await send(
    'POST',
    '/Appointment',
    `<Appointment ${ns}><status value="booked"/>${element}</Appointment>`,
  );
  const [issue] = resourceIn<OperationOutcome>({ text }).issue ?? [];
  expect([status, issue?.code, issue?.expression]).toEqual([400, 'structure', [place]]);
});

test('a body in XML is short, and one after a comment or a declaration is read', async () => {
  const long = `<Appointment ${ns}><comment value="${'x'.repeat(128 * 1024)}"/></Appointment>`;
  expect((await send('POST', '/Appointment', long)).status).toBe(413);
  const [slot] = await norway.slots(1);
  const body = converter.objToXml(bookingOf(slot, 'p-3')).replace(/^<\?xml[^>]*>/, '$& <!-- <a> -->\n');
  expect((await send('POST', '/Appointment/$validate', body)).status).toBe(200);
});

test('a body in XML that says too little is refused as in JSON, and other XML is not taken', async () => {
  const { status, text } = await send(
    'POST',
    '/Appointment',
    `<Appointment ${ns}><status value="booked"/></Appointment>`,
  );
  expect([status, resourceIn<OperationOutcome>({ text }).issue?.[0]?.expression?.[0]]).toEqual([
    400,
    'Appointment.participant',
  ]);
  const form = { 'content-type': 'application/fhir+xml' };
  expect((await send('POST', '/Appointment/_search', '<a/>', form)).status).toBe(415);
  expect(
    (await send('PATCH', '/Appointment/a', '<diff/>', { 'content-type': 'application/xml-patch+xml' })).status,
  ).toBe(415);
});
