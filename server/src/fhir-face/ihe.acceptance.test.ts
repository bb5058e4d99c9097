/** @module-tag any-database */
import type { Appointment, Bundle, CapabilityStatement, OperationOutcome, Slot } from '@medplum/fhirtypes';
import { afterAll, describe, expect, test } from 'vitest';
import { careUnitPath, withEhr } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { oslo } from '../../../test/requests/bookings.ts';
import { bookingOf, fhirClient, issueIn, parameters } from './test-requests.ts';

const gateway = await startGateway({
  configure: (demo) => withEhr(demo, { id: 'own', like: 'sandbox-no', policies: {} }),
});
afterAll(() => gateway.close());

const face = fhirClient(gateway, careUnitPath('own', 'oslo-sentrum'));
const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().replace(/\.\d+/, '');
const within = [
  { name: 'start', valueDateTime: day(7) },
  { name: 'end', valueDateTime: day(20) },
];
const practitioner = { name: 'practitioner', valueReference: { reference: 'Practitioner/r-1' } };
const visit = { name: 'visit-type', valueString: 'consultation' };
const patient = { name: 'patient-reference', valueReference: { reference: 'Patient/p-1' } };
const find = (...more: object[]) =>
  face.post<Bundle<Appointment>>('/Appointment/$find', parameters(...within, practitioner, visit, ...more));
const resourcesIn = ({ entry = [] }: Bundle<Appointment>) => entry.flatMap(({ resource }) => resource ?? []);
const free = resourcesIn((await find()).body);
const take = () => free.shift() as Appointment;
const book = (...sent: object[]) => face.post<Bundle<Appointment>>('/Appointment/$book', parameters(...sent));
const patientResource = { name: 'patient-resource', resource: { resourceType: 'Patient', id: 'p-1' } };
const resourceOf = (resource: object) => ({ name: 'appointment-resource', resource });

describe('$find', () => {
  test('proposes what a search for Slots finds, with all who take part', async () => {
    const { status, body } = await find(patient, { name: '_count', valueInteger: 2 });
    expect([status, body.type, body.entry?.length]).toEqual([200, 'searchset', 2]);
    const slots = await face.slots(2);
    expect(resourcesIn(body).map(({ id, start }) => [id, start])).toEqual(slots.map(({ id, start }) => [id, start]));
    expect(body.total).toBeGreaterThan(2);
    expect(resourcesIn(body)[0]).toMatchObject({
      status: 'proposed',
      slot: [{ reference: `Slot/${slots[0]?.id}` }],
      participant: [
        { actor: { reference: 'Patient/p-1' } },
        { actor: { reference: 'Practitioner/r-1' } },
        { actor: { reference: 'HealthcareService/consultation' } },
        {},
      ],
    });
    const next = body.link?.find(({ relation }) => relation === 'next')?.url ?? '';
    const second = await face.get<Bundle<Appointment>>(next.slice(next.indexOf('/Appointment/$find')));
    expect([second.status, second.body.total]).toEqual([200, body.total]);
    expect(resourcesIn(second.body).map(({ id }) => id)).toEqual((await face.slots(4)).slice(2).map(({ id }) => id));
  });

  test('takes the parameters in a URL, and days as bounds', async () => {
    const [one] = resourcesIn((await find()).body);
    const from = one?.start?.slice(0, 10);
    const query = `start=${from}&end=${from}&practitioner=Practitioner/r-1&visit-type=consultation`;
    const { body } = await face.get<Bundle<Appointment>>(`/Appointment/$find?${query}`);
    expect(resourcesIn(body).map(({ id }) => id)).toContain(one?.id);
    expect(resourcesIn(body).every(({ start }) => start?.startsWith(from ?? ''))).toBe(true);
    expect(
      (await find({ name: 'location-reference', valueReference: { reference: 'Location/nowhere' } })).body.total,
    ).toBe(0);
  });

  test.each<[string, object]>([
    ['a specialty, which no EHR tells', { name: 'specialty', valueString: 'http://snomed.info/sct|394582007' }],
    ['a start that is sent twice', within[0] as object],
    ['a parameter without a value', { name: 'visit-type' }],
    ['a patient that is none', { name: 'patient-reference', valueReference: { reference: 'Practitioner/r-1' } }],
    [
      'a practitioner by the number of a person',
      {
        name: 'practitioner',
        valueReference: { identifier: { system: 'urn:oid:2.16.578.1.12.4.1.4.1', value: '15859000026' } },
      },
    ],
  ])('refuses %s', async (_, parameter) => {
    const response = await find(parameter);
    expect([response.status, JSON.stringify(response.body).includes('15859000026')]).toEqual([400, false]);
  });
});

