import { plainHttp } from '@crossward/connector-kit/conformance';
import { describe, expect, test } from 'vitest';
import type { ServerHabits } from '../fake/habits.ts';
import { fhirR4Connector } from '../src/connector.ts';
import type { FhirSettings } from '../src/settings.ts';
import { appointment, everybody, openServer } from './published-servers.ts';
import { probeServer } from './subject.ts';

async function check(
  habits: ServerHabits,
  settings: Partial<FhirSettings> = {},
  more: Parameters<typeof openServer>[2] = [],
) {
  const { server, settings: all } = await openServer(habits, settings, more);
  const { findings, recommendedSettings } = await probeServer(all, [everybody]);
  const of = (name: string) => findings.find((it) => it.name === name);
  return { of, recommendedSettings, server, again: () => probeServer(all, [everybody]) };
}

test.each<[ServerHabits, RegExp]>([
  [{ refuses: ['_sort'] }, /searches for Slot: without _sort[;.]/],
  [{ refuses: ['Appointment._count'] }, /searches for Appointment: without _count/],
  [{ refuses: ['Slot.status'] }, /searches for Slot: without status/],
  [{ refuses: ['patient'] }, /Appointments of a patient: by actor/],
  [
    { needs: { Appointment: [['_id'], ['patient', 'date'], ['actor', 'date']] } },
    /Appointments of a patient: by patient, within a period/,
  ],
  [{ needs: { Schedule: [['_id']] } }, /Schedule: is found through free Slots/],
])('the check tells the habits %j', async (habits, words) => {
  const { of } = await check(habits);
  expect(of('habits')).toMatchObject({ status: 'note', detail: expect.stringMatching(words) });
});

test('the check finds how long a search for Slots may be, and the Slots are found with what it recommends', async () => {
  const { of, recommendedSettings } = await check({ longestSlotHours: 24 });
  expect(of('care unit north')).toMatchObject({ status: 'ok' });
  expect(recommendedSettings).toMatchObject({ slots: { longest_hours: 24 } });
});

test('the check of a server that follows FHIR tells no habit', async () => {
  const { of, recommendedSettings } = await check({});
  expect(of('habits')).toBeUndefined();
  expect(of('search for people')).toBeUndefined();
  expect(of('appointments')).toMatchObject({ status: 'ok' });
  expect(recommendedSettings).not.toHaveProperty('own_base_urls');
});

test('the check recommends to search for people by GET where the server takes no POST', async () => {
  const { of, recommendedSettings } = await check({ refusesPostedSearches: true });
  expect(of('search for people')).toMatchObject({ status: 'problem', detail: expect.stringContaining('URLs') });
  expect(recommendedSettings).toMatchObject({ patient_search: 'get' });
  const again = await check({ refusesPostedSearches: true }, { patient_search: 'get' });
  expect(again.of('search for people')).toBeUndefined();
});

test('the check recommends to search for people by POST where the server takes it alone', async () => {
  const { recommendedSettings, server, again } = await check({}, { patient_search: 'get' });
  expect(recommendedSettings).not.toHaveProperty('patient_search');
  server.misbehave = ({ method, query }) =>
    method === 'GET' && query.includes('crossward-check') ? { status: 400 } : undefined;
  const report = await again();
  expect(report.recommendedSettings).toMatchObject({ patient_search: 'post' });
});

test('the check proposes the base URLs by which the server names itself', async () => {
  const base = 'https://inside.example/fhir';
  const { of, recommendedSettings } = await check({ namesItself: base });
  expect(of('base URLs')).toMatchObject({ status: 'warning', detail: expect.stringContaining(base) });
  expect(recommendedSettings).toMatchObject({ own_base_urls: [base] });
  const again = await check({ namesItself: base }, { own_base_urls: [`${base}/`] });
  expect(again.of('base URLs')).toBeUndefined();
});

