import { randomBytes, randomUUID } from 'node:crypto';
import { type AppointmentWrite, ConnectorError } from '@crossward/connector-kit';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { wrapConnector } from '../../test/ehrs/other-ehrs.ts';
import { type Problem, startGateway } from '../../test/gateway/gateway.ts';
import { withQuickRecovery } from '../../test/gateway/recovery.ts';
import {
  type Appointment,
  book,
  creationBody,
  freeSlot,
  oslo,
  riverside,
  sodermalm,
} from '../../test/requests/bookings.ts';
import { eventually, messagesAbout } from '../../test/requests/codes.ts';
import { browserWith, withConsole } from '../../test/requests/console.ts';
import { type Configuration, type ConfiguredEmr, hashSecret } from './config/configuration.ts';

/** How often each EHR was opened. A connection is known by its number. */
const opened = new Map<string, number>();
/** The connection that each write has used. */
let writes: number[] = [];
/** Runs before a write of this connection is made. */
let before: (connection: number) => Promise<void> = async () => undefined;
/** Runs after a write of this connection was made. */
let after: (connection: number) => Promise<void> = async () => undefined;
let cannotOpen = false;

const connector = wrapConnector((connector, emr) => {
  if (cannotOpen) throw new ConnectorError('unavailable', 'Away');
  const connection = (opened.get(emr) ?? 0) + 1;
  opened.set(emr, connection);
  return {
    ...connector,
    async changeAppointments(write: AppointmentWrite) {
      writes.push(connection);
      await before(connection);
      const result = await connector.changeAppointments?.(write);
      await after(connection);
      return result;
    },
  } as typeof connector;
});

let first: Configuration | undefined;
const gateway = await startGateway({
  intervals: { gauges: 200 },
  connectors: [connector],
  configure(it) {
    first = withConsole(withQuickRecovery({ ...it, http: { ...it.http, ready_waits_for_emrs: true } }));
    return first;
  },
});
afterAll(() => gateway.close());
if (!first) throw new Error('The gateway has a configuration');
const configuration = first;

const reconfigure = (change: Configuration, isForced = false) =>
  gateway.deps.reconfigure({ configuration: change, connectors: [connector] }, isForced);

beforeEach(async () => {
  before = async () => undefined;
  after = async () => undefined;
  cannotOpen = false;
  await reconfigure(configuration, true);
  writes = [];
});

/** The configuration with another `sandbox-no`, unless another EHR is named. */
function withEmr(change: (emr: ConfiguredEmr) => ConfiguredEmr, id = 'sandbox-no'): Configuration {
  return { ...configuration, emrs: configuration.emrs.map((emr) => (emr.id === id ? change(emr) : emr)) };
}

/** Its settings of the connection are others, so that it gets a new one. */
const reconnected = withEmr((emr) => ({ ...emr, connection: { ...emr.connection, concurrency: 7 } }));

test('names, policies and clients are used at once, and the connection stays', async () => {
  const connections = opened.get('sandbox-no');
  const secret = randomBytes(32).toString('base64url');
  const added = {
    id: 'added',
    name: 'Added',
    secrets: [{ sha256: hashSecret(secret) }],
    scopes: ['resources:read' as const],
    grants: [{ emr: 'sandbox-no', care_units: ['oslo-sentrum'] }],
  };
  const narrowed = { client: gateway.credentials('narrowed') };
  expect((await gateway.request('GET', `${oslo}/resources`, narrowed)).status).toBe(200);
  const changed = withEmr((emr) => ({
    ...emr,
    care_units: emr.care_units.map((careUnit) => ({
      ...careUnit,
      name: 'Nytt navn',
      policies: { ...careUnit.policies, booking_confirmation: 'code' as const },
    })),
  }));
  const clients = [...configuration.clients.filter(({ id }) => id !== 'narrowed'), added];
  expect(await reconfigure({ ...changed, clients })).toMatchObject({ added: [], reconnected: [], removed: [] });

  const booked = await book(gateway);
  expect(booked.status).toBe('awaiting_confirmation');
  const [message] = await messagesAbout(gateway, booked.id);
  expect(message?.text).toContain('Nytt navn');
  const client = { id: 'added', secret };
  expect((await gateway.request('GET', `${oslo}/resources`, { client })).status).toBe(200);
  expect((await gateway.request('GET', `${oslo}/resources`, narrowed)).status).toBe(401);
  expect(opened.get('sandbox-no')).toBe(connections);
  const { browser } = await browserWith(gateway, 'vera', 'view');
  expect((await browser.open('/console/clients')).text).toContain('Added');
});

