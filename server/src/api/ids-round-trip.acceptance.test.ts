/** @module-tag any-database */
import { identifierFault } from '@crossward/connector-kit';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type Appointment, at, freeSlot, local, oslo, type Slot } from '../../../test/bookings.ts';
import { type RequestOptions, startGateway } from '../../../test/gateway.ts';
import { wrapConnector } from '../../../test/other-ehrs.ts';
import { between, withRenamedIds } from '../../../test/renamed-ids.ts';

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

async function body<Body>(status: number, method: string, path: string, options?: RequestOptions): Promise<Body> {
  const response = await gateway.request<Body>(method, oslo + path, options);
  expect(response.status, `${method} ${path}: ${response.text}`).toBe(status);
  return response.body;
}
const find = <Body>(path: string, options?: RequestOptions) => body<Body>(200, 'GET', path, options);
/** UTF-8 bytes, because Node.js sends headers as Latin-1. */
const header = (value: string) => Buffer.from(value).toString('latin1');

interface Named {
  readonly id: string;
  readonly identifiers: readonly string[];
}
interface Page {
  readonly resources: readonly Named[];
  readonly timeslots: readonly Slot[];
  readonly appointments: readonly Appointment[];
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

  const booked = await body<Appointment>(201, 'POST', '/appointments', {
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
  expect(await find(path)).toEqual(booked);
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
  expect(await body(200, 'PATCH', path, { body: { status: 'cancelled' } })).toMatchObject({ id: booked.id });
}

test('every id in a response can be sent back, in a path, a query, a body and a header', async () => {
  await fc.assert(
    fc.asyncProperty(around, async ([before, after]) => {
      renaming = between(before, after);
      await sendBackEverything();
    }),
    { numRuns: 25, endOnFailure: true, examples },
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
