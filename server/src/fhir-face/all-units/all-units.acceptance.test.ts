/** @module-tag any-database */
import type { Connector } from '@crossward/connector-kit';
import { ConnectorError } from '@crossward/connector-kit';
import { MedplumClient } from '@medplum/core';
import type {
  Appointment,
  Bundle,
  CapabilityStatement,
  OperationOutcome,
  Resource,
  Schedule,
  Slot,
} from '@medplum/fhirtypes';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { wrapConnector } from '../../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { oslo, sodermalm } from '../../../../test/requests/bookings.ts';
import { codeFor } from '../../../../test/requests/codes.ts';
import { auditEntries } from '../../audit/test-audit.ts';
import { createDb } from '../../db/kysely.ts';
import { bookingOf, fhirClient, issueIn, parameters } from '../test-requests.ts';

/** Searches of EHRs, and those that fail. */
const ehrs = { calls: [] as string[], fail: new Set<string>() };

function watched(connector: Connector, emr: string): Connector {
  return {
    ...connector,
    async listTimeSlots(query) {
      ehrs.calls.push(emr);
      if (ehrs.fail.has(emr)) throw new ConnectorError('unavailable', 'The test lets it fail');
      return (await connector.listTimeSlots?.(query)) ?? [];
    },
  };
}

const gateway = await startGateway({
  connectors: [wrapConnector(watched)],
  configure: (configuration) => ({
    ...configuration,
    services: [
      {
        code: 'talk',
        name: 'A talk',
        healthcare_services: [
          { emr: 'sandbox-no', ids: ['consultation'] },
          { emr: 'sandbox-se', ids: ['consultation'] },
        ],
      },
    ],
    limits: { ...configuration.limits, requests_per_minute: 100_000 },
  }),
});
afterAll(() => gateway.close());
beforeEach(() => ehrs.fail.clear());

const everywhere = fhirClient(gateway, '/api');
const find = <Found extends Resource = Resource>(path: string, options = {}) =>
  everywhere.get<Bundle<Found>>(path, options);
const matches = <Found extends Resource>({ entry = [] }: Bundle<Found>) =>
  entry.filter(({ search }) => search?.mode === 'match').map(({ resource }) => resource as Found);
const outcomes = ({ entry = [] }: Bundle) =>
  entry
    .filter(({ search }) => search?.mode === 'outcome')
    .flatMap(({ resource }) => (resource as OperationOutcome).issue ?? []);
const start = new Date(Date.now() + 7 * 86_400_000).toISOString();
const talks = `/Slot?service-type=talk&start=ge${start}`;

/** The first free Slots of care units, by the name of the care unit. */
async function firstSlotOf(name: string): Promise<Slot> {
  const { body: places } = await find(`/Location?name=${encodeURIComponent(name)}`);
  const { body } = await find<Slot>(`${talks}&schedule.actor=Location/${matches(places)[0]?.id}&_count=1`);
  const [slot] = matches(body);
  if (!slot) throw new Error(`No slot at ${name}`);
  return slot;
}

test('the statement of the base URL says what it has, and is valid', async () => {
  const { body, status } = await everywhere.get<CapabilityStatement>('/metadata', { client: null });
  expect(status).toBe(200);
  const offered = new Map(body.rest?.[0]?.resource?.map((it) => [it.type, it.interaction?.map(({ code }) => code)]));
  expect(offered.get('Slot')).toEqual(['read', 'search-type']);
  expect(offered.get('Patient')).toEqual(['read']);
  expect(offered.get('Appointment')).toEqual(['read', 'create', 'update', 'patch']);
  expect((await everywhere.get('/.well-known/smart-configuration', { client: null })).status).toBe(200);
  const known = await everywhere.get<CapabilityStatement>('/metadata');
  expect(known.body.implementation?.url).toBe(`http://127.0.0.1:${gateway.port}/api/fhir-r4`);
});

