import { describe, expect, test } from 'vitest';
import type { ServerHabits } from '../fake/habits.ts';
import { otherBase } from '../fake/habits.ts';
import type { FhirSettings } from '../src/settings.ts';
import { appointment, booked, openServer, people, practitioner, slot } from './published-servers.ts';
import { north } from './subject.ts';

const freeTimes = people.flatMap(({ resourceType, start }) => (resourceType === 'Slot' ? [String(start)] : []));

/** Everything that a caller can read is right. */
async function expectAllIsRead(habits: ServerHabits, settings: Partial<FhirSettings> = {}) {
  const server = await openServer(habits, settings);
  expect(await server.resources()).toEqual(['d1']);
  expect(await server.times()).toEqual(freeTimes);
  expect(await server.ofPatient('p1')).toEqual(['ok']);
  expect(await server.ofPatient('p2')).toEqual([]);
  expect(await server.ofResource('d1')).toEqual(['ok']);
  expect(await server.ofEverybody()).toEqual(['ok']);
  expect(await server.one('ok')).toEqual(['ok']);
  expect(await server.one('nothing')).toEqual([]);
  expect(await server.connector.findPatient?.({ type: 'emr_id', value: 'nobody' })).toBeNull();
  expect(await server.connector.findPatient?.({ type: 'nhs_number', value: '9449305552' })).toBeNull();
  return server;
}

test.each<ServerHabits>([
  {},
  { byteOrderMark: true },
  { contentType: 'application/json' },
  { contentType: 'text/plain; charset=utf-8', byteOrderMark: true },
  { empty: 404 },
  { empty: 400 },
  { empty: 'outcome with 200' },
  { empty: 204 },
  { empty: 'without entry' },
  { empty: 'entry is null' },
  { absent: 400 },
  { absent: 410 },
  { absent: 'outcome with 200' },
  { refuses: ['_sort'] },
  { refuses: ['_sort', '_count'] },
  { refuses: ['Slot._count'] },
  { refuses: ['Appointment._sort'] },
  { refuses: ['Slot.status', '_revinclude'] },
  { refuses: ['patient'] },
  { refuses: ['Appointment.actor'] },
  { needs: { Appointment: [['_id'], ['patient', 'date'], ['actor', 'date']] } },
  { refusesIdLists: true },
  { lacks: ['PractitionerRole', 'Location', 'Device'] },
  { readsNo: ['Appointment'] },
  { readsNo: ['Patient', 'Practitioner', 'Slot'] },
])('reads everything from a server with the habits %j', async (habits) => {
  await expectAllIsRead(habits);
});

const key = ['x-api-key', 'k3y-of-a-gateway'] as const;
const headers = { 'X-Api-Key': { reveal: () => key[1] } };

test.each<[ServerHabits, Partial<FhirSettings>]>([
  [{ wantsHeader: key }, { headers }],
  [{ wantsHeader: ['x-tenant', 'north'] }, { headers: { 'x-tenant': 'north' } }],
  [{ refusesSearchesInUrls: true }, { search_method: 'post' }],
  [{ longestSlotHours: 24 }, { slots: { longest_hours: 24 } }],
  [{ longestSlotHours: 168 }, { slots: { longest_hours: 100 } }],
  [
    { needs: { Schedule: [['_profile']], Appointment: [['_profile']] } },
    { search_profiles: { Schedule: 'https://example.org/Schedule', Appointment: 'https://example.org/Visit' } },
  ],
])('reads everything from a server with the habits %j, as the settings say', async (habits, settings) => {
  await expectAllIsRead(habits, settings);
});

test('a server that lists no read and refuses the search by _id is read', async () => {
  const { one } = await openServer({ readsNo: [], refuses: ['_id'], statesNoReadOf: ['Appointment'] });
  expect(await one('ok')).toEqual(['ok']);
});

test.each(['Authorization', 'Content-Type', 'host'])('the setting headers cannot set %s', async (name) => {
  await expect(openServer({}, { headers: { [name]: 'x' } })).rejects.toThrow(`cannot set ${name.toLowerCase()}`);
});

test('asks a server that refuses a parameter without it from then on', async () => {
  const { server, ofPatient } = await openServer({ refuses: ['_sort'] });
  expect(await ofPatient('p1')).toEqual(['ok']);
  server.seen.splice(0);
  expect(await ofPatient('p1')).toEqual(['ok']);
  const searches = server.seen.filter(({ path }) => path === '/Appointment');
  expect(searches.map(({ query }) => query.includes('_sort'))).toEqual([false]);
});

