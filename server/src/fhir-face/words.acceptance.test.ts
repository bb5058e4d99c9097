/** @module-tag any-database */
import type { Connector } from '@crossward/connector-kit';
import type { Appointment, Bundle, Practitioner, Reference, Schedule, Slot } from '@medplum/fhirtypes';
import { afterAll, expect, test } from 'vitest';
import { wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { oslo } from '../../../test/requests/bookings.ts';
import { bookingOf, fhirClient } from './test-requests.ts';

/** Practitioner r-2 has lost its name, and each appointment and time slot is by video. */
function dirty(connector: Connector): Connector {
  const byVideo = <Record>(records: readonly Record[] = []) =>
    records.map((it) => ({ ...it, modality: 'video' as const }));
  return {
    ...connector,
    listResources: async (careUnit) =>
      ((await connector.listResources?.(careUnit)) ?? []).map((it) => (it.id === 'r-2' ? { ...it, name: ' ' } : it)),
    changeAppointments: async (write) => byVideo(await connector.changeAppointments?.(write)),
    listTimeSlots: async (query) => byVideo(await connector.listTimeSlots?.(query)),
    findAppointments: async (careUnit, ids) => byVideo(await connector.findAppointments?.(careUnit, ids)),
  };
}

const gateway = await startGateway({ connectors: [wrapConnector(dirty)] });
afterAll(() => gateway.close());

const norway = fhirClient(gateway, oslo);
const everywhere = fhirClient(gateway, '/api');
const displaysIn = (actors: readonly (Reference | undefined)[] = []) =>
  Object.fromEntries(actors.map((it) => [it?.reference?.split('/')[0], it?.display]));
const actorsOf = ({ participant }: Appointment) => participant.map(({ actor }) => actor as Reference | undefined);

const [slot, later] = await norway.slots(2);
const { body: booked } = await norway.post('/Appointment', bookingOf(slot, 'p-1'));
const names = {
  Patient: undefined,
  Practitioner: (await norway.get<Practitioner>('/Practitioner/r-1')).body.name?.[0]?.text,
  HealthcareService: 'Konsultasjon',
  Location: 'Oslo sentrum',
};

test('an Appointment names its actors, but never the patient, at its care unit and over all', async () => {
  expect(names.Practitioner).toMatch(/\w/);
  const read = (await norway.get(`/Appointment/${booked.id}`)).body;
  const [found] = (await norway.get<Bundle<Appointment>>('/Appointment?patient=p-1')).body.entry ?? [];
  for (const it of [booked, read, found?.resource as Appointment]) expect(displaysIn(actorsOf(it))).toEqual(names);
  const anywhere = (await everywhere.get<Bundle<Schedule>>('/Schedule?service-type=consultation')).body.entry ?? [];
  const own = anywhere.flatMap(({ resource }) => (resource ? [displaysIn(resource.actor)] : []));
  expect(own).toContainEqual({ ...names, Patient: undefined });
});

test('who may not list who can be booked gets no names of them', async () => {
  const { body } = await norway.get(`/Appointment/${booked.id}`, { client: 'appointments:read' });
  expect(displaysIn(actorsOf(body))).toEqual({ ...names, Practitioner: undefined });
});

test('names are no loss when they are sent back, and another name is one', async () => {
  const strict = { prefer: 'handling=strict' };
  expect((await norway.put(booked, strict)).status).toBe(200);
  const copied = bookingOf(later, 'p-1');
  const actors = (await norway.get<Schedule>(`/${later?.schedule.reference}`)).body.actor;
  const withActors = {
    ...copied,
    participant: [...copied.participant, ...actors.map((actor) => ({ actor, status: 'accepted' }))],
  };
  expect((await norway.post('/Appointment/$validate', withActors, strict)).body).toMatchObject({
    issue: [{ severity: 'information' }],
  });
  const misnamed = {
    ...withActors,
    participant: [...copied.participant, { actor: { ...actors[0], display: 'Somebody else' }, status: 'accepted' }],
  };
  const { status, body } = await norway.post('/Appointment', misnamed, strict);
  expect([status, body]).toMatchObject([
    422,
    { issue: [{ expression: ['Appointment.participant[1].actor.display'] }] },
  ]);
});

test('a Schedule says its name, and one of somebody without a name that of the service', async () => {
  const { body } = await norway.get<Bundle<Schedule>>('/Schedule?service-type=consultation');
  const nameOf = (actor: string) =>
    body.entry?.find(({ resource }) => resource?.actor.some(({ reference }) => reference === actor))?.resource
      ?.extension;
  const url = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-Schedule.name';
  expect(nameOf('Practitioner/r-1')).toEqual([{ url, valueString: `Konsultasjon, ${names.Practitioner}` }]);
  expect(nameOf('Practitioner/r-2')).toEqual([{ url, valueString: 'Konsultasjon' }]);
  const all = (await norway.get<Bundle<Practitioner>>('/Practitioner')).body.entry ?? [];
  const lost = all.find(({ resource }) => resource?.id === 'r-2')?.resource;
  expect(lost).toMatchObject({ resourceType: 'Practitioner', active: true });
  expect(lost).not.toHaveProperty('name');
});

test('a time and an appointment say how patient and practitioner meet', async () => {
  const channel = {
    url: 'https://fhir.hl7.org.uk/StructureDefinition/Extension-UKCore-DeliveryChannel',
    valueCodeableConcept: {
      coding: [
        { system: 'https://fhir.hl7.org.uk/CodeSystem/UKCore-DeliveryChannel', code: 'Video', display: 'Video' },
      ],
    },
  };
  const read = (await norway.get<Slot>(`/Slot/${later?.id}`)).body;
  const { body: anywhere } = await everywhere.get<Bundle<Slot>>('/Slot?service-type=consultation&_count=1');
  for (const it of [slot, read, anywhere.entry?.[0]?.resource, booked]) expect(it?.extension).toEqual([channel]);
  expect((await norway.get(`/Appointment/${booked.id}`)).body).toMatchObject({
    extension: [channel],
    meta: booked.meta,
  });
  expect((await norway.get<Slot>(`/Slot/${slot?.id}`)).body).toMatchObject({ status: 'busy' });
});
