import type { ConfiguredCareUnit } from '@crossward/connector-kit';
import { describe, expect, test } from 'vitest';
import type { ServerHabits } from '../../fake/habits.ts';
import type { FakeOptions } from '../../fake/server.ts';
import type { FhirSettings } from '../../src/settings.ts';
import { creation, write } from '../bookings.ts';
import { appointment, booked, everybody, openServer, people, practitioner, range, slot } from '../published-servers.ts';

const freeTimes = people.flatMap(({ resourceType, start }) => (resourceType === 'Slot' ? [String(start)] : []));

/**
 * https://docs.oracle.com/en/industries/health/millennium-platform-apis/mfrap/op-slot-get.html,
 * https://docs.oracle.com/en/industries/health/millennium-platform-apis/mfrap/op-appointment-get.html
 */
const oracleRules: ServerHabits = {
  lacks: ['HealthcareService'],
  searches: {
    Schedule: ['_id', '_count'],
    Slot: ['_id', '_count', 'service-type', 'start', 'schedule.actor', '-location'],
    Appointment: ['_id', '_count', 'patient', 'practitioner', 'location', 'date'],
    Patient: ['_id', 'identifier', 'family', 'birthdate', 'phone', '_count'],
    Practitioner: ['_id', '_count'],
    PractitionerRole: ['_id', 'practitioner', '_count'],
    Location: ['_id', '_count'],
    Device: ['_id', 'patient'],
  },
  needs: {
    Schedule: [['_id']],
    Slot: [['_id'], ['service-type', 'start']],
    Appointment: [['_id'], ['patient', 'date'], ['practitioner', 'date'], ['location', 'date']],
  },
};
const oracleServer: FakeOptions = { checksAppointments: true, oneSlot: true, patchOnly: true, emptyBodies: true };
const oracleSettings: Partial<FhirSettings> = {
  slots: { require_service_type: true, search_by: 'schedule.actor' },
  booking: { mode: 'create', minimal_create: true },
  healthcare_services: [{ id: 'c', name: 'C', service_types: [{ system: 'urn:s', code: '1' }] }],
};
const withoutCount = Object.fromEntries(
  Object.entries(oracleRules.searches ?? {}).map(([type, names]) => [type, names.filter((it) => it !== '_count')]),
);

describe.each<[string, ServerHabits]>([
  ['as published', oracleRules],
  ['that lists no search parameters', { ...oracleRules, listsNothing: true }],
  ['that refuses `_count` too', { ...oracleRules, searches: withoutCount }],
])('an Oracle Health server %s', (_, habits) => {
  test('is read with the settings of the README', async () => {
    const server = await openServer(habits, oracleSettings, [], oracleServer);
    expect(await server.resources()).toEqual(['d1']);
    expect(await server.times()).toEqual(freeTimes);
    expect(await server.ofPatient('p1')).toEqual(['ok']);
    expect(await server.ofPatient('p2')).toEqual([]);
    expect(await server.ofResource('d1')).toEqual(['ok']);
    expect(await server.ofEverybody()).toEqual(['ok']);
    expect(await server.one('ok')).toEqual(['ok']);
  });

  test('is booked, also if a booking gets no answer', async () => {
    const { server, connector, ofPatient } = await openServer(habits, oracleSettings, [], oracleServer);
    const found = await connector.listTimeSlots?.({ careUnit: everybody, ...range, limit: 2 });
    const [first, second] = found ?? [];
    if (!first || !second) throw new Error('There are no free times');
    const [one] = await write(connector, [{ ...creation(first), patientId: 'p2' }]);
    server.misbehave = ({ method, path }) => (method === 'POST' && path === '/Appointment' ? 'cut_after' : undefined);
    const [two] = await write(connector, [{ ...creation(second), patientId: 'p2' }]);
    server.misbehave = () => undefined;
    expect(await ofPatient('p2')).toEqual([one?.id, two?.id].sort());
  });
});

describe('a care unit of an Oracle Health server that names a location', () => {
  const unit: ConfiguredCareUnit = { ...everybody, settings: { location: 'Location/12' } };
  const at = (location: string) => ({
    extension: [
      {
        url: 'https://fhir-ehr.cerner.com/r4/StructureDefinition/scheduling-location',
        valueReference: { reference: `Location/${location}` },
      },
    ],
  });
  const more = [
    { resourceType: 'Location', id: '12', status: 'active' },
    practitioner('d2', 'Dal'),
    { resourceType: 'Schedule', id: 's2', actor: [{ reference: 'Practitioner/d2' }] },
    slot('f3', 's2', booked, at('12')),
    slot('f4', 's2', new Date(booked.getTime() + 3_600_000), at('13')),
  ];

  test('has the practitioners and the times whose Slots are there', async () => {
    const server = await openServer(oracleRules, oracleSettings, more, { ...oracleServer, unit });
    expect(await server.resources()).toEqual(['d2']);
    expect(await server.times()).toEqual([booked.toISOString()]);
  });
});

test('a practitioner of an Oracle Health server without a free Slot stays known', async () => {
  const unit: ConfiguredCareUnit = { ...everybody, settings: { resources: ['d1'] } };
  const settings = { ...oracleSettings, directory_seconds: 0 };
  const { server, resources, ofResource } = await openServer(oracleRules, settings, [], { ...oracleServer, unit });
  expect(await resources()).toEqual(['d1']);
  for (const it of server.store.all('Slot')) server.store.remove(`Slot/${it.id}`);
  expect(await resources()).toEqual(['d1']);
  expect(await ofResource('d1')).toEqual(['ok']);
});

/** https://simplifier.net/guide/implementierungsleitfaden-isik-terminplanung */
const isikRules: ServerHabits = {
  lacks: ['PractitionerRole', 'Device'],
  searches: {
    Schedule: ['_id', '_count', 'active', 'service-type', 'specialty', 'actor'],
    Slot: ['_id', '_count', 'schedule', 'status', 'start'],
    Appointment: ['_id', '_count', 'status', 'service-type', 'specialty', 'date', 'slot', 'actor'],
  },
};

test.each<[string, ServerHabits]>([
  ['as published', isikRules],
  ['that lists no search parameters', { ...isikRules, listsNothing: true }],
  ['that refuses ids in a list', { ...isikRules, refusesIdLists: true }],
])('an ISiK server %s is read', async (_, habits) => {
  const settings: Partial<FhirSettings> = { booking: { mode: 'operations', operations: 'isik' } };
  const options: FakeOptions = { operations: 'isik', checksAppointments: true };
  const server = await openServer(habits, settings, [appointment('other', 'p2')], options);
  expect(await server.resources()).toEqual(['d1']);
  expect(await server.times()).toEqual(freeTimes);
  expect(await server.ofPatient('p1')).toEqual(['ok']);
  expect(await server.ofResource('d1')).toEqual(['ok', 'other']);
  expect(await server.ofEverybody()).toEqual(['ok', 'other']);
});