test('a write in progress ends on its connection, and later ones use the new one', async () => {
  const connection = opened.get('sandbox-no') ?? 0;
  const gate = Promise.withResolvers<void>();
  before = (it) => (it === connection ? gate.promise : Promise.resolve());
  const waiting = gateway.request<Appointment>('POST', `${oslo}/appointments`, {
    body: creationBody(await freeSlot(gateway, { resourceId: 'r-1' })),
  });
  await eventually(() => expect(writes).toEqual([connection]));
  expect(await reconfigure(reconnected)).toMatchObject({ reconnected: ['sandbox-no'] });
  const later = await book(gateway, { resourceId: 'r-2' });
  expect(later.status).toBe('booked');
  gate.resolve();
  const { status, body } = await waiting;
  expect([status, body.status]).toEqual([201, 'booked']);
  expect(writes).toEqual([connection, connection + 1]);
});

test('a write whose answer is lost with its connection is completed on the new one, once', async () => {
  const connection = opened.get('sandbox-no') ?? 0;
  after = async (it) => {
    if (it === connection) throw new ConnectorError('outcome_unknown', 'Lost');
  };
  const body = creationBody(await freeSlot(gateway));
  const write = () =>
    gateway.request<Appointment & Problem>('POST', `${oslo}/appointments`, {
      body,
      headers: { 'idempotency-key': key },
    });
  const key = randomUUID();
  expect((await write()).body.reason).toBe('outcome_unknown');
  await reconfigure(reconnected);
  const completed = await eventually(async () => {
    const response = await write();
    expect(response.status).toBe(201);
    return response.body;
  });
  const query = new URLSearchParams({ patient_id: 'p-3' });
  const { appointments } = (
    await gateway.request<{ appointments: Appointment[] }>('GET', `${oslo}/appointments?${query}`)
  ).body;
  expect(appointments.filter(({ start }) => start === completed.start)).toMatchObject([{ id: completed.id }]);
});

test('the circuit breaker begins fresh with a new connection, and stays with new names', async () => {
  const failing = withEmr((emr) => ({
    ...emr,
    connection: { ...emr.connection, breaker: { failures: 1, reset_seconds: 3600 } },
  }));
  await reconfigure(failing);
  before = async () => {
    throw new ConnectorError('unavailable', 'Away');
  };
  const body = creationBody(await freeSlot(gateway));
  await gateway.request('POST', `${oslo}/appointments`, { body });
  const breaker = () => gateway.deps.ehrs.get('sandbox-no')?.health().breaker;
  expect(breaker()).toBe('open');
  await reconfigure({ ...failing, emrs: failing.emrs.map((emr) => ({ ...emr, name: 'Nytt navn' })) });
  expect([breaker(), gateway.deps.ehrs.get('sandbox-no')?.name]).toEqual(['open', 'Nytt navn']);
  await reconfigure(reconnected);
  expect(breaker()).toBe('closed');
});

test('an EHR that does not answer with its new settings keeps its connection, unless that is forced', async () => {
  cannotOpen = true;
  await expect(reconfigure(reconnected)).rejects.toThrow(/^EHR sandbox-no: does not answer with its new settings/);
  expect((await gateway.request('GET', `${oslo}/resources`)).status).toBe(200);
  expect(await reconfigure(reconnected, true)).toMatchObject({ reconnected: ['sandbox-no'] });
  const { body } = await gateway.request<Problem>('GET', `${oslo}/resources`);
  expect(body.reason).toBe('ehr_unavailable');
});