test('asks a server that refuses a question in every form once more, and not in every form again', async () => {
  const { server, times } = await openServer({ refuses: ['Slot.schedule'] });
  await expect(times()).rejects.toMatchObject({ kind: 'rejected' });
  server.seen.splice(0);
  await expect(times()).rejects.toMatchObject({ kind: 'rejected' });
  expect(server.seen).toHaveLength(1);
});

test.each([401, 403, 429, 503])('does not ask in another form after %i', async (status) => {
  const { server, ofPatient, resources } = await openServer({});
  await resources();
  server.misbehave = ({ path }) => (path === '/Appointment' ? { status } : undefined);
  server.seen.splice(0);
  await expect(ofPatient('p1')).rejects.toThrow(`${status}`);
  expect(server.seen.filter(({ path }) => path === '/Appointment')).toHaveLength(1);
});

test('an empty answer with 404 for a type that the server does not have is no empty list', async () => {
  const { connector } = await openServer({ lacks: ['Patient'], empty: 404 });
  const search = connector.findPatient?.({ type: 'nhs_number', value: '9449305552' });
  await expect(search).rejects.toMatchObject({ message: expect.stringContaining('404') });
});

test('a server that counts matches and sends none has not said that there is nobody', async () => {
  const { ofPatient } = await openServer({ countsOnly: true, searches: {} });
  await expect(ofPatient('p1')).rejects.toMatchObject({ kind: 'rejected' });
});

describe('entries of a list that cannot be used', () => {
  const { id: _, ...withoutId } = appointment('x', 'p1');

  test.each([
    ['a resource without an id', { resource: withoutId }],
    ['an entry without a resource', { fullUrl: 'urn:x' }],
    ['null', null],
    ['a resource without a type', { resource: {} }],
    ['a number', 17],
  ])('hide no others: %s', async (_name, entry) => {
    const server = await openServer({ surplus: [entry] });
    expect(await server.ofPatient('p1')).toEqual(['ok']);
    expect(await server.ofResource('d1')).toEqual(['ok']);
    expect(await server.resources()).toEqual(['d1']);
    expect(await server.times()).toEqual(freeTimes);
  });

  test('are counted if they are resources', async () => {
    const { ofPatient, leftOut } = await openServer({ surplus: [{ resource: withoutId }, null] });
    await ofPatient('p1');
    expect(leftOut).toEqual([{ type: 'Appointment', path: '/id' }]);
  });
});

describe('a resource that the client may not read', () => {
  const more = [
    practitioner('d2', 'Berg'),
    practitioner('d3', 'Dal'),
    { resourceType: 'Schedule', id: 's2', actor: [{ reference: 'Practitioner/d2' }] },
    { resourceType: 'Schedule', id: 's3', actor: [{ reference: 'Practitioner/d3' }] },
    { resourceType: 'Schedule', id: 's4', actor: [{ reference: 'Practitioner/gone' }] },
    { resourceType: 'Schedule', id: 's5', actor: [{ reference: 'PractitionerRole/secret' }] },
    { resourceType: 'PractitionerRole', id: 'secret', practitioner: { reference: 'Practitioner/d3' } },
  ];

  test('hides no other one, and neither does a missing one', async () => {
    const forbids = ['Practitioner/d2', 'PractitionerRole/secret'];
    const server = await openServer({ forbids }, {}, more);
    expect(await server.resources()).toEqual(['d1', 'd3']);
    expect(await server.times()).toEqual(freeTimes);
    expect(await server.ofPatient('p1')).toEqual(['ok']);
    expect(server.leftOut).toContainEqual({ type: 'Practitioner', id: 'd2', path: '' });
    expect(server.leftOut).toContainEqual({ type: 'PractitionerRole', id: 'secret', path: '' });
  });

  test('is an error if it is the one that was asked for', async () => {
    const { connector, one } = await openServer({ forbids: ['Patient/p1', 'Appointment/ok'] });
    await expect(connector.findPatient?.({ type: 'emr_id', value: 'p1' })).rejects.toMatchObject({ kind: 'rejected' });
    await expect(one('ok')).rejects.toMatchObject({ kind: 'rejected' });
  });
});

