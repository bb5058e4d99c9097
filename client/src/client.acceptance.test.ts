/** @module-tag any-database */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../test/gateway.ts';
import { type CrosswardClient, createCrosswardClient, type Problem } from './index.ts';

const path = { emr: 'sandbox-no', care_unit_id: 'oslo-sentrum' };
const inCareUnit = '/api/emrs/{emr}/care-units/{care_unit_id}';
const millisecondsOfDay = 24 * 60 * 60 * 1000;

let gateway: Gateway;
let client: CrosswardClient;

beforeAll(async () => {
  gateway = await startGateway();
  const { id, secret } = gateway.credentials('everything');
  client = createCrosswardClient({ baseUrl: baseUrl(), clientId: id, clientSecret: secret });
});

afterAll(() => gateway.close());

function baseUrl(): string {
  return `http://127.0.0.1:${gateway.port}`;
}

async function freeTimes() {
  const start = new Date(Date.now() + millisecondsOfDay);
  const { data, error } = await client.GET(`${inCareUnit}/timeslots`, {
    params: {
      path,
      query: {
        start: start.toISOString(),
        end: new Date(start.getTime() + 14 * millisecondsOfDay).toISOString(),
        resource_id: ['r-1'],
        healthcare_service_id: ['consultation'],
      },
    },
  });
  expect(error).toBeUndefined();
  const [first, second] = data?.timeslots ?? [];
  if (!first || !second) throw new Error('The sandbox has too few free slots');
  return [first, second] as const;
}

async function book(time: { start: string; end: string }) {
  const { data, error } = await client.POST(`${inCareUnit}/appointments`, {
    params: { path },
    body: {
      patient_id: 'p-3',
      resource_id: 'r-1',
      healthcare_service_id: 'consultation',
      start_time: time.start.slice(0, 19),
      end_time: time.end.slice(0, 19),
    },
  });
  if (!data) throw new Error(error.detail);
  // Only a dry run returns `change`.
  if ('change' in data) throw new Error('Unexpected dry-run response');
  return data;
}

describe('the typed client', () => {
  test('books, lists, moves and cancels', async () => {
    const [first, second] = await freeTimes();

    const booked = await book(first);
    expect(booked).toMatchObject({ status: 'booked', start: first.start, end: first.end });

    const list = await client.GET(`${inCareUnit}/appointments`, {
      params: { path, query: { patient_id: 'p-3', status: ['booked', 'cancelled'] } },
    });
    expect(list.data?.appointments).toContainEqual(booked);

    const at = { params: { path: { ...path, appointment_id: booked.id } } };
    const moved = await client.PATCH(`${inCareUnit}/appointments/{appointment_id}`, {
      ...at,
      body: { start: second.start, end: second.end, comment: 'Later.' },
    });
    expect(moved.data).toEqual({ ...booked, start: second.start, end: second.end, comment: 'Later.' });

    const cancelled = await client.PATCH(`${inCareUnit}/appointments/{appointment_id}`, {
      ...at,
      body: { status: 'cancelled' },
    });
    expect(cancelled.data).toEqual({ ...moved.data, status: 'cancelled' });

    const read = await client.GET(`${inCareUnit}/appointments/{appointment_id}`, at);
    expect(read.data).toEqual(cancelled.data);
  });

  test('returns problems as typed errors', async () => {
    const { data, error, response } = await client.GET(`${inCareUnit}/appointments/{appointment_id}`, {
      params: { path: { ...path, appointment_id: 'nobody-has-this' } },
    });
    expect(data).toBeUndefined();
    expect(response.status).toBe(404);
    const reason: Problem['reason'] | undefined = error?.reason;
    expect(reason).toBe('appointment_not_found');
  });

  test('rejects paths and fields that the OpenAPI description does not define', async () => {
    // @ts-expect-error: no such path.
    const { response } = await client.GET('/api/nothing');
    expect(response.status).toBe(404);
  });

  test('returns a problem for a wrong secret', async () => {
    const stranger = createCrosswardClient({ baseUrl: baseUrl(), clientId: 'demo', clientSecret: 'wrong' });
    const { error } = await stranger.GET('/api/emrs');
    expect(error).toMatchObject({ status: 401, reason: 'credentials_invalid' });
  });

  test('uses the fetch function of the caller', async () => {
    const seen: string[] = [];
    const { id, secret } = gateway.credentials('everything');
    const own = createCrosswardClient({
      baseUrl: baseUrl(),
      clientId: id,
      clientSecret: secret,
      fetch: (request) => {
        seen.push(`${request.method} ${new URL(request.url).pathname}`);
        return fetch(request);
      },
    });
    const { data } = await own.GET('/api/emrs');
    expect(data?.emrs.map((emr) => emr.id)).toContain('sandbox-no');
    expect(seen).toEqual(['GET /api/emrs']);
  });
});