describe('$book', () => {
  test('books a proposal by its reference', async () => {
    const { id, start } = take();
    const reference = { name: 'appointment-reference', valueReference: { reference: `Appointment/${id}` } };
    const { status, body } = await book(reference, patientResource, { name: 'comment', valueString: 'Ring first.' });
    expect([status, body.type, body.total]).toEqual([200, 'searchset', 1]);
    const [booked] = resourcesIn(body);
    expect(booked).toMatchObject({ status: 'booked', start, comment: 'Ring first.' });
    expect((await face.get(`/Appointment/${booked?.id}`)).body).toEqual(booked);
    expect(issueIn((await book(reference, patientResource)) as never)).toEqual([
      422,
      'conflict',
      'time_slot_unavailable',
    ]);
  });

  test('books, changes and cancels a whole Appointment', async () => {
    const [proposal] = resourcesIn((await find(patient)).body);
    const { id: _, ...pending } = { ...proposal, status: 'pending' };
    const preview = await book(resourceOf(pending), { name: 'dry-run', valueBoolean: true });
    expect([preview.status, resourcesIn(preview.body)[0]?.id]).toEqual([200, undefined]);
    const made = await book(resourceOf({ ...proposal, status: 'pending' }), patientResource);
    const [booked] = resourcesIn(made.body);
    expect([made.status, booked?.status, booked?.start]).toEqual([200, 'booked', proposal?.start]);
    const changed = await book(resourceOf({ ...booked, comment: 'By the back door.' }));
    expect(resourcesIn(changed.body)[0]).toMatchObject({ id: booked?.id, comment: 'By the back door.' });
    const cancelled = await book(resourceOf({ ...resourcesIn(changed.body)[0], status: 'cancelled' }));
    expect([cancelled.status, resourcesIn(cancelled.body)[0]?.status]).toEqual([200, 'cancelled']);
  });

  test('finds the patient by an identifier', async () => {
    const identifier = [{ system: 'urn:oid:2.16.578.1.12.4.1.4.1', value: '15859000026' }];
    const { id: _, ...pending } = { ...take(), status: 'pending' };
    const named = { name: 'patient-resource', resource: { resourceType: 'Patient', identifier } };
    const { status, body } = await book(resourceOf(pending), named);
    expect([status, resourcesIn(body)[0]?.status]).toEqual([200, 'booked']);
    expect(JSON.stringify(body)).not.toContain('15859000026');
  });

  test.each<[string, number, readonly object[]]>([
    ['neither of the two parameters', 400, [patientResource]],
    ['no patient', 400, [resourceOf({ ...free[0], status: 'pending' })]],
    ['two patients', 422, [resourceOf({ ...bookingOf(undefined, 'p-2'), status: 'pending' }), patientResource]],
    [
      'a reference to no proposal',
      422,
      [{ name: 'appointment-reference', valueReference: { reference: 'Appointment/a-1' } }, patientResource],
    ],
    ['another status', 422, [resourceOf({ ...bookingOf(undefined), status: 'proposed' }), patientResource]],
    ['a change of what nobody has', 422, [resourceOf({ ...bookingOf(undefined), id: 'nothing' }), patientResource]],
    ['a parameter of another dialect', 422, [resourceOf(bookingOf(undefined)), { name: 'schedule', valueString: 'x' }]],
  ])('refuses %s', async (_, status, sent) => {
    const response = await book(...sent);
    expect([response.status, (response.body as unknown as OperationOutcome).resourceType]).toEqual([
      status,
      'OperationOutcome',
    ]);
  });
});

test('are offered at the base URL of a care unit alone', async () => {
  const everywhere = fhirClient(gateway, '/api');
  expect((await everywhere.post('/Appointment/$find', parameters(...within))).status).toBe(405);
  const { body } = await everywhere.get<Bundle<Slot>>('/Slot?service-type=consultation&_count=1');
  const slot = body.entry?.[0]?.resource;
  expect(slot?.resourceType).toBe('Slot');
  const booking = { resourceType: 'Appointment', status: 'pending', slot: [{ reference: `Slot/${slot?.id}` }] };
  const order = resourceOf({ ...booking, participant: [] });
  expect(issueIn(await everywhere.post('/Appointment/$book', parameters(order, patientResource)))).toEqual([
    422,
    'not-supported',
    'request_invalid',
  ]);
  expect(JSON.stringify((await everywhere.get<CapabilityStatement>('/metadata')).body)).not.toContain('ihe.net');
});

test('the CapabilityStatement names them', async () => {
  const { body } = await fhirClient(gateway, oslo).get<CapabilityStatement>('/metadata');
  for (const name of ['find', 'book']) {
    expect(JSON.stringify(body)).toContain(
      `https://profiles.ihe.net/ITI/Scheduling/OperationDefinition/appointment-${name}`,
    );
  }
});
