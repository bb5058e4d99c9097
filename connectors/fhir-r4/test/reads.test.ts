import type { Connector, EhrHttp } from '@crossward/connector-kit';
import { describe, expect, test } from 'vitest';
import type { FakeOptions } from '../fake/server.ts';
import type { FhirAppointment, FhirPatient, FhirResource, FhirSlot } from '../src/fhir.ts';
import { resourceReference } from '../src/mappers/resource.ts';
import { createFhirClient } from '../src/server/create.ts';
import type { FhirSettings } from '../src/settings.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { expireHold } from './expire-hold.ts';
import { startFake } from './fake.ts';
import { north, openConnector, settingsFor, south } from './subject.ts';

async function open(options: FakeOptions = {}, settings: Partial<FhirSettings> = {}) {
  const server = await startFake({ data: { days: 14 }, ...options });
  return { server, connector: await openConnector(settingsFor(server.url, settings)) };
}

const number = { type: 'se_personal_number', value: '191212121212' } as const;
const all = { start: new Date(), end: new Date(Date.now() + 15 * 24 * 60 * 60 * 1000), limit: 10_000 };

describe('a patient', () => {
  test('is searched with POST, so that no URL contains the number', async () => {
    const { server, connector } = await open();
    expect(await connector.findPatient?.(number)).toMatchObject({ id: 'p-1' });
    expect(server.seen.some(({ path, query }) => `${path}${query}`.includes(number.value))).toBe(false);
    expect(server.seen.at(-1)).toMatchObject({ method: 'POST', path: '/Patient/_search' });
  });

  test('is not returned if several match, unless the others are replaced', async () => {
    const { server, connector } = await open();
    const { id: _, ...twin } = server.store.get('Patient/p-1');
    const saved = server.store.save(twin as FhirResource);
    await expect(connector.findPatient?.(number)).rejects.toMatchObject({ kind: 'patient_ambiguous' });
    const merged = { ...saved, link: [{ type: 'replaced-by', other: { reference: 'Patient/p-1' } }] };
    server.store.save(merged as unknown as FhirPatient);
    expect(await connector.findPatient?.(number)).toMatchObject({ id: 'p-1' });
  });

  test.each([
    [404, null],
    [410, null],
  ])('is null when the server responds with %i', async (status, result) => {
    const { server, connector } = await open();
    server.misbehave = ({ path }) => (path === '/Patient/p-1' ? { status } : undefined);
    expect(await connector.findPatient?.({ type: 'emr_id', value: 'p-1' })).toBe(result);
  });
});

test.each(['.', '..'])('the id %s finds nothing and sends no request', async (id) => {
  const { server, connector } = await open();
  await connector.listResources?.(north);
  server.seen.splice(0);
  expect(await connector.findPatient?.({ type: 'emr_id', value: id })).toBeNull();
  expect(await connector.findAppointments?.(north, [id])).toEqual([]);
  expect(await connector.listAppointments?.({ careUnit: north, patientId: id, limit: 10 })).toEqual([]);
  expect(resourceReference(id)).toBeUndefined();
  expect(server.seen).toEqual([]);
});

describe('an error response', () => {
  const diagnostics = 'Tolvan Tolvansson 191212121212';
  const outcome = (code: string) => ({
    resourceType: 'OperationOutcome',
    issue: [{ severity: 'error', code, diagnostics, details: { text: diagnostics } }],
  });

  test.each([
    [400, 'invalid', 'rejected'],
    [403, 'forbidden', 'rejected'],
    [404, 'not-supported', 'unsupported'],
    [501, 'not-supported', 'unsupported'],
    [429, 'throttled', 'unavailable'],
    [503, 'transient', 'unavailable'],
    [200, 'processing', 'rejected'],
  ])('%i with the code %s is %s, and the error message omits the diagnostics', async (status, code, kind) => {
    const { server, connector } = await open();
    server.misbehave = () => ({ status, headers: { 'retry-after': '7' }, body: outcome(code) });
    const error = await connector.findPatient?.(number).catch((it: unknown) => it);
    expect(error).toMatchObject({ kind });
    if (kind === 'unavailable') expect(error).toMatchObject({ retryAfterSeconds: 7 });
    expect(String(error)).toContain(code);
    expect(JSON.stringify(error) + String(error)).not.toContain('1912');
  });

  test('a response that is not FHIR is rejected', async () => {
    const { server, connector } = await open();
    server.misbehave = () => ({ status: 200, body: { hello: 'proxy' } });
    await expect(connector.findPatient?.(number)).rejects.toMatchObject({ kind: 'rejected' });
  });
});

