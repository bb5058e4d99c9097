/** @module-tag any-database */
import { identifierFault } from '@crossward/connector-kit';
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { afterAll, expect, test } from 'vitest';
import { wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { between, withRenamedIds } from '../../../test/ehrs/renamed-ids.ts';
import { type RequestOptions, startGateway } from '../../../test/gateway/gateway.ts';
import { type Appointment, at, freeSlot, local, oslo, type Slot } from '../../../test/requests/bookings.ts';

let sunday = Temporal.PlainDate.from('2034-01-01');
let renaming = between('', '');
const gateway = await startGateway({
  connectors: [wrapConnector((connector) => withRenamedIds(connector, () => renaming))],
});
afterAll(() => gateway.close());
const slot = await freeSlot(gateway);

const difficult = [
  ':',
  'emr_id:',
  'header:',
  'header:x-patient',
  'no_personal_number:15859000026',
  '%',
  '%25',
  '%2F',
  '%zz',
  '+',
  ' ',
  '/',
  '//',
  '..',
  '?limit=1',
  '&patient_id=p-4',
  '#',
  ';',
  '\\',
  '"',
  'å',
  '日本',
  '😀',
  '\u2028',
  '\ufeff',
  'T09:00:00 01:00',
];
const text = fc.oneof(
  fc.array(fc.constantFrom(...difficult), { maxLength: 4 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 90 }),
);
const examples: [[string, string]][] = [
  [['header:', '']],
  [['emr_id:', ':']],
  [['../', '/..']],
  [['%2F', '%']],
  [['', 'T09:00:00 01:00']],
];
/** Texts around the ids of an EHR that requests can contain. Appointments of the sandbox have the longest ids: UUIDs. */
const around = fc
  .tuple(text, text)
  .filter(([before, after]) => identifierFault(`${before}${'x'.repeat(36)}${after}`) === undefined);

interface Identified {
  readonly id: string;
}

async function body<Body>(status: number, method: string, path: string, options?: RequestOptions): Promise<Body> {
  const response = await gateway.request<Body>(method, oslo + path, options);
  expect(response.status, `${method} ${path}: ${response.text}`).toBe(status);
  return response.body;
}
const find = <Body>(path: string, options?: RequestOptions) => body<Body>(200, 'GET', path, options);
/** What a POST creates. The path in its Location and the path with its id both lead there. */
async function created<Record extends Identified>(path: string, options: RequestOptions): Promise<Record> {
  const { status, headers, body: record, text } = await gateway.request<Record>('POST', oslo + path, options);
  expect(status, text).toBe(201);
  expect((await gateway.request('GET', String(headers.location))).body).toEqual(record);
  expect(await find(`${path}/${encodeURIComponent(record.id)}`)).toEqual(record);
  return record;
}
/** UTF-8 bytes, because Node.js sends headers as Latin-1. */
const header = (value: string) => Buffer.from(value).toString('latin1');

interface Named extends Identified {
  readonly identifiers: readonly string[];
}
interface Page {
  readonly resources: readonly Named[];
  readonly timeslots: readonly Slot[];
  readonly appointments: readonly Appointment[];
  readonly medical_notes: readonly Identified[];
}

async function sendBackEverything(): Promise<void> {
  const patient = await find<Named>(`/patients/${encodeURIComponent(`emr_id:${renaming.shown('p-3')}`)}`);
  const patientId = patient.id;
  expect(patientId).toBe(`emr_id:${renaming.shown('p-3')}`);
  expect(patient.identifiers).toContain(patientId);
  const byHeader = { headers: { 'x-patient': header(patientId) } };
  expect(await find(`/patients/${encodeURIComponent(patientId)}`)).toEqual(patient);
  expect(await find('/patients/header:x-patient', byHeader)).toEqual(patient);

  const { resources } = await find<Page>('/resources');
  const resource = resources.find(({ id }) => id === `emr_id:${renaming.shown('r-1')}`);
  const resourceId = String(resource?.id);
  expect(await find(`/resources/${encodeURIComponent(resourceId)}`)).toEqual(resource);
  expect(await find('/resources/header:x-it', { headers: { 'x-it': header(resourceId) } })).toEqual(resource);

  const query = new URLSearchParams({ ...at(slot), resource_id: resourceId });
  const { timeslots } = await find<Page>(`/timeslots?${query}`);
  expect(timeslots.map(({ resource_id }) => resource_id)).toContain(resourceId);
  const serviceId = String(timeslots[0]?.healthcare_service_id);
  const ofService = await find<Page>(
    `/timeslots?${query}&${new URLSearchParams({ healthcare_service_id: serviceId })}`,
  );
  expect(ofService.timeslots[0]?.healthcare_service_id).toBe(serviceId);

  const booked = await created<Appointment>('/appointments', {
    body: {
      patient_id: patientId,
      resource_id: resourceId,
      healthcare_service_id: serviceId,
      start_time: local(slot.start),
      end_time: local(slot.end),
    },
  });
  expect(booked).toMatchObject({ patient_id: patientId, resource_id: resourceId });
  const path = `/appointments/${encodeURIComponent(booked.id)}`;
  const ofPatient = new URLSearchParams({ status: 'booked', patient_id: patientId });
  const ofResource = new URLSearchParams({ status: 'booked', resource_id: resourceId });
  for (const filter of [ofPatient, ofResource, 'patient_id=header:x-patient&status=booked']) {
    expect(await find(`/appointments?${filter}`, byHeader)).toEqual({ appointments: [booked], next_cursor: null });
  }
  const [same] = (
    await body<Page>(200, 'PATCH', '/appointments', {
      body: { ids: [booked.id], resource_id: 'header:x-it' },
      headers: { 'x-it': header(resourceId) },
    })
  ).appointments;
  expect(same).toEqual(booked);

  const ofThePatient = `/patients/${encodeURIComponent(patientId)}`;
  const note = await created(`${ofThePatient}/medical-notes`, {
    body: { text: 'A note', author_id: resourceId, appointment_id: booked.id },
  });
  expect(note).toMatchObject({ patient_id: patientId, author_id: resourceId, appointment_id: booked.id });
  const ofAuthor = new URLSearchParams({ author_id: resourceId, limit: '1' });
  expect((await find<Page>(`${ofThePatient}/medical-notes?${ofAuthor}`)).medical_notes).toEqual([note]);

  const document = await created(`${ofThePatient}/documents`, {
    body: { author_id: 'header:x-it', content_type: 'text/plain', content: 'QQ==' },
    headers: { 'x-it': header(resourceId) },
  });
  expect(document).toMatchObject({ author_id: resourceId });
  await find(`${ofThePatient}/documents/${encodeURIComponent(document.id)}/content`);

  // On a Sunday of its own, when the resource has no other slots.
  sunday = sunday.add({ days: 7 });
  const ofTheResource = `/resources/${encodeURIComponent(resourceId)}`;
  const schedule = await created(`${ofTheResource}/schedules`, {
    body: {
      start_time: `${sunday}T10:00:00`,
      end_time: `${sunday}T11:00:00`,
      slot_minutes: 30,
      healthcare_service_ids: [serviceId],
    },
  });
  expect(schedule).toMatchObject({ resource_id: resourceId, healthcare_service_ids: [serviceId] });
  await body(200, 'POST', `${ofTheResource}/schedules/${encodeURIComponent(schedule.id)}/end`, {
    body: { end_time: `${sunday}T10:30:00` },
  });

  expect(await body(200, 'PATCH', path, { body: { status: 'cancelled' } })).toMatchObject({ id: booked.id });
}

test('every id in a response can be sent back, in a path, a query, a body and a header', async () => {
  await fc.assert(
    fc.asyncProperty(around, async ([before, after]) => {
      renaming = between(before, after);
      await sendBackEverything();
    }),
    { numRuns: 12, endOnFailure: true, examples },
  );
});

test.each([
  ['longer than 200 characters', 'x'.repeat(200)],
  ['with a control character', 'a\tb'],
  ['with white space at an end', ' '],
])('a record with an id %s is shown, and a request with that id is malformed', async (_, before) => {
  renaming = between(before, '');
  const { resources } = await find<Page>('/resources');
  const id = `emr_id:${renaming.shown('r-1')}`;
  expect(resources.map((it) => it.id)).toContain(id);
  expect(await body(400, 'GET', `/resources/${encodeURIComponent(id)}`)).toMatchObject({
    reason: 'identifier_malformed',
    errors: [{ parameter: 'resource_id' }],
  });
});