test('an EHR with open work is removed only if that is forced, and goes on when it is back', async () => {
  const held = await book(gateway, { careUnit: sodermalm });
  expect(held.status).toBe('awaiting_confirmation');
  const without = {
    ...configuration,
    emrs: configuration.emrs.filter(({ id }) => id !== 'sandbox-se'),
    clients: configuration.clients.map((client) => ({
      ...client,
      grants: client.grants.filter(({ emr }) => emr !== 'sandbox-se'),
    })),
  };
  const before = gateway.deps.ehrs.get('sandbox-se');
  await expect(reconfigure(without)).rejects.toThrow(
    /^EHR sandbox-se: is neither removed nor moved to another server or institution while something is open there \(1 code, 1 hold\)/,
  );
  // The former server knows the hold, and the new one would take a write that is made again.
  const moved = configuration.emrs.map((emr) =>
    emr.id === 'sandbox-se'
      ? { ...emr, settings: { ...(emr.settings as object), base_url: 'https://new.example' } }
      : emr,
  );
  await expect(reconfigure({ ...configuration, emrs: moved })).rejects.toThrow('moved to another server');
  // A client that is revoked does not wait.
  const [revoked] = configuration.clients;
  const fewer = { ...without, clients: without.clients.slice(1) };
  await expect(reconfigure(fewer)).rejects.toThrow('while something is open there');
  expect(gateway.deps.clients.find(revoked?.id ?? '')).toBeUndefined();
  await reconfigure(configuration);
  expect((await gateway.request('GET', `${sodermalm}/resources`)).status).toBe(200);
  expect(await reconfigure(without, true)).toMatchObject({ removed: ['sandbox-se'] });
  const { status, body } = await gateway.request<Problem>('GET', `${sodermalm}/resources`);
  expect([status, body.reason]).toEqual([404, 'emr_not_found']);
  // As after a pause, a request that has begun makes no further call.
  await expect(before?.call('listResources', { careUnit: { id: 'sodermalm' } } as never)).rejects.toMatchObject({
    reason: 'ehr_paused',
  });
  const { text } = await gateway.request('GET', '/metrics', { client: null });
  expect(text).not.toContain('crossward_ehr_breaker_state{emr="sandbox-se"');
  await eventually(async () =>
    expect((await gateway.request('GET', '/metrics', { client: null })).text).not.toMatch(
      /crossward_(operations|holds|ehr_changes)_\w+\{emr="sandbox-se"/,
    ),
  );
  expect((await gateway.request('GET', `${riverside}/resources`)).status).toBe(200);

  await reconfigure(configuration);
  const shown = await gateway.request<Appointment>('GET', `${sodermalm}/appointments/${held.id}`);
  expect(shown.body.status).toBe('awaiting_confirmation');
});

test('a care unit with open work is removed only if that is forced', async () => {
  const held = await book(gateway, { careUnit: sodermalm });
  expect(held.status).toBe('awaiting_confirmation');
  const keep = (id: string) => ({
    ...configuration,
    emrs: configuration.emrs.map((emr) =>
      emr.id === 'sandbox-se' ? { ...emr, care_units: emr.care_units.filter((it) => it.id === id) } : emr,
    ),
  });
  await expect(reconfigure(keep('lund'))).rejects.toThrow(
    /^EHR sandbox-se: the care unit sodermalm is neither removed/,
  );
  expect(await reconfigure(keep('sodermalm'))).toMatchObject({ removed: [] });
  const named = (settings: Record<string, unknown>) => ({
    ...configuration,
    emrs: configuration.emrs.map((emr) => ({
      ...emr,
      care_units: emr.care_units.map((it) => (it.id === 'sodermalm' ? { ...it, settings } : it)),
    })),
  });
  await expect(reconfigure(named({ institution: 2 }))).rejects.toThrow('the care unit sodermalm is neither removed');
  expect(await reconfigure(named({ resources: ['r-1'] }))).toMatchObject({ reconnected: ['sandbox-se'] });
  await reconfigure(keep('lund'), true);
  expect((await gateway.request<Problem>('GET', `${sodermalm}/resources`)).body.reason).toBe('care_unit_not_found');
});

test('a gateway that was ready stays ready while an EHR that was added cannot be reached', async () => {
  const health = async () => (await gateway.request<object>('GET', '/health/ready', { client: null })).body;
  expect(await health()).toMatchObject({ status: 'ok', emrs_not_open: [] });
  cannotOpen = true;
  const [model] = configuration.emrs;
  if (!model) throw new Error('The configuration has EHRs');
  await reconfigure({ ...configuration, emrs: [...configuration.emrs, { ...model, id: 'added' }] });
  expect(await health()).toMatchObject({ status: 'ok', emrs_not_open: ['added'] });
});

test('the console and a metric tell that a file is not used, with the place of the mistake, until it is', async () => {
  const { watch } = gateway.deps;
  const mistake = 'crossward.yaml:5:16: emrs[0].connector: is unknown';
  const { browser } = await browserWith(gateway, 'olga', 'view');
  watch.refused([mistake]);
  expect((await browser.open('/console')).text).toContain(
    `Configuration The file is not used, and the former one goes on: ${mistake}`,
  );
  const metrics = async () => (await gateway.request('GET', '/metrics', { client: null })).text;
  expect(await metrics()).toContain('crossward_configuration_refused{place="crossward.yaml:5:16"} 1');
  watch.used('changed', ['http.public_url']);
  expect(await metrics()).toContain('crossward_configuration_refused{place=""} 0');
  const { text } = await browser.open('/console');
  expect(text).not.toContain('is not used');
  expect(text).toMatch(/http\.public_url.*restart/);
  watch.used('unchanged', []);
  expect((await browser.open('/console')).text).not.toContain('http.public_url');
});
