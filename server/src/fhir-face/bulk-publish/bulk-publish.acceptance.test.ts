/** @module-tag any-database */
import { type Connector, ConnectorError } from '@crossward/connector-kit';
import type { Location, Resource, Schedule, Slot } from '@medplum/fhirtypes';
import { afterAll, expect, test } from 'vitest';
import { wrapConnector } from '../../../../test/ehrs/other-ehrs.ts';
import { type GatewayOptions, startGateway } from '../../../../test/gateway/gateway.ts';
import { oslo } from '../../../../test/requests/bookings.ts';
import { bookingOf, fhirClient } from '../test-requests.ts';

/** Calls to EHRs for free times, and those that fail. */
const ehrs = { calls: 0, directoryCalls: 0, fail: new Set<string>(), held: undefined as Promise<void> | undefined };

function watched(connector: Connector, emr: string): Connector {
  return {
    ...connector,
    async listResources(careUnit) {
      ehrs.directoryCalls++;
      return (await connector.listResources?.(careUnit)) ?? [];
    },
    async listTimeSlots(query) {
      ehrs.calls++;
      await ehrs.held;
      if (ehrs.fail.has(emr)) throw new ConnectorError('unavailable', 'The test lets it fail');
      return (await connector.listTimeSlots?.(query)) ?? [];
    },
  };
}

const publication = {
  booking_url: 'https://book.example.org/?slot={slot}&at={start}',
  website: 'https://clinic.example.org',
  phone: '+47 22 00 00 00',
  address: { lines: ['Storgata 1'], city: 'Oslo', state: 'Oslo', postal_code: '0155' },
};
const isPublic = ['oslo-sentrum', 'hillview'];
const options: GatewayOptions = {
  connectors: [wrapConnector(watched)],
  configure: (configuration) => ({
    ...configuration,
    emrs: configuration.emrs.map((emr) => ({
      ...emr,
      care_units: emr.care_units.map((it) => (isPublic.includes(it.id) ? { ...it, publication } : it)),
    })),
    limits: { ...configuration.limits, page_requests_per_minute: 1_000 },
  }),
};
const gateway = await startGateway(options);
/** It has made no publication yet. */
const later = await startGateway({ ...options, beside: gateway });
const closed = await startGateway();
afterAll(() => Promise.all([gateway, later, closed].map((it) => it.close())));

interface Manifest {
  readonly transactionTime: string;
  readonly request: string;
  readonly output: readonly { type: string; url: string; extension?: { state: readonly string[] } }[];
  readonly error: readonly { type: string; url: string }[];
}

const path = '/api/fhir-r4/$bulk-publish';
const get = <Body = Manifest>(url: string, headers = {}, at = gateway) =>
  at.request<Body>('GET', url.replace(/^http:\/\/[^/]+/, ''), { client: null, headers });

async function filesOf(at = gateway): Promise<readonly Resource[]> {
  const { body } = await get(path, {}, at);
  const files = await Promise.all([...body.output, ...body.error].map(({ url }) => get<unknown>(url, {}, at)));
  return files.flatMap(({ text }) =>
    text
      .split('\n')
      .filter((it) => it !== '')
      .map((it) => JSON.parse(it) as Resource),
  );
}

const ofType = <Found extends Resource>(all: readonly Resource[], type: Found['resourceType']) =>
  all.filter((it): it is Found => it.resourceType === type);
const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;
const idPattern = /^[A-Za-z0-9.-]{1,64}$/;

test('the manifest has what the specification asks for, under both spellings of its path and every Accept', async () => {
  const { body, status, headers } = await get(path);
  expect(status).toBe(200);
  expect(headers['content-type']).toContain('application/json');
  expect(headers['cache-control']).toBe('public, max-age=60');
  expect(body.transactionTime).toMatch(instant);
  expect(body.request).toBe(`http://127.0.0.1:${gateway.port}${path}`);
  expect(body.output.map(({ type }) => type)).toEqual(['Location', 'Schedule', 'Slot', 'Slot']);
  expect(body.error).toEqual([]);
  for (const { extension } of body.output) expect(extension?.state).toEqual(['Oslo']);
  const known = await get(path, { 'if-none-match': String(headers.etag) });
  expect([known.status, known.text]).toEqual([304, '']);
  expect((await get(path.replace('$', '%24'))).body).toEqual(body);
  expect((await get(`${path}?_since=2026-01-01T00:00:00Z`, { accept: 'application/json' })).body).toEqual(body);
  const file = await get(body.output[2]?.url ?? '', { accept: 'application/fhir+ndjson' });
  expect([file.status, file.headers['content-type']]).toEqual([200, 'application/fhir+ndjson']);
  expect((await get(body.output[2]?.url ?? '', { 'if-none-match': String(file.headers.etag) })).status).toBe(304);
});

