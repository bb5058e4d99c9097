/** @module-tag any-database */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Basic, Bundle, CapabilityStatement, Parameters, Subscription } from '@medplum/fhirtypes';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { type FaultyEhr, faultyEhrs } from '../../../../test/ehrs/faulty-ehr.ts';
import { wrapConnector } from '../../../../test/ehrs/other-ehrs.ts';
import { checkFhirResponse } from '../../../../test/gateway/fhir-response-check.ts';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { withQuickRecovery } from '../../../../test/gateway/recovery.ts';
import { bergen, book, oslo } from '../../../../test/requests/bookings.ts';
import { careUnitOf, eventually, rowsOf } from '../../../../test/requests/codes.ts';
import {
  type Endpoint,
  type Received,
  startReceiver,
  status,
  verify,
  webhooksOf,
  withQuickWebhooks,
} from '../../../../test/requests/webhook-receiver.ts';
import { fhirClient, issueIn, parameters } from '../test-requests.ts';
import { backport } from './urls.ts';

const faults = faultyEhrs();
const gateway = await startGateway({
  connectors: [wrapConnector(faults.faulty)],
  configure: (it) => withQuickRecovery(withQuickWebhooks(it)),
  intervals: { events: 100 },
});
afterAll(() => gateway.close());
const fhir = fhirClient(gateway, oslo);
const webhooks = webhooksOf(gateway);
const { change, cancel } = careUnitOf(gateway, oslo);

const topic = (id: string) => `urn:crossward:subscription-topic:appointment-${id}`;

/** A Subscription as a portal would send it. */
function wanted(endpoint: string, more: Partial<Subscription> = {}, content = 'id-only'): Subscription {
  return {
    resourceType: 'Subscription',
    status: 'requested',
    reason: 'Show changes in the portal',
    criteria: topic('booked'),
    ...more,
    channel: {
      type: 'rest-hook',
      endpoint,
      payload: 'application/fhir+json',
      _payload: { extension: [{ url: backport.content, valueCode: content }] },
      ...more.channel,
    } as Subscription['channel'],
  };
}

async function startSubscription(more: Partial<Subscription> = {}, content?: string) {
  // Events of earlier tests are not its own.
  await eventually(async () => expect(await rowsOf(gateway, 'SELECT FROM events WHERE position IS NULL')).toEqual([]));
  const receiver = await startReceiver();
  const made = await fhir.post<Subscription>('/Subscription', wanted(receiver.url, more, content));
  expect(made.status).toBe(201);
  onTestFinished(async () => {
    await fhir.send('DELETE', `/Subscription/${made.body.id}`);
    await receiver.close();
  });
  return { ...receiver, made, id: made.body.id ?? '' };
}

const read = async (id: string) => (await fhir.get<Subscription>(`/Subscription/${id}`)).body;
const untilStatus = (id: string, wantedStatus: string) =>
  eventually(async () => {
    const subscription = await read(id);
    expect(subscription.status).toBe(wantedStatus);
    return subscription;
  });

/** The parameters of a notification, each by its name. */
function partsOf({ body }: Pick<Received, 'body'>) {
  const bundle = JSON.parse(body) as Bundle;
  const [status] = bundle.entry ?? [];
  const { parameter = [] } = (status?.resource ?? {}) as Partial<Parameters>;
  const partNamed = (name: string) => parameter.find((it) => it.name === name);
  const event = partNamed('notification-event')?.part ?? [];
  return {
    bundle,
    kind: partNamed('type')?.valueCode,
    status: partNamed('status')?.valueCode,
    topic: partNamed('topic')?.valueCanonical,
    total: partNamed('events-since-subscription-start')?.valueString,
    number: event.find((it) => it.name === 'event-number')?.valueString,
    focus: event.find((it) => it.name === 'focus')?.valueReference?.reference,
  };
}