test('a response with another resource type than requested is rejected', async () => {
  const { server, connector } = await open();
  const body = server.store.get('Practitioner/r-1');
  server.misbehave = ({ path }) => (path === '/Patient/p-1' ? { status: 200, body } : undefined);
  const read = connector.findPatient?.({ type: 'emr_id', value: 'p-1' });
  await expect(read).rejects.toMatchObject({ kind: 'rejected', message: expect.stringContaining('Patient') });
});

describe('the link to the next page', () => {
  function clientFor(next: string) {
    const requested: string[] = [];
    const http: Pick<EhrHttp, 'send'> = {
      async send({ url }) {
        requested.push(url);
        const link = requested.length === 1 ? [{ relation: 'next', url: next }] : [];
        const bundle = { resourceType: 'Bundle', type: 'searchset', link };
        return { status: 200, headers: {}, text: JSON.stringify(bundle) };
      },
    };
    const authorizer = { headers: async () => ({ authorization: 'Bearer t0ken' }) };
    const baseUrl = 'https://ehr.example/fhir';
    return {
      requested,
      client: createFhirClient({
        baseUrl,
        http: http as EhrHttp,
        authorizer,
        preferStrict: false,
        now: () => new Date(),
      }),
    };
  }

  test.each([
    'https://ehr.example/fhir/Slot?page=2',
    'http://inner.example:8080/fhir/Slot?page=2',
    '/fhir/Slot?page=2',
    'Slot?page=2',
  ])('%s is requested from the base URL of the EHR', async (next) => {
    const { requested, client } = clientFor(next);
    await client.search('Slot', [['_id', 's-1']]);
    expect(requested).toEqual(['https://ehr.example/fhir/Slot?_id=s-1', 'https://ehr.example/fhir/Slot?page=2']);
  });

  test.each(['https://elsewhere.example/pages/2', 'https://elsewhere.example/fhirs/Slot', 'https://['])(
    '%s is not followed',
    async (next) => {
      const { requested, client } = clientFor(next);
      await expect(client.search('Slot', [['_id', 's-1']])).rejects.toMatchObject({ kind: 'rejected' });
      expect(requested).toHaveLength(1);
    },
  );
});

describe('time slots', () => {
  const slots = async (connector: Connector) => (await connector.listTimeSlots?.({ ...all, careUnit: north })) ?? [];

  test('are the same for every form of search and every size and order of pages', async () => {
    const { connector } = await open();
    const expected = await slots(connector);
    expect(expected.length).toBeGreaterThan(300);
    for (const [options, settings] of [
      [{ pageSize: 7 }, {}],
      [{ pageSize: 7, shufflesPages: true }, {}],
      [{ pageSize: 7, sortsById: false }, {}],
      [{ requiresServiceType: true }, { slots: { require_service_type: true } }],
      [{}, { slots: { search_by: 'schedule.actor' } }],
      [{ rejectsChaining: true }, { slots: { search_by: 'schedule', page_size: 13 } }],
      [{}, { prefer_handling_strict: true, patient_search: 'get' }],
    ] as const) {
      const { connector: other } = await open(options, settings);
      expect(await slots(other)).toEqual(expected);
    }
  });

  test('are sorted and unique even if the server repeats slots and ignores the sort order', async () => {
    const { server, connector } = await open();
    const expected = await slots(connector);
    const search = server.store.search.bind(server.store);
    server.store.search = (type, parameters, options) => {
      const found = search(type, parameters, options);
      return type === 'Slot' ? [...found, ...found].reverse() : found;
    };
    expect(await slots(connector)).toEqual(expected);
  });

  test("are never served from the server's cache", async () => {
    const { server, connector } = await open({ cachesSearches: true });
    // A fixed start, so that both searches are identical.
    const query = { ...all, start: new Date(Date.now() + 24 * 60 * 60 * 1000), careUnit: north };
    const before = (await connector.listTimeSlots?.(query)) ?? [];
    for (const slot of server.store.all('Slot')) server.store.save({ ...slot, status: 'busy' } as FhirResource);
    expect([before.length > 0, await connector.listTimeSlots?.(query)]).toEqual([true, []]);
  });

  test('begin in working hours of local time', async () => {
    const { connector } = await open();
    const hours = (await slots(connector)).map(({ start }) =>
      start.toLocaleTimeString('sv-SE', { timeZone: north.timeZone }).slice(0, 2),
    );
    expect([...new Set(hours)].sort()).toEqual(['08', '09', '10', '11', '13', '14']);
  });
});