test('the files have what the specification asks for, of the public care units only', async () => {
  const all = await filesOf();
  const locations = ofType<Location>(all, 'Location');
  const schedules = ofType<Schedule>(all, 'Schedule');
  const slots = ofType<Slot>(all, 'Slot');
  expect(locations.map(({ name }) => name)).toEqual(['Oslo sentrum', 'Hillview']);
  expect(schedules.length).toBeGreaterThan(2);
  expect(slots.length).toBeGreaterThan(20);
  for (const location of locations) {
    expect(location.id).toMatch(idPattern);
    expect(location.telecom?.map(({ system }) => system)).toEqual(['phone', 'url']);
    expect(location.address).toEqual({ line: ['Storgata 1'], city: 'Oslo', state: 'Oslo', postalCode: '0155' });
    expect(location.identifier?.[0]).toEqual({ system: expect.any(String), value: expect.any(String) });
  }
  for (const schedule of schedules) {
    expect(schedule.id).toMatch(idPattern);
    expect(locations.map(({ id }) => `Location/${id}`)).toContain(schedule.actor[0]?.reference);
    expect(schedule.actor).toHaveLength(1);
    expect(schedule.serviceType?.[0]?.coding?.[0]?.code).toEqual(expect.any(String));
  }
  const known = new Set(schedules.map(({ id }) => `Schedule/${id}`));
  for (const slot of slots) {
    expect(slot.id).toMatch(idPattern);
    expect(known.has(slot.schedule.reference ?? '')).toBe(true);
    expect(slot.status).toBe('free');
    for (const at of [slot.start, slot.end]) expect(at).toMatch(instant);
    const [link, phone] = slot.extension ?? [];
    expect(link?.url).toBe('http://fhir-registry.smarthealthit.org/StructureDefinition/booking-deep-link');
    const url = new URL(link?.valueUrl ?? '');
    expect([url.host, url.searchParams.get('slot'), url.searchParams.get('at')]).toEqual([
      'book.example.org',
      slot.id,
      slot.start,
    ]);
    expect(phone).toEqual({
      url: 'http://fhir-registry.smarthealthit.org/StructureDefinition/booking-phone',
      valueString: '+47 22 00 00 00',
    });
  }
  expect(new Set(slots.map(({ id }) => id)).size).toBe(slots.length);
});

test('nobody who works there is named', async () => {
  const text = JSON.stringify(await filesOf());
  for (const careUnit of ['/api/emrs/sandbox-no/care-units/oslo-sentrum', '/api/emrs/sandbox-uk/care-units/hillview']) {
    const { body } = await gateway.request<{ resources: { name: string }[] }>('GET', `${careUnit}/resources`);
    expect(body.resources.length).toBeGreaterThan(0);
    for (const { name } of body.resources) expect(text).not.toContain(name);
  }
  expect(text).not.toContain('Practitioner');
});

test('however many ask, an EHR is asked once', async () => {
  await filesOf();
  const before = ehrs.calls;
  await Promise.all(Array.from({ length: 20 }, () => get(path)));
  expect(ehrs.calls).toBe(before);
});

test('a Slot of the files is booked at the base URL over all care units, and is then published no more', async () => {
  const [slot] = ofType<Slot>(await filesOf(), 'Slot');
  const everywhere = fhirClient(gateway, '/api');
  const booked = await everywhere.post('/Appointment', bookingOf(slot, `${slot?.id?.split('.')[0]}.p-1`));
  expect([booked.status, booked.body.start]).toEqual([201, slot?.start]);
  const all = await filesOf(later);
  const ids = ofType<Slot>(all, 'Slot').map(({ id }) => id);
  expect(ids.length).toBeGreaterThan(20);
  expect(ids).not.toContain(slot?.id);
  const patient = await gateway.request<{ family_name: string; identifiers: string[] }>('GET', `${oslo}/patients/p-1`);
  const values = patient.body.identifiers.map((it) => it.slice(it.indexOf(':') + 1)).filter((it) => it.length > 5);
  expect(values.length).toBeGreaterThan(0);
  for (const value of [patient.body.family_name, ...values]) expect(JSON.stringify(all)).not.toContain(value);
});