/** Waits for as many requests, and reads them. Each is a valid Bundle. */
async function received(it: { readonly received: readonly Received[] }, count: number) {
  await eventually(async () => expect(it.received.length).toBeGreaterThanOrEqual(count));
  const headers = { 'content-type': 'application/fhir+json; charset=utf-8' };
  for (const { body: text } of it.received)
    await checkFhirResponse('a notification', 'POST', { status: 200, headers, text });
  return it.received.map(partsOf);
}

test('a Subscription is active once its endpoint has accepted a handshake, and is told of bookings', async () => {
  const it = await startSubscription();
  expect(it.made.body.status).toBe('requested');
  expect(it.made.headers.location).toContain(`/Subscription/${it.id}/_history/`);
  await untilStatus(it.id, 'active');
  expect(await received(it, 1)).toMatchObject([
    { kind: 'handshake', status: 'requested', total: '0', number: undefined },
  ]);
  const { id } = await book(gateway);
  await cancel(id);
  const { id: second } = await book(gateway);
  const [, first, next, ...others] = await received(it, 3);
  const base = (it.made.headers.location ?? '').replace(/\/Subscription\/.*/, '');
  expect(first).toMatchObject({ kind: 'event-notification', status: 'active', total: '1', number: '1' });
  expect(first).toMatchObject({ topic: topic('booked'), focus: `${base}/Appointment/${id}` });
  expect(next).toMatchObject({ total: '2', number: '2', focus: `${base}/Appointment/${second}` });
  expect(first?.bundle.entry?.slice(1)).toEqual([
    {
      fullUrl: `${base}/Appointment/${id}`,
      request: { method: 'POST', url: 'Appointment' },
      response: { status: '201' },
    },
  ]);
  expect(others).toEqual([]);
  expect(it.received.map(({ headers }) => headers['content-type'])).toEqual(Array(3).fill('application/fhir+json'));
  // Deliveries are those of a webhook endpoint, signed with the secret that the client can rotate.
  const { body } = await webhooks.call<Endpoint>('POST', `/${it.id}/secret`, {});
  await book(gateway);
  await received(it, 4);
  const [last] = it.received.slice(-1);
  expect(() => verify(last as Received, body.secret)).not.toThrow();
});

test.each([
  ['appointment-changed', topic('changed'), 'PUT'],
  ['appointment-cancelled', topic('cancelled'), 'PUT'],
  ['an update of ISiK', 'https://gematik.de/fhir/isik/SubscriptionTopic/appointment-update', 'POST'],
  ['a cancellation of ISiK', 'https://gematik.de/fhir/isik/SubscriptionTopic/appointment-cancel', 'PUT'],
  ['a search for what is cancelled', 'Appointment?status=cancelled', 'PUT'],
  ['a search for all of a practitioner', 'Appointment?practitioner=r-1', 'POST'],
])('the topic of %s', async (_, criteria, method) => {
  const it = await startSubscription({ criteria });
  await untilStatus(it.id, 'active');
  const { id } = await book(gateway);
  await change(id, { comment: 'changed' });
  await cancel(id);
  const isAll = criteria.endsWith('=r-1');
  // A former test's events may be told, too: they are handed out after they were written.
  const [first, second] = await eventually(async () => {
    const told = (await received(it, 1)).filter(({ focus }) => focus?.endsWith(id));
    expect(told).toHaveLength(isAll ? 3 : method === 'POST' ? 2 : 1);
    return told;
  });
  expect(first?.bundle.entry?.[1]?.request?.method).toBe(method);
  if (method === 'POST') expect(second?.bundle.entry?.[1]?.request?.method).toBe('PUT');
});

test('an empty notification names nothing', async () => {
  const it = await startSubscription({}, 'empty');
  await untilStatus(it.id, 'active');
  await book(gateway);
  const [, event] = await received(it, 2);
  expect(event).toMatchObject({ number: '1', focus: undefined, topic: undefined });
  expect(event?.bundle.entry).toHaveLength(1);
  expect(it.received.map(({ body }) => body).join()).not.toContain('/Appointment/');
});