describe('a care unit', () => {
  test('has the practitioners, rooms and devices whose schedule, role or location belongs to it', async () => {
    const { connector } = await open();
    const ids = async (unit: typeof north | typeof south) =>
      (await connector.listResources?.(unit))?.map(({ id, kind }) => `${id} ${kind}`);
    expect(await ids(north)).toEqual([
      'device_scanner-1 device',
      'location_room-1 room',
      'r-1 practitioner',
      'r-2 practitioner',
    ]);
    expect(await ids(south)).toEqual(['r-3 practitioner']);
  });

  test('with a configured list of resources has those, scheduled directly or through a role', async () => {
    const { server } = await open();
    const unit = { ...north, settings: { resources: ['r-1', 'r-2', 'location_room-1'] } };
    const connector = await openConnector(settingsFor(server.url), undefined, [unit]);
    const resources = await connector.listResources?.(unit);
    expect(resources?.map(({ id }) => id)).toEqual(['location_room-1', 'r-1', 'r-2']);
    const [slot] = await freeSlots(connector, 1, 'r-2');
    const [made] = await write(connector, [creation(slot)]);
    expect(made).toMatchObject({ resourceId: 'r-2', state: 'booked' });
  });

  test('has the HealthcareServices of the server if none are configured', async () => {
    const { server } = await open();
    // One coding has no system, and one no code.
    const odd = [{ code: 'K1' }, { system: 'https://ehr.example/other' }];
    const type = [{ coding: [{ system: 'https://ehr.example/service-types', code: 'consultation' }, ...odd] }];
    server.store.save({ resourceType: 'HealthcareService', id: 'h-1', name: 'Konsultation', type } as FhirResource);
    const { healthcare_services: _, ...settings } = settingsFor(server.url);
    const connector = await openConnector(settings);
    const codes = [
      { system: 'https://ehr.example/service-types', code: 'consultation', display: null },
      { system: null, code: 'K1', display: null },
    ];
    const service = { id: 'h-1', name: 'Konsultation', durationMinutes: null, codes };
    expect(await connector.listHealthcareServices?.(north)).toEqual([service]);
    const [slot] = (await connector.listTimeSlots?.({ ...all, careUnit: north, limit: 1 })) ?? [];
    if (!slot) throw new Error('No free slot');
    const [made] = await write(connector, [creation(slot)]);
    expect(made).toMatchObject({ healthcareServiceId: 'h-1' });
  });
});