describe('a search', () => {
  const types = [
    'Practitioner',
    'PractitionerRole',
    'Organization',
    'Location',
    'Device',
    'HealthcareService',
    'Schedule',
  ];
  test.each(types)('for %s lists those of all care units, each of which can be read', async (type) => {
    const { body } = await find(`/${type}?_count=500`);
    const found = matches(body);
    const own = await Promise.all(
      [oslo, sodermalm].map((it) => fhirClient(gateway, it).get<Bundle>(`/${type}?_count=500`)),
    );
    expect(found.length).toBeGreaterThanOrEqual(own.flatMap((it) => matches(it.body)).length);
    for (const resource of [found[0], found.at(-1)]) {
      if (!resource) continue;
      const read = await everywhere.get<Resource>(`/${type}/${resource.id}`);
      expect(read.body).toMatchObject({ resourceType: type, id: resource.id });
      const byId = await find(`/${type}?_id=${resource.id}`);
      expect(matches(byId.body).map(({ id }) => id)).toEqual([resource.id]);
    }
    expect((await everywhere.get(`/${type}/unknown`)).status).toBe(404);
    expect(matches((await find(`/${type}?_id=unknown`)).body)).toEqual([]);
  });

  test('of Slots finds the first free times of a service anywhere, page by page, in their order', async () => {
    const { body: whole } = await find<Slot>(`${talks}&_count=60`);
    const all = matches(whole);
    expect(all.length).toBe(60);
    expect(new Set(all.map(({ id }) => id?.split('.')[0])).size).toBeGreaterThan(2);
    const starts = all.map((it) => Date.parse(it.start));
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
    const paged: (string | undefined)[] = [];
    let path = `${talks}&_count=25`;
    while (paged.length < 60) {
      const { body } = await find<Slot>(path);
      paged.push(...matches(body).map(({ id }) => id));
      path = body.link?.find(({ relation }) => relation === 'next')?.url.split('/api/fhir-r4')[1] ?? '';
    }
    expect(paged.slice(0, 60)).toEqual(all.map(({ id }) => id));
    const [first] = all;
    expect(first?.meta?.extension?.[0]?.url).toContain('lastSourceSync');
    const read = await everywhere.get<Slot>(`/Slot/${first?.id}`);
    expect(read.body).toMatchObject({ id: first?.id, status: 'free', schedule: first?.schedule });
  });

  test('includes Schedules and their actors, which can be named in the next search', async () => {
    const { body } = await find(`${talks}&_count=5&_include=Slot:schedule&_include:iterate=Schedule:actor`);
    const included = (body.entry ?? []).filter(({ search }) => search?.mode === 'include');
    expect(new Set(included.map(({ resource }) => resource?.resourceType))).toEqual(
      new Set(['Schedule', 'Practitioner', 'HealthcareService', 'Location']),
    );
    const slot = matches(body)[0] as Slot;
    const ofSchedule = await find<Slot>(`/Slot?schedule=${slot.schedule?.reference}&start=ge${start}&_count=3`);
    expect(matches(ofSchedule.body)[0]?.id).toBe(slot.id);
    expect(new Set(matches(ofSchedule.body).map((it) => it.schedule?.reference))).toEqual(
      new Set([slot.schedule?.reference]),
    );
    const both = await find<Slot>(`/Slot?_id=${slot.id},unknown`);
    expect(matches(both.body).map((it) => [it.id, it.status])).toEqual([[slot.id, 'free']]);
    const posted = await gateway.request<Bundle<Slot>>('POST', '/api/fhir-r4/Slot/_search', {
      body: new URLSearchParams({ schedule: slot.schedule?.reference ?? '', start: `ge${start}` }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(matches(posted.body)[0]?.id).toBe(slot.id);
  });

  test('asks the EHR only for what is older than the client takes', async () => {
    await find(`${talks}&_count=2`, { headers: { 'cache-control': 'max-age=0' } });
    ehrs.calls = [];
    await find(`${talks}&_count=2`, { headers: { 'cache-control': 'max-age=600' } });
    expect(ehrs.calls).toEqual([]);
    await find(`${talks}&_count=2`, { headers: { 'cache-control': 'no-cache' } });
    expect(ehrs.calls.length).toBeGreaterThan(0);
  });

  test('with what is not offered is refused', async () => {
    expect((await find('/Slot?colour=red')).status).toBe(400);
    expect((await find('/Slot?start=tomorrow')).status).toBe(400);
    expect((await find('/Slot?start=ge2030-01-01&start=lt2030-12-01')).status).toBe(400);
    for (const type of ['Appointment', 'Patient'])
      expect((await find(`/${type}?_id=p-1`)).status).toBeOneOf([404, 405]);
  });
});

describe('a client', () => {
  test('sees the care units that it is granted only', async () => {
    const { body } = await find('/Location', { client: 'narrowed' });
    const all = await find('/Location');
    const [hidden] = matches(all.body).filter(({ id }) => !matches(body).some((it) => it.id === id));
    expect(matches(body).length).toBeGreaterThan(0);
    expect((await everywhere.get(`/Location/${hidden?.id}`, { client: 'narrowed' })).status).toBe(404);
    expect(matches((await find(`/Location?_id=${hidden?.id}`, { client: 'narrowed' })).body)).toEqual([]);
  });

  test('needs credentials and a scope', async () => {
    for (const path of ['/Slot', '/Location', '/Schedule/x', '/Appointment/x']) {
      expect((await everywhere.get(path, { client: null })).status, path).toBe(401);
      expect((await everywhere.get(path, { client: 'notes:read' })).status, path).toBe(403);
    }
  });

  test('of Medplum reads it', async () => {
    const { id, secret } = gateway.credentials('everything');
    const client = new MedplumClient({
      baseUrl: `http://127.0.0.1:${gateway.port}/`,
      fhirUrlPath: 'api/fhir-r4/',
      defaultHeaders: { 'x-service-client-id': id, 'x-service-client-secret': secret },
    });
    const slots = await client.searchResources('Slot', `service-type=talk&start=ge${start}&_count=3`);
    expect(slots.length).toBe(3);
    const schedule = await client.readReference(slots[0]?.schedule ?? {});
    expect(schedule.resourceType).toBe('Schedule');
  });
});

describe('an Appointment', () => {
  test('is booked at the care unit that its Slot names, once, and read, changed and cancelled by its id', async () => {
    const slot = await firstSlotOf('Oslo');
    const patient = `http://127.0.0.1:${gateway.port}${oslo}/fhir-r4/Patient/p-2`;
    const booking: Appointment = {
      ...bookingOf(slot),
      identifier: [{ system: 'urn:oid:1.2.3', value: 'anywhere' }],
      participant: [{ actor: { reference: patient }, status: 'accepted' }],
    };
    const once = {
      'if-none-exist': `http://127.0.0.1:${gateway.port}/api/fhir-r4/Appointment?identifier=urn:oid:1.2.3|anywhere`,
    };
    const valid = await everywhere.post<OperationOutcome>('/Appointment/$validate', booking);
    expect(valid.body.issue?.[0]?.severity).toBe('information');
    const made = await everywhere.post('/Appointment', booking, once);
    expect(made.status).toBe(201);
    const { id = '' } = made.body;
    expect(made.headers.location).toContain(`/api/fhir-r4/Appointment/${id}/_history/`);
    expect(made.body.slot?.[0]?.reference).toBe(`Slot/${slot.id}`);
    const again = await everywhere.post('/Appointment', booking, once);
    expect([again.status, again.body.id]).toEqual([200, id]);
    const read = await everywhere.get(`/Appointment/${id}`);
    expect([read.status, read.headers.etag]).toEqual([200, made.headers.etag]);
    for (const { actor } of read.body.participant) {
      const reference = actor?.reference ?? '';
      expect((await everywhere.get<Resource>(`/${reference}`)).body.resourceType).toBe(reference.split('/')[0]);
    }
    const own = await fhirClient(gateway, oslo).get(`/Appointment/${id.slice(id.indexOf('.') + 1)}`);
    expect(own.body.start).toBe(slot.start);
    const busy = await everywhere.get<Slot>(`/Slot/${slot.id}`);
    expect(busy.body.status).toBe('busy');
    expect(issueIn(await everywhere.post('/Appointment', { ...booking, identifier: [] }))).toEqual([
      422,
      'conflict',
      'time_slot_unavailable',
    ]);
    const moved = await firstSlotOf('Oslo');
    expect(moved.id).not.toBe(slot.id);
    const put = await everywhere.put({ ...booking, id, slot: [{ reference: `Slot/${moved.id}` }] });
    expect([put.status, put.body.slot]).toEqual([200, [{ reference: `Slot/${moved.id}` }]]);
    const cancelled = await everywhere.patch(put.body.id, [{ op: 'replace', path: '/status', value: 'cancelled' }]);
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled']);
  });

  test('is confirmed by a code where the care unit wants one', async () => {
    const slot = await firstSlotOf('Södermalm');
    const unit = slot.id?.split('.')[0];
    const held = await everywhere.post('/Appointment', bookingOf(slot, `${unit}.p-3`));
    expect([held.status, held.body.status]).toEqual([201, 'pending']);
    const id = held.body.id ?? '';
    const code = await codeFor(gateway, id.slice(id.indexOf('.') + 1));
    const body = parameters({ name: 'code', valueString: code });
    const confirmed = await everywhere.post(`/Appointment/${id}/$confirm`, body);
    expect([confirmed.status, confirmed.body.status, confirmed.body.id]).toEqual([200, 'booked', id]);
  });

  test('is looked up by at most 100 ids over all care units', async () => {
    const ids = Array.from({ length: 101 }, (_, index) => `aaaaaaaaaa.${index}`);
    expect(issueIn(await find(`/Slot?_id=${ids}`)).slice(-1)).toEqual(['search_too_costly']);
  });

  test('is not taken for the booking of another care unit whose own ids are the same', async () => {
    const { body } = await find<Slot>(`${talks}&_count=500`);
    const partsOf = ({ id = '' }: Slot) => [id.slice(0, id.indexOf('.')), id.slice(id.indexOf('.') + 1)] as const;
    const groups = [...Map.groupBy(matches(body), (it) => partsOf(it)[1]).values()];
    const [one, other] =
      groups.find(([first, second]) => first && second && partsOf(first)[0] !== partsOf(second)[0]) ?? [];
    if (!one || !other) throw new Error('No Slots with the same id in two care units');
    const key = { headers: { 'idempotency-key': 'the-same-key-at-two-units' } };
    const book = (slot: Slot) =>
      everywhere.send('POST', '/Appointment', bookingOf(slot, `${partsOf(slot)[0]}.p-3`), key);
    expect((await book(one)).status).toBe(201);
    expect(issueIn(await book(other))).toEqual([412, 'duplicate', 'idempotency_key_reused']);
  });

  test('is not booked without a care unit, at two of them, or for an id of another base URL', async () => {
    const [slot, other] = [await firstSlotOf('Oslo'), await firstSlotOf('Södermalm')];
    const unit = slot.id?.split('.')[0];
    const refusals = [
      bookingOf(other, `${unit}.p-1`),
      bookingOf(slot, 'p-1'),
      bookingOf({ ...slot, id: 'aaaaaaaaaa.bbb' }, 'p-1'),
      { ...bookingOf(slot), slot: [], participant: [] },
      { resourceType: 'Basic' },
    ];
    for (const body of refusals) {
      const { status } = await everywhere.post('/Appointment', body);
      expect(status).toBe(422);
    }
    const narrowed = await everywhere.send('POST', '/Appointment', bookingOf(other, 'p-1'), { client: 'narrowed' });
    expect(narrowed.status).toBe(422);
    expect((await everywhere.put({ ...bookingOf(slot), id: 'aaaaaaaaaa.bbb' })).status).toBe(405);
    expect((await everywhere.get<Slot>(`/Slot/${slot.id}`)).body.status).toBe('free');
  });

  test('leaves its entry in the audit trail, in its care unit', async () => {
    const slot = await firstSlotOf('Oslo');
    const { headers } = await everywhere.post('/Appointment', bookingOf(slot, `${slot.id?.split('.')[0]}.p-1`));
    const rows = await auditEntries(createDb(gateway.database), String(headers['x-request-id']));
    expect(rows).toMatchObject([
      { operation: 'fhir_create_appointment', emr: 'sandbox-no', care_unit_id: 'oslo-sentrum', outcome: 'success' },
    ]);
  });
});

// Last: afterwards the EHR counts as away for a while.
test('a search names an EHR that does not answer, and shows what the others have', async () => {
  ehrs.fail.add('sandbox-no');
  const fresh = { headers: { 'cache-control': 'max-age=0' } };
  const { body, status } = await find<Slot>(`${talks}&_count=200`, fresh);
  expect(status).toBe(200);
  expect(body.total).toBeUndefined();
  expect(matches(body).length).toBeGreaterThan(0);
  const missing = outcomes(body);
  expect(missing.map(({ diagnostics }) => diagnostics)).toContain('Care unit sandbox-no/oslo-sentrum');
  expect(missing[0]?.details?.coding?.[0]?.code).toBe('ehr_unavailable');
  const [place] = missing[0]?.extension ?? [];
  const location = await everywhere.get<Resource>(`/${place?.valueReference?.reference}`);
  expect(location.body.resourceType).toBe('Location');
  const counted = await find(`${talks}&_summary=count`, fresh);
  expect([counted.body.total, outcomes(counted.body).length > 0]).toEqual([undefined, true]);
});

test('records that are included under ids which are too long are counted once each', async () => {
  const long = await startGateway({
    connectors: [
      wrapConnector((connector) => ({
        ...connector,
        listResources: async (careUnit) =>
          ((await connector.listResources?.(careUnit)) ?? []).map((it) => ({ ...it, id: it.id.padEnd(58, 'x') })),
      })),
    ],
  });
  try {
    const { body } = await fhirClient(long, '/api').get<Bundle<Schedule>>(
      '/Schedule?_include=Schedule:actor&_count=500',
    );
    const actors = matches(body).flatMap(({ actor }) => actor.flatMap(({ reference }) => reference ?? []));
    const unnamed = new Set(actors.filter((reference) => reference.startsWith('http')));
    expect(unnamed.size).toBeGreaterThan(1);
    expect(outcomes(body).map(({ details }) => details?.text)).toEqual([
      `${unnamed.size} records have ids that are too long for FHIR, and are left out.`,
    ]);
  } finally {
    await long.close();
  }
});