describe('a notification with the Appointment', () => {
  const resourceIn = (it: Pick<Received, 'body'> | undefined) => partsOf(it as Received).bundle.entry?.[1]?.resource;

  test('has it as a read would show it, and leaves an entry for the patient', async () => {
    const it = await startSubscription({}, 'full-resource');
    await untilStatus(it.id, 'active');
    const { id } = await book(gateway, { patientId: 'p-5' });
    await received(it, 2);
    expect(resourceIn(it.received[1])).toEqual((await fhir.get(`/Appointment/${id}`)).body);
    const path = `${oslo}/patients/p-5/accesses`;
    const { body } = await gateway.request<{ accesses: { operation: string; client: object }[] }>('GET', path);
    const told = body.accesses.filter(({ operation }) => operation === 'fhir_notify_appointment');
    expect(told).toMatchObject([{ client: { id: 'everything' }, outcome: 'success' }]);
  });

  test.each<[string, (ehr: FaultyEhr, until: Promise<void>) => void]>([
    ['is away', (ehr) => ehr.goDown()],
    ['hangs', (ehr, until) => ehr.hang('findAppointments', until)],
  ])('names it alone while the EHR %s: the event is told all the same', async (_, fail) => {
    const it = await startSubscription({}, 'full-resource');
    await untilStatus(it.id, 'active');
    it.behave(status(500));
    const { id } = await book(gateway);
    const ehr = faults.of('sandbox-no');
    const { promise: until, resolve: end } = Promise.withResolvers<void>();
    fail(ehr, until);
    onTestFinished(() => {
      end();
      ehr.reset();
    });
    it.behave(status(204));
    const last = await eventually(async () => {
      const accepted = it.received.filter((one) => one.status === 204 && partsOf(one).number !== undefined);
      expect(accepted).toHaveLength(1);
      return accepted[0];
    });
    expect(partsOf(last as Received).focus).toContain(`/Appointment/${id}`);
    expect(resourceIn(last)).toBeUndefined();
  });

  test('is refused to a client that may not read Appointments', async () => {
    const body = wanted('http://127.0.0.1:9/', {}, 'full-resource');
    const headers = { 'content-type': 'application/fhir+json' };
    const options = { client: 'webhooks:manage', body, headers } as const;
    const refused = await gateway.request<Subscription>('POST', `${fhir.base}/Subscription`, options);
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('may not read Appointments')]);
  });
});

test('a search without a payload is that of R4: requests have no body', async () => {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    bodies.push(Buffer.concat(await request.toArray()).toString());
    response.end();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const channel = {
    type: 'rest-hook',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
  } as const;
  const criteria = 'Appointment?status=booked';
  const subscription = { ...wanted(''), criteria, channel };
  const { status: created, body } = await fhir.post<Subscription>('/Subscription', subscription);
  expect(created).toBe(201);
  onTestFinished(async () => void (await fhir.send('DELETE', `/Subscription/${body.id}`)));
  await untilStatus(body.id ?? '', 'active');
  await book(gateway);
  await eventually(async () => expect(bodies).toEqual(['', '']));
});