describe('the check of a server whose appointments name a patient by number', () => {
  const number = { system: 'https://fhir.nhs.uk/Id/nhs-number', value: '9449305552' };
  const byNumber = {
    ...appointment('x', 'p1'),
    start: new Date(Date.now() + 3_600_000).toISOString(),
    end: new Date(Date.now() + 7_200_000).toISOString(),
    participant: [
      { actor: { type: 'Patient', identifier: number }, status: 'accepted' },
      { actor: { reference: 'Practitioner/d1' }, status: 'accepted' },
    ],
  };

  test.each<[ServerHabits, Partial<FhirSettings>, 'patient' | 'actor' | undefined, string | undefined]>([
    [{}, {}, 'patient', 'warning'],
    [{ refuses: ['patient:identifier'] }, {}, 'actor', 'warning'],
    [{ refuses: ['patient:identifier', 'actor:identifier'] }, {}, undefined, 'warning'],
    [{}, { patient_identifier_search: 'patient' }, undefined, undefined],
  ])('%j with %j proposes %s', async (habits, settings, expected, status) => {
    const { of, recommendedSettings } = await check(habits, settings, [byNumber]);
    expect(recommendedSettings.patient_identifier_search).toBe(expected);
    expect(of('patients by number')?.status).toBe(status);
  });

  test('proposes nothing where the server ignores the parameter, or every appointment names a reference', async () => {
    const { server, again } = await check({}, {}, [byNumber]);
    const all = server.store.all('Appointment').map((resource) => ({ resource }));
    server.misbehave = ({ query }) =>
      query.includes('identifier') && query.includes('crossward-check') && query.includes('%3Aidentifier')
        ? { status: 200, body: { resourceType: 'Bundle', type: 'searchset', entry: all } }
        : undefined;
    expect((await again()).recommendedSettings).not.toHaveProperty('patient_identifier_search');
    expect((await check({})).of('patients by number')).toBeUndefined();
  });
});

test.each<[ServerHabits, boolean, boolean]>([
  [{}, true, true],
  [{ refuses: ['_lastUpdated'] }, true, false],
  // The statement lists parameters of every type, and not this one.
  [{ searches: { Appointment: ['_id', 'date', 'patient', 'actor', '_count', '_sort'] } }, false, false],
  [{ searches: { Appointment: ['_id', '_lastUpdated', 'date', 'patient', 'actor', '_count', '_sort'] } }, true, true],
])('the check of a server with the habits %j: claims changes %s, finds them %s', async (habits, isClaimed, isFound) => {
  const { connector } = await openServer(habits);
  expect(connector.listAppointmentChanges !== undefined).toBe(isClaimed);
  const { of } = await check(habits);
  const warning = expect.objectContaining({ status: 'warning', detail: expect.stringContaining('changes_seconds: 0') });
  expect(of('changes')).toEqual(isFound ? undefined : warning);
});

test('a server says what it is, and what has another shape is left out', async () => {
  const { server, settings } = await openServer({});
  const resource = [
    {
      type: 'Slot',
      interaction: [{ code: 'read' }, null, { code: 7 }],
      searchParam: {},
      operation: [{ name: '$find' }],
    },
    { type: 'Binary', interaction: 'read', operation: [{}] },
  ];
  const statement = { fhirVersion: '4.0.1', software: { name: 'Clinic', version: null }, rest: [{ resource }] };
  const body = { resourceType: 'CapabilityStatement', ...statement };
  server.misbehave = ({ path }) => (path === '/metadata' ? { status: 200, body } : undefined);
  const context = { emr: 'fhir', settings, careUnits: [everybody], http: plainHttp(), now: () => new Date() };
  expect(await fhirR4Connector.describe?.(context)).toMatchObject({
    ...{ software: ['Clinic'], FHIR: ['4.0.1'], Slot: ['read', '$find'], Binary: [], Patient: [] },
  });
});

test('the check names the version of a server that speaks no R4', async () => {
  const { server, again } = await check({});
  const metadata = { resourceType: 'CapabilityStatement', fhirVersion: '3.0.2' };
  server.misbehave = ({ path }) => (path === '/metadata' ? { status: 200, body: metadata } : undefined);
  const { findings } = await again();
  expect(findings.at(-1)).toEqual({
    name: 'CapabilityStatement',
    status: 'problem',
    detail: 'The EHR speaks FHIR 3.0.2; this connector needs R4 (4.0) or R4B (4.3).',
  });
});