describe('links to next pages', () => {
  const many = Array.from({ length: 5 }, (_, at) => appointment(`a${at}`, 'p1', new Date(booked.getTime() + at * 3e6)));
  const all = ['a0', 'a1', 'a2', 'a3', 'a4', 'ok'];

  test.each<[NonNullable<ServerHabits['nextLinks']>, Partial<FhirSettings>]>([
    ['relative', {}],
    ['of another path', {}],
    ['of another origin', { own_base_urls: ['http://other.example/fhir', `${otherBase}/`] }],
  ])('are followed if they are %s', async (nextLinks, settings) => {
    const { server, ofPatient } = await openServer({ nextLinks }, settings, many, { pageSize: 2 });
    expect(await ofPatient('p1')).toEqual(all);
    expect(server.seen.every(({ headers }) => `http://${headers.host}` === server.url)).toBe(true);
  });

  test.each<[string, Partial<FhirSettings>]>([
    ['of an unknown origin', { own_base_urls: [otherBase, 'http://unknown.example/else'] }],
    ['of another origin', {}],
  ])('are rejected if they are %s', async (nextLinks, settings) => {
    const habits = { nextLinks } as ServerHabits;
    const { ofPatient } = await openServer(habits, settings, many, { pageSize: 2 });
    await expect(ofPatient('p1')).rejects.toMatchObject({ message: expect.stringContaining('own_base_urls') });
  });

  test('end when they repeat themselves', async () => {
    const { ofPatient } = await openServer({ nextLinks: 'repeated' }, {}, many, { pageSize: 2 });
    expect((await ofPatient('p1')).length).toBeGreaterThan(0);
  });
});

describe('a server without HealthcareServices', () => {
  const unset = { healthcare_services: undefined } as unknown as Partial<FhirSettings>;
  const typed = (system: string, code: string, text?: string) => ({
    serviceType: [{ coding: [{ system, code }], ...(text ? { text } : {}) }],
  });

  test.each<ServerHabits>([
    { lacks: ['HealthcareService'] },
    { refuses: ['HealthcareService._count', 'HealthcareService._sort'], empty: 404 },
    {},
  ])('offers one service if nothing has a type: %j', async (habits) => {
    const server = await expectAllIsRead(habits, unset);
    const services = await server.connector.listHealthcareServices?.(north);
    expect(services?.map(({ id }) => id)).toEqual(['visit']);
  });

  test('offers those of its Slots and Schedules', async () => {
    const more = [
      practitioner('d2', 'Berg'),
      { resourceType: 'Schedule', id: 's2', actor: [{ reference: 'Practitioner/d2' }], ...typed('urn:s', 'eyes') },
      slot('f3', 's2', booked),
      slot('f4', 's2', booked, typed('urn:s', 'ears', 'Hearing')),
      slot('f5', 's2', booked, typed('urn:t', 'eyes')),
    ];
    const { connector } = await openServer({ lacks: ['HealthcareService'] }, unset, more);
    const services = await connector.listHealthcareServices?.(north);
    expect(services?.map(({ id, name }) => [id, name])).toEqual([
      ['ears', 'Hearing'],
      ['eyes', 'eyes'],
      ['eyes-2', 'eyes'],
    ]);
    const found = await connector.listTimeSlots?.({
      careUnit: north,
      start: booked,
      end: new Date(booked.getTime() + 3_600_000),
      healthcareServiceIds: ['ears'],
      limit: 10,
    });
    expect(found).toMatchObject([{ resourceId: 'd2', healthcareServiceId: 'ears' }]);
  });
});

describe('a server of another version', () => {
  test.each(['3.0.2', '5.0.0', '1.0.2', '4.1.0', '4.6.0', '6.0.0-ballot3'])('%s is not used', async (fhirVersion) => {
    const server = await openServer({ fhirVersion }).catch((error: unknown) => error);
    expect(server).toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining(`FHIR ${fhirVersion}`),
      publicDetail: expect.stringContaining(`FHIR ${fhirVersion}`),
    });
  });

  test.each(['4.0.0', '4.0.1', '4.0', '4.3.0', '4.3.0-snapshot1'])('%s is used', async (fhirVersion) => {
    const { resources } = await openServer({ fhirVersion });
    expect(await resources()).toEqual(['d1']);
  });

  test('is not quoted if its version is no number', async () => {
    const error = await openServer({ fhirVersion: 'Tolvan 191212121212' }).catch((it: unknown) => it);
    expect(error).toMatchObject({ message: expect.not.stringContaining('Tolvan') });
  });
});

test.each([401, 404] as const)('a CapabilityStatement that is answered with %i is reported', async (metadata) => {
  await expect(openServer({ metadata })).rejects.toMatchObject({ kind: 'rejected' });
});