describe('what cannot be done is refused with its place', () => {
  const hook = 'http://127.0.0.1:9/hook';
  const channel = (more: object) => ({ channel: more as Subscription['channel'] });
  test.each<[string, Partial<Subscription>, number, string]>([
    ['another topic', { criteria: 'http://example.org/topic' }, 422, 'Subscription.criteria'],
    ['another resource type', { criteria: 'Patient?name=x' }, 422, 'Subscription.criteria'],
    ['a patient', { criteria: 'Appointment?patient=p-1' }, 422, 'Subscription.criteria'],
    ['attendance as a status', { criteria: 'Appointment?status=arrived' }, 422, 'Subscription.criteria'],
    [
      'a patient as a filter',
      {
        _criteria: { extension: [{ url: backport.filter, valueString: 'Appointment?patient=Patient/p-1' }] },
      } as object,
      422,
      'Subscription.criteria.extension[0].valueString',
    ],
    ['a websocket', channel({ type: 'websocket' }), 422, 'Subscription.channel.type'],
    ['XML', channel({ payload: 'application/fhir+xml' }), 422, 'Subscription.channel.payload'],
    ['no content', channel({ _payload: undefined }), 400, 'Subscription.channel.payload.extension'],
    [
      'an address that is not allowed',
      channel({ endpoint: 'ftp://hooks.example.org' }),
      400,
      'Subscription.channel.endpoint',
    ],
    [
      'Appointments for ISiK',
      {
        criteria: 'https://gematik.de/fhir/isik/SubscriptionTopic/appointment-cancel',
        ...channel({ _payload: { extension: [{ url: backport.content, valueCode: 'full-resource' }] } }),
      },
      422,
      'Subscription.channel.payload.extension',
    ],
    ['a header of the gateway', channel({ header: ['Host: x'] }), 422, 'Subscription.channel.header[0]'],
    ['a header with a line break', channel({ header: ['X: 1\r\nHost: x'] }), 400, 'Subscription.channel.header[0]'],
    [
      'a hidden header that is not stored',
      channel({ header: ['Authorization: ********'] }),
      400,
      'Subscription.channel.header[0]',
    ],
    [
      'a heartbeat each second',
      channel({ extension: [{ url: backport.heartbeat, valueUnsignedInt: 1 }] }),
      422,
      'Subscription.channel.extension',
    ],
    ['a status of its own', { status: 'error' }, 422, 'Subscription.status'],
    ['a misspelt element', { criterion: 'x' } as object, 400, 'Subscription.criterion'],
  ])('%s', async (_, more, code, place) => {
    const response = await fhir.post<Subscription>('/Subscription', wanted(hook, more));
    expect([response.status, response.text]).toEqual([code, expect.stringContaining(`"${place}"`)]);
    expect(issueIn(response)[0]).toBe(code);
  });

  test('nothing of it is stored', async () => {
    const { body } = await fhir.get<Bundle>('/Subscription?_summary=count');
    expect(body.total).toBe(0);
  });
});

test('a handshake that fails is an error, which the client ends by asking again', async () => {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  receiver.behave(status(500));
  const { body } = await fhir.post<Subscription>('/Subscription', wanted(receiver.url));
  onTestFinished(async () => void (await fhir.send('DELETE', `/Subscription/${body.id}`)));
  const failed = await untilStatus(body.id ?? '', 'error');
  expect(failed.error).toContain('handshake');
  await book(gateway);
  receiver.behave(status(204));
  const again = await fhir.send<Subscription>('PUT', `/Subscription/${body.id}`, { ...failed, status: 'requested' });
  expect([again.status, again.body.status]).toEqual([200, 'requested']);
  await untilStatus(body.id ?? '', 'active');
  await book(gateway);
  // The first booking was not sent, and is counted.
  await eventually(async () =>
    expect(receiver.received.map(partsOf).at(-1)).toMatchObject({ kind: 'event-notification', number: '2' }),
  );
});

test('secrets in headers are sent, never shown, and kept by an update of what was read', async () => {
  const header = ['Authorization: Bearer kanari-header-secret'];
  const it = await startSubscription({ channel: { header } as unknown as Subscription['channel'] });
  const active = await untilStatus(it.id, 'active');
  expect(active.channel?.header).toEqual(['Authorization: ********']);
  const response = await fhir.send<Subscription>(
    'PUT',
    `/Subscription/${it.id}`,
    { ...active, reason: 'Another reason' },
    { headers: { 'if-match': `W/"${active.meta?.versionId}"` } },
  );
  expect(response.body).toMatchObject({ status: 'active', reason: 'Another reason' });
  const stale = await fhir.send('PUT', `/Subscription/${it.id}`, active, { headers: { 'if-match': 'W/"stale"' } });
  expect(issueIn(stale)[0]).toBe(412);
  await book(gateway);
  await received(it, 2);
  expect(it.received.map(({ headers }) => headers.authorization)).toEqual(Array(2).fill('Bearer kanari-header-secret'));
  const rows = await rowsOf(gateway, 'SELECT webhook_endpoints::text AS stored FROM webhook_endpoints');
  const seen = [JSON.stringify(rows), ...gateway.logLines, response.text].join();
  expect(seen).not.toContain('kanari-header-secret');
  expect(seen.replaceAll(response.text, '')).not.toContain('kanari-url-token');
});