test('what is not public has no file', async () => {
  const [{ unit }] = [{ unit: ofType<Location>(await filesOf(), 'Location')[0]?.id?.split('.')[0] }];
  expect((await get(`/api/fhir-r4/bulk-publish/slots-${unit}.ndjson`)).status).toBe(200);
  for (const name of ['slots-aaaaaaaaaa', 'constructor', '..', 'patients'])
    expect((await get(`/api/fhir-r4/bulk-publish/${name}.ndjson`)).status).toBe(404);
  const { body } = await get(path, {}, closed);
  expect(body.output).toEqual([]);
  expect((await get('/api/fhir-r4/bulk-publish/locations.ndjson', {}, closed)).status).toBe(404);
});

test('requests without credentials are limited by address', async () => {
  const narrow = await startGateway({
    beside: gateway,
    configure: (it) => ({ ...it, limits: { ...it.limits, page_requests_per_minute: 3 } }),
  });
  try {
    const statuses = [];
    for (let time = 0; time < 4; time++) statuses.push((await get(path, {}, narrow)).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
  } finally {
    await narrow.close();
  }
});

test('a care unit whose EHR does not answer says that its free times are not known', async () => {
  ehrs.fail.add('sandbox-uk');
  const away = await startGateway({
    ...options,
    connectors: [wrapConnector(watched)],
  });
  try {
    const { body } = await get(path, {}, away);
    expect(body.error.map(({ type }) => type)).toEqual(['OperationOutcome']);
    const all = await filesOf(away);
    const [outcome] = all.filter(({ resourceType }) => resourceType === 'OperationOutcome');
    expect(outcome).toMatchObject({ issue: [{ details: { coding: [{ code: 'ehr_unavailable' }] } }] });
    const unknown = ofType<Schedule>(all, 'Schedule').filter(({ extension }) =>
      extension?.some(({ valueCode }) => valueCode === 'unknown'),
    );
    const [, hillview] = ofType<Location>(all, 'Location');
    expect(unknown.length).toBeGreaterThan(0);
    expect(new Set(unknown.map(({ actor }) => actor[0]?.reference))).toEqual(new Set([`Location/${hillview?.id}`]));
    expect(ofType<Slot>(all, 'Slot').length).toBeGreaterThan(10);
  } finally {
    await away.close();
  }
});

test('an EHR that works for clients is asked for nothing', async () => {
  ehrs.fail.clear();
  const busy = await startGateway(options);
  try {
    const { promise, resolve } = Promise.withResolvers<void>();
    ehrs.held = promise;
    const units = [oslo, '/api/emrs/sandbox-uk/care-units/hillview'];
    const query = new URLSearchParams({ start: '2030-03-15T08:00:00', end: '2030-03-15T09:00:00' });
    const works = units.map((unit) => busy.request('GET', `${unit}/timeslots?${query}`));
    const isBusy = () => ['sandbox-no', 'sandbox-uk'].map((emr) => busy.deps.ehrs.get(emr)?.isIdle());
    await expect.poll(isBusy).toEqual([false, false]);
    await expect.poll(() => ehrs.calls).toBeGreaterThan(1);
    const { calls, directoryCalls } = ehrs;
    const all = await filesOf(busy);
    expect([ehrs.calls, ehrs.directoryCalls]).toEqual([calls, directoryCalls]);
    expect(ofType<Location>(all, 'Location')).toHaveLength(2);
    const overloaded = { issue: [{ details: { coding: [{ code: 'overloaded' }] } }] };
    const outcomes = all.filter(({ resourceType }) => resourceType === 'OperationOutcome');
    expect(outcomes).toMatchObject([overloaded, overloaded]);
    ehrs.held = undefined;
    resolve();
    await Promise.all(works);
  } finally {
    await busy.close();
  }
});
