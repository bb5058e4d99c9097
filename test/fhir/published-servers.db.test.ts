import { afterAll, expect, test } from 'vitest';
import type { ServerHabits } from '../../connectors/fhir-r4/fake/habits.ts';
import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import type { FhirSettings } from '../../connectors/fhir-r4/src/settings.ts';
import { people, range } from '../../connectors/fhir-r4/test/published-servers.ts';
import type { Configuration } from '../../server/src/config/configuration.ts';
import { startGateway } from '../gateway/gateway.ts';
import { fhirEhr } from './fhir-ehr.ts';

const visit = { id: 'visit', name: 'Visit' };
const { id: _, ...withoutId } = { ...people.find(({ resourceType }) => resourceType === 'Appointment') };

const noServices = { healthcare_services: undefined } as unknown as Partial<FhirSettings>;

/** Servers, each with a habit of some that are published. */
const servers: Readonly<Record<string, readonly [ServerHabits, Partial<FhirSettings>?]>> = {
  'appointment-without-id': [{ surplus: [{ resource: withoutId }] }],
  bom: [{ byteOrderMark: true }],
  'empty-is-404': [{ empty: 404 }],
  'missing-is-400': [{ absent: 400 }],
  'rejects-sort': [{ refuses: ['_sort'] }],
  'no-service': [{ lacks: ['HealthcareService'] }, noServices],
  oracle: [
    {
      lacks: ['HealthcareService'],
      searches: {
        Schedule: ['_id'],
        Slot: ['_id', 'service-type', 'start', 'schedule.actor', '-location'],
        Appointment: ['_id', 'patient', 'practitioner', 'location', 'date'],
      },
      needs: {
        Schedule: [['_id']],
        Slot: [['_id'], ['service-type', 'start']],
        Appointment: [['_id'], ['patient', 'date'], ['practitioner', 'date'], ['location', 'date']],
      },
    },
    {
      healthcare_services: [{ ...visit, service_types: [{ system: 'urn:s', code: '1' }] }],
      slots: { require_service_type: true, search_by: 'schedule.actor' },
      booking: { mode: 'create', minimal_create: true },
    },
  ],
  isik: [
    {
      searches: {
        Schedule: ['active', 'service-type', 'specialty', 'actor'],
        Slot: ['schedule', 'status', 'start'],
        Appointment: ['status', 'service-type', 'specialty', 'date', 'slot', 'actor'],
      },
    },
    { booking: { mode: 'operations', operations: 'isik' } },
  ],
};

const old = await startFake({ data: people, habits: { fhirVersion: '3.0.2' }, transactions: 'none' });
const fakes = await Promise.all(
  Object.entries(servers).map(async ([id, [habits, settings = {}]]) => {
    const fake = await startFake({ data: people, habits, transactions: 'none', plainWrites: false });
    return { id, fake, settings: { healthcare_services: [visit], ...settings } };
  }),
);
const gateway = await startGateway({
  configure: (demo) =>
    withOneCareUnit(demo, [
      ...fakes.map(({ id, fake, settings }) => fhirEhr(id, fake, settings)),
      fhirEhr('old', old, { healthcare_services: [visit] }),
    ]),
});
afterAll(async () => {
  await gateway.close();
  await Promise.all([old.close(), ...fakes.map(({ fake }) => fake.close())]);
});

/** In each EHR, one care unit that has everybody. */
function withOneCareUnit(demo: Configuration, emrs: readonly ReturnType<typeof fhirEhr>[]): Configuration {
  const grants = emrs.map(({ id }) => ({ emr: id, care_units: ['north'] }));
  return {
    ...demo,
    emrs: emrs.map((emr) => ({
      ...emr,
      care_units: emr.care_units.slice(0, 1).map((it) => ({ ...it, settings: {} })),
    })),
    clients: demo.clients.map((client) => ({ ...client, grants })),
  };
}

const get = (emr: string, path: string) =>
  gateway.request<Record<string, readonly { readonly id: string }[]>>(
    'GET',
    `/api/emrs/${emr}/care-units/north${path}`,
  );
const period = new URLSearchParams({ start: range.start.toISOString(), end: range.end.toISOString() });

test.each(Object.keys(servers))('what a caller asks of the server "%s" is answered', async (emr) => {
  const ids = async (path: string, list: string) => {
    const { status, body } = await get(emr, path);
    expect([status, path]).toEqual([200, path]);
    return body[list]?.map(({ id }) => id);
  };
  expect(await ids('/resources', 'resources')).toEqual(['emr_id:d1']);
  expect(await ids('/appointments?patient_id=p1', 'appointments')).toEqual(['ok']);
  expect(await ids('/appointments?patient_id=p2', 'appointments')).toEqual([]);
  expect(await ids(`/appointments?resource_id=d1&${period}`, 'appointments')).toEqual(['ok']);
  expect((await get(emr, `/timeslots?${period}`)).body).toMatchObject({ timeslots: [{}, {}] });
  expect(await get(emr, '/patients/p1')).toMatchObject({ status: 200 });
  expect(await get(emr, '/patients/nobody')).toMatchObject({ status: 404, body: { reason: 'patient_not_found' } });
  expect(await get(emr, '/appointments/nothing')).toMatchObject({ status: 404 });
});

test('a server of another version is not used, and the caller is told why', async () => {
  for (const path of ['/patients/p1', '/appointments?patient_id=p1', '/resources']) {
    const response = await get('old', path);
    expect(response).toMatchObject({ status: 503, body: { reason: 'ehr_unavailable' } });
    expect(response.body).toMatchObject({ detail: expect.stringContaining('FHIR 3.0.2, and not R4') });
  }
});