test('what is not kept is named, or refused', async () => {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const sent = wanted(receiver.url, { contact: [{ system: 'url', value: 'https://clinic.example' }] });
  const made = await fhir.post<Subscription>('/Subscription', sent, { prefer: 'return=OperationOutcome' });
  expect([made.status, made.text]).toEqual([201, expect.stringContaining('"Subscription.contact')]);
  expect(made.text).not.toContain('criteria');
  const [id] = /(?<=\/Subscription\/)[0-9a-f-]+/.exec(made.headers.location ?? '') ?? [];
  onTestFinished(async () => void (await fhir.send('DELETE', `/Subscription/${id}`)));
  const refused = await fhir.post<Subscription>('/Subscription', sent, { prefer: 'handling=strict' });
  expect(issueIn(refused)[0]).toBe(422);
});

test('each client and each care unit has its own', async () => {
  const it = await startSubscription();
  const others = await gateway.request('GET', `${fhir.base}/Subscription/${it.id}`, { client: 'narrowed' });
  const elsewhere = await gateway.request('GET', `${bergen}/fhir-r4/Subscription/${it.id}`);
  expect([others.status, elsewhere.status]).toEqual([404, 404]);
  const { body } = await fhir.get<Bundle>(`/Subscription?criteria=${topic('booked')}&status=requested,active`);
  expect(body.entry?.map(({ resource }) => resource?.id)).toEqual([it.id]);
  const unknown = await fhir.send('PUT', '/Subscription/x', wanted(it.url, { id: 'x' }));
  expect(unknown.status).toBe(405);
});

test('a native client sees it, disables it and removes it', async () => {
  const it = await startSubscription();
  await untilStatus(it.id, 'active');
  const { body } = await webhooks.call<object>('GET', `/${it.id}`);
  expect(body).toMatchObject({ subscription: { care_unit_id: oslo.split('/').at(-1), status: 'active' } });
  const types = await webhooks.call('PATCH', `/${it.id}`, { event_types: ['emr.changed'] });
  expect([types.status, types.text]).toEqual([400, expect.stringContaining('/event_types')]);
  await webhooks.call('PATCH', `/${it.id}`, { status: 'disabled' });
  expect((await read(it.id)).status).toBe('off');
  await webhooks.call('PATCH', `/${it.id}`, { status: 'enabled' });
  await untilStatus(it.id, 'active');
  await webhooks.call('POST', `/${it.id}/test`);
  expect((await received(it, 3)).map(({ kind }) => kind)).toEqual(['handshake', 'handshake', 'heartbeat']);
  await webhooks.call('DELETE', `/${it.id}`);
  expect((await fhir.get(`/Subscription/${it.id}`)).status).toBe(404);
});