describe('appointments made directly in the EHR', () => {
  const foreign = (status: string, more: object = {}): FhirAppointment => ({
    resourceType: 'Appointment',
    status,
    start: '2031-01-01T09:00:00+01:00',
    minutesDuration: 20,
    participant: [
      { actor: { reference: 'Patient/p-2' }, status: 'accepted' },
      { actor: { reference: 'Practitioner/r-1' }, status: 'accepted' },
    ],
    ...more,
  });

  test('are listed for a practitioner if they name the role', async () => {
    const { server, connector } = await open();
    const ofRole = server.store.save({
      ...foreign('booked'),
      participant: [
        { actor: { reference: 'Patient/p-2' }, status: 'accepted' },
        { actor: { reference: 'PractitionerRole/role-2' }, status: 'accepted' },
      ],
    } as FhirAppointment);
    server.store.save(foreign('booked'));
    const listed = await connector.listAppointments?.({ careUnit: north, resourceId: 'r-2', limit: 10 });
    expect(listed).toMatchObject([{ id: ofRole.id, resourceId: 'r-2' }]);
  });

  test('that name a role can be moved to another resource', async () => {
    const { server, connector } = await open();
    const [slot] = await freeSlots(connector, 1, 'r-1');
    const { id: appointmentId = '' } = server.store.save({
      ...foreign('booked'),
      start: slot?.start.toISOString(),
      end: slot?.end.toISOString(),
      slot: [{ reference: `Slot/slot-r-2-${(slot?.start.getTime() ?? 0) / 60_000}` }],
      participant: [
        { actor: { reference: 'Patient/p-2' }, status: 'accepted' },
        { actor: { reference: 'PractitionerRole/role-2' }, status: 'accepted' },
      ],
    } as FhirAppointment);
    const [moved] = await write(connector, [{ kind: 'update', appointmentId, resourceId: 'r-1' }]);
    expect(moved).toMatchObject({ id: appointmentId, resourceId: 'r-1', patientId: 'p-2' });
    expect(JSON.stringify(server.store.get(`Appointment/${appointmentId}`))).not.toContain('role-2');
  });

  test("are listed with the gateway's statuses", async () => {
    const { server, connector } = await open();
    for (const status of ['arrived', 'noshow', 'waitlist', 'booked']) server.store.save(foreign(status));
    server.store.save({
      ...foreign('booked'),
      participant: [{ actor: { reference: 'Practitioner/r-1' } }],
    } as FhirAppointment);
    const listed = await connector.listAppointments?.({ careUnit: north, patientId: 'p-2', limit: 10 });
    expect(listed?.map(({ state }) => state).sort()).toEqual(['booked', 'booked', 'cancelled', 'pending']);
    expect(listed?.[0]?.end).toEqual(new Date('2031-01-01T08:20:00Z'));
    const booked = await connector.listAppointments?.({
      careUnit: north,
      resourceId: 'r-1',
      states: ['pending'],
      limit: 10,
    });
    expect(booked).toHaveLength(1);
  });

  test('with the same start are each listed once, even if the server has no stable order', async () => {
    for (const options of [{}, { shufflesPages: true }, { sortsById: false }]) {
      const { server, connector } = await open({ pageSize: 20, ...options });
      for (let count = 0; count < 45; count++) server.store.save(foreign('noshow'));
      const query = { careUnit: north, patientId: 'p-2' };
      const listed = (await connector.listAppointments?.({ ...query, limit: 100 })) ?? [];
      expect(new Set(listed.map(({ id }) => id)).size).toBe(45);
      const after = listed[9];
      expect(await connector.listAppointments?.({ ...query, after, limit: 30 })).toEqual(listed.slice(10, 40));
    }
  });

  test('that are pending in the EHR cannot be confirmed', async () => {
    const { server, connector } = await open();
    const { id: appointmentId = '' } = server.store.save(foreign('proposed'));
    await expect(write(connector, [{ kind: 'confirm', appointmentId }])).rejects.toMatchObject({
      kind: 'appointment_not_held',
    });
  });

  test('keep elements that the connector does not know when they change', async () => {
    const { server, connector } = await open();
    const extension = [{ url: 'https://ehr.example/colour', valueString: 'green' }];
    const { id: appointmentId = '' } = server.store.save(foreign('booked', { extension, priority: 5 }));
    await write(connector, [{ kind: 'update', appointmentId, comment: 'new' }]);
    expect(server.store.get(`Appointment/${appointmentId}`)).toMatchObject({ extension, priority: 5, comment: 'new' });
  });
});