test('$status and $events tell what there was, also what was not delivered', async () => {
  const it = await startSubscription();
  await untilStatus(it.id, 'active');
  await fhir.send('PUT', `/Subscription/${it.id}`, { ...(await read(it.id)), status: 'off' });
  const { id } = await book(gateway);
  const { id: second } = await book(gateway);
  const base = (it.made.headers.location ?? '').replace(/\/Subscription\/.*/, '');
  const statusOf = async (path: string, body?: object) =>
    (await fhir.send<Bundle>(body ? 'POST' : 'GET', path, body)).body.entry?.map(({ resource }) =>
      partsOf({ body: JSON.stringify({ entry: [{ resource }] }) }),
    );
  const off = [{ kind: 'query-status', status: 'off', total: '2' }];
  await eventually(async () => expect(await statusOf(`/Subscription/${it.id}/$status`)).toMatchObject(off));
  const shown = await fhir.send<Bundle>('GET', `/Subscription/${it.id}/$status`);
  expect(shown.body.link?.[0]?.url).toMatch(`/Subscription/${it.id}/$status`);
  expect(await statusOf(`/Subscription/$status?id=${it.id}&status=off`)).toMatchObject(off);
  const asked = parameters({ name: 'id', valueId: it.id }, { name: 'status', valueCode: 'active' });
  expect(await statusOf('/Subscription/$status', asked)).toBeUndefined();
  expect((await fhir.get(`/Subscription/${it.id}/$events?eventsSinceNumber=0`)).status).toBe(200);
  const events = async (query: string) => fhir.get<Bundle>(`/Subscription/${it.id}/$events${query}`);
  const all = await events('');
  expect(partsOf({ body: all.text })).toMatchObject({ kind: 'query-event', total: '2', number: '1' });
  expect(all.body.entry?.slice(1).map(({ fullUrl }) => fullUrl)).toEqual(
    [id, second].map((it) => `${base}/Appointment/${it}`),
  );
  const last = await events('?eventsSinceNumber=2&eventsUntilNumber=2&content=empty');
  expect(partsOf({ body: last.text })).toMatchObject({ number: '2', focus: undefined });
  expect(issueIn(await events('?eventsSinceNumber=x'))[0]).toBe(400);
  // As after the retention.
  await rowsOf(gateway, 'DELETE FROM subscription_events WHERE endpoint_id = $1 AND number = 1', [it.id]);
  const old = await events('?eventsSinceNumber=1');
  expect([old.status, old.text]).toEqual([400, expect.stringContaining('The oldest event that is stored is 2.')]);
});

test('an endpoint that is gone turns it off', async () => {
  const it = await startSubscription();
  await untilStatus(it.id, 'active');
  it.behave(status(410));
  await book(gateway);
  await untilStatus(it.id, 'off');
});

test('events of another care unit are not told', async () => {
  const it = await startSubscription();
  await untilStatus(it.id, 'active');
  await book(gateway, { careUnit: bergen, resourceId: 'r-6' });
  const { id } = await book(gateway);
  const [, first] = await received(it, 2);
  expect(first).toMatchObject({ number: '1', focus: expect.stringContaining(id) });
});

test('its topics can be read and searched for', async () => {
  const code = 'http://hl7.org/fhir/fhir-types|SubscriptionTopic';
  const { body } = await fhir.get<Bundle<Basic>>(`/Basic?code=${code}`);
  expect(body.entry).toHaveLength(6);
  const urls = body.entry?.map(({ resource }) => resource?.extension?.find((it) => it.url.endsWith('.url'))?.valueUri);
  expect(urls).toContain(topic('changed'));
  const [first] = body.entry ?? [];
  const one = await fhir.get(`/Basic/${first?.resource?.id}`);
  expect([one.body, one.headers.etag]).toEqual([first?.resource, undefined]);
  expect((await fhir.get('/Basic/x')).status).toBe(404);
  expect((await fhir.get<Bundle>('/Basic?code=referral')).body.total).toBe(0);
});

test.each([[undefined], [[]], [{ resourceType: 'Appointment' }], [{ ...wanted('x'), channel: null }]])(
  'a body that is no Subscription is refused: %j',
  async (body) => {
    const options = { headers: { 'content-type': 'application/fhir+json' } };
    expect((await fhir.send('POST', '/Subscription', body, options)).status).toBe(400);
  },
);

test('the CapabilityStatement names it and its topics', async () => {
  const { body } = await fhir.get<CapabilityStatement>('/metadata');
  const described = body.rest?.[0]?.resource?.find((it) => it.type === 'Subscription');
  expect(described?.interaction?.map(({ code }) => code)).toEqual([
    'read',
    'search-type',
    'create',
    'update',
    'delete',
  ]);
  expect(described?.extension?.map((it) => it.valueCanonical)).toContain(topic('attendance'));
});