describe('an expired hold', () => {
  test('frees its slot, and is cancelled by the next booking of that slot', async () => {
    for (const options of [{}, { transactions: 'none' }] as const) {
      const { server, connector } = await open(options);
      const [slot] = await freeSlots(connector, 1);
      const [held] = await write(connector, [creation(slot, new Date(Date.now() + 600_000))]);
      expect(held).toMatchObject({ state: 'held' });
      expect((await freeSlots(connector, 1))[0]?.start).not.toEqual(slot?.start);
      expireHold(server, held?.id ?? '');
      expect((await freeSlots(connector, 1))[0]).toEqual(slot);
      await write(connector, [creation(slot)]);
      const swept = server.store.get(`Appointment/${held?.id}`) as unknown as FhirAppointment;
      expect(swept.status).toBe('cancelled');
      expect(swept.extension?.some(({ url }) => url === 'urn:crossward:held-until')).not.toBe(true);
    }
  });

  test('of an interrupted write is busy if its appointment exists, and free otherwise', async () => {
    const { server, connector } = await open({ transactions: 'none' });
    const [slot] = await freeSlots(connector, 1);
    const [made] = await write(connector, [creation(slot)]);
    const reference = `Slot/slot-r-1-${(slot?.start.getTime() ?? 0) / 60_000}`;
    const claimed = (owner: string) =>
      server.store.save({
        ...(server.store.get(reference) as unknown as FhirSlot),
        status: 'busy-tentative',
        extension: [
          {
            url: 'urn:crossward:slot-claim',
            extension: [
              { url: 'owner', valueString: owner },
              { url: 'until', valueInstant: new Date(Date.now() - 1000).toISOString() },
            ],
          },
        ],
      } as FhirSlot);
    claimed(`Appointment/${made?.id}`);
    expect((await freeSlots(connector, 1))[0]?.start).not.toEqual(slot?.start);
    await expect(write(connector, [creation(slot)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
    // Whoever claimed the slot, an active appointment that names it keeps it.
    claimed('unknown-operation');
    await expect(write(connector, [creation(slot)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
    server.store.remove(`Appointment/${made?.id}`);
    claimed('unknown-operation');
    expect((await freeSlots(connector, 1))[0]).toEqual(slot);
    expect(await write(connector, [creation(slot)])).toMatchObject([{ state: 'booked' }]);
  });
});

test('a list of slots that is longer than a page is whole where a result that is not stored has one page', async () => {
  const { connector: unpaged } = await open();
  const { connector } = await open({ cachesSearches: true, pageSize: 12 });
  const listed = await connector.listTimeSlots?.({ ...all, careUnit: north });
  const expected = await unpaged.listTimeSlots?.({ ...all, careUnit: north });
  expect(listed?.length).toBeGreaterThan(12);
  expect(listed).toEqual(expected);
});

describe('a search for a few slots', () => {
  test('is not cached by the server, and finds all of them', async () => {
    const { server, connector } = await open({ cachesSearches: true, pageSize: 12 });
    const cacheControls: string[] = [];
    server.misbehave = ({ headers, path }) => {
      if (path.startsWith('/Patient')) cacheControls.push(String(headers['cache-control']));
      return undefined;
    };
    await connector.findPatient?.(number);
    expect(cacheControls).toEqual(['no-store']);
    // More parallel slots than one page of the server holds.
    const [slot] = await freeSlots(connector, 1);
    const { start, end } = slot as { start: Date; end: Date };
    const model = server.store.all('Slot').find((it) => Date.parse(String(it.start)) === start.getTime());
    const busy = { ...model, status: 'busy', start: start.toISOString(), end: end.toISOString() };
    for (let index = 0; index < 30; index++) {
      // They come before the free slot.
      server.store.save({
        ...busy,
        schedule: { reference: 'Schedule/schedule-r-1' },
        id: `a-${index}`,
      } as FhirResource);
    }
    const [booked] = await write(connector, [creation(slot)]);
    expect(booked).toMatchObject({ state: 'booked', start });
  });
});
