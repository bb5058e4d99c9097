/** @module-tag any-database */
import { afterAll, describe, expect, test } from 'vitest';
import { identifierCases } from '../../../test/cases/identifier-cases.ts';
import { pagingCases } from '../../../test/cases/paging-cases.ts';
import { type Problem, startGateway } from '../../../test/gateway/gateway.ts';
import { type Appointment, bergen, book, freeSlots, oslo, type Slot } from '../../../test/requests/bookings.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

type Query = Record<string, string | readonly string[]>;

function pathOf(query: Query, careUnit = oslo): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) for (const it of [value].flat()) search.append(name, it);
  return `${careUnit}/appointments?${search}`;
}

async function list(
  query: Query,
  careUnit = oslo,
  headers: Record<string, string | readonly string[]> = {},
): Promise<readonly Appointment[]> {
  const { status, body } = await gateway.request<{ appointments: Appointment[]; next_cursor: null }>(
    'GET',
    pathOf(query, careUnit),
    { headers },
  );
  expect(status).toBe(200);
  expect(body.next_cursor).toBeNull();
  return body.appointments;
}

const rejected = (query: Query, headers: Record<string, string | readonly string[]> = {}) =>
  gateway.request<Problem>('GET', pathOf(query), { headers });

/** Twelve appointments of three patients with three resources: two at each time, and two cancelled. */
const slots = await freeSlots(gateway);
const made: Appointment[] = [];
for (const index of [5, 0, 3, 1, 4, 2]) {
  const slot = slots[index] as Slot;
  const patientId = ['p-1', 'p-2', 'p-3'][index % 3] ?? '';
  made.push(await book(gateway, { slot, patientId }));
  made.push(await book(gateway, { slot: { ...slot, resource_id: index % 2 ? 'r-2' : 'r-3' }, patientId }));
}
for (const index of [1, 6]) {
  const before = made[index] as Appointment;
  const path = `${oslo}/appointments/${before.id}`;
  made[index] = (await gateway.request<Appointment>('PATCH', path, { body: { status: 'cancelled' } })).body;
}
const elsewhere = await book(gateway, { careUnit: bergen, resourceId: 'r-6', patientId: 'p-1' });

const order = (a: Appointment, b: Appointment) => Date.parse(a.start) - Date.parse(b.start) || (a.id < b.id ? -1 : 1);
const expected = (fits: (it: Appointment) => boolean) => made.filter(fits).sort(order);
const all = { start: slots[0]?.start ?? '', end: slots[49]?.end ?? '' };

describe('a list', () => {
  test('filters by patient, and orders by start, then id', { tags: 'every-ehr' }, async () => {
    for (const id of ['p-1', 'p-2', 'p-3']) {
      expect(await list({ patient_id: id })).toEqual(expected((it) => it.patient_id === `emr_id:${id}`));
    }
    expect(await list({ patient_id: 'p-20' })).toEqual([]);
  });

  test('filters by resource', { tags: 'every-ehr' }, async () => {
    for (const id of ['r-1', 'r-2', 'r-3']) {
      expect(await list({ resource_id: id })).toEqual(expected((it) => it.resource_id === `emr_id:${id}`));
    }
  });

  test('filters by time range', { tags: 'every-ehr' }, async () => {
    expect(await list(all)).toEqual(expected(() => true));
  });

  test('combines all filters', { tags: 'every-ehr' }, async () => {
    const query = { patient_id: 'p-1', resource_id: 'r-1', status: 'booked', ...all };
    const fits = (it: Appointment) =>
      it.patient_id === 'emr_id:p-1' && it.resource_id === 'emr_id:r-1' && it.status === 'booked';
    expect(await list(query)).toEqual(expected(fits));
    expect(expected(fits).length).toBeGreaterThan(0);
  });

  test('contains only the care unit of the path', async () => {
    expect(await list({ patient_id: 'p-1' }, bergen)).toEqual([elsewhere]);
    expect(await list({ resource_id: 'r-6' }, bergen)).toEqual([elsewhere]);
  });

  test('contains appointments that overlap the range', { tags: 'every-ehr' }, async () => {
    const [first, second] = slots as [Slot, Slot];
    const starting = (slot: Slot) => expected((it) => it.start === slot.start);
    const shifted = (text: string, seconds: number) => new Date(Date.parse(text) + seconds * 1000).toISOString();
    expect(await list({ start: first.start, end: first.end })).toEqual(starting(first));
    expect(await list({ start: shifted(first.start, -3600), end: first.start })).toEqual([]);
    expect(await list({ start: shifted(first.end, -1), end: first.end })).toEqual(starting(first));
    expect(await list({ start: shifted(first.end, -1), end: shifted(second.start, 1) })).toEqual(
      [...starting(first), ...starting(second)].sort(order),
    );
    expect(await list({ start: shifted(first.start, 600), end: shifted(first.start, 601) })).toEqual(starting(first));
  });

  test('filters by status', { tags: 'every-ehr' }, async () => {
    const cancelled = expected((it) => it.status === 'cancelled');
    const booked = expected((it) => it.status === 'booked');
    expect(cancelled).toHaveLength(2);
    expect(await list({ ...all, status: 'cancelled' })).toEqual(cancelled);
    expect(await list({ ...all, status: 'booked' })).toEqual(booked);
    expect(await list({ ...all, status: ['booked', 'cancelled'] })).toEqual(expected(() => true));
    expect(await list({ ...all, status: ['cancelled', 'cancelled'] })).toEqual(cancelled);
    expect(await list({ ...all, status: 'awaiting_confirmation' })).toEqual([]);
    expect(await list({ ...all, status: ['awaiting_confirmation', 'booked'] })).toEqual(booked);
  });

  test('shows an expired hold as cancelled, and a current one as awaiting confirmation', {
    tags: 'every-ehr',
  }, async () => {
    const { id } = await book(gateway, {
      resourceId: 'r-4',
      patientId: 'p-9',
      from: new Date(Date.parse(all.end) + 1),
    });
    const { hold } = gateway.ehr('sandbox-no');
    await hold(id, new Date(Date.now() + 3_600_000));
    expect(await list({ patient_id: 'p-9', status: 'awaiting_confirmation' })).toMatchObject([
      { id, status: 'awaiting_confirmation' },
    ]);
    expect(await list({ patient_id: 'p-9', status: ['booked', 'cancelled'] })).toEqual([]);
    await hold(id, new Date(Date.now() - 1000));
    expect(await list({ patient_id: 'p-9', status: 'cancelled' })).toMatchObject([{ id, status: 'cancelled' }]);
    expect(await list({ patient_id: 'p-9' })).toMatchObject([{ id, status: 'cancelled' }]);
    expect(await list({ patient_id: 'p-9', status: 'awaiting_confirmation' })).toEqual([]);
  });

  test('takes the patient from a header, so that no URL contains a personal number', async () => {
    const headers = { 'x-patient': 'no_personal_number:15859000026' };
    expect(await list({ patient_id: 'header:x-patient' }, oslo, headers)).toEqual(await list({ patient_id: 'p-1' }));
  });

  test('reads a range without an offset as local time, and a space as the + of an offset', async () => {
    const [first] = slots as [Slot];
    const starting = expected((it) => it.start === first.start);
    expect(await list({ start: first.start.slice(0, 19), end: first.end.slice(0, 19) })).toEqual(starting);
    const { body } = await gateway.request<{ appointments: Appointment[] }>(
      'GET',
      `${oslo}/appointments?start=${first.start}&end=${first.end.replace('+', '%20')}`,
    );
    expect(body.appointments).toEqual(starting);
  });
});

describe('the query', () => {
  test('needs at least one filter', async () => {
    for (const query of [{}, { status: 'booked' }, { limit: '10' }] as const) {
      const { status, body } = await rejected(query);
      expect(status).toBe(400);
      expect(body.reason).toBe('request_invalid');
      expect(body.errors.map((it) => it.parameter).toSorted()).toEqual(['end', 'patient_id', 'resource_id', 'start']);
    }
  });

  test.each([
    ['start', 'end'],
    ['end', 'start'],
  ] as const)('that has %s must have %s', async (given, missing) => {
    for (const more of [{}, { patient_id: 'p-1' }] as Query[]) {
      expect(await rejected({ [given]: all[given], ...more })).toMatchObject({
        status: 400,
        body: { reason: 'request_invalid', errors: [{ parameter: missing, reason: 'request_invalid' }] },
      });
    }
  });

  test('must have a range that ends after it starts', async () => {
    for (const query of [
      { start: all.end, end: all.start },
      { start: all.start, end: all.start },
    ]) {
      expect(await rejected(query)).toMatchObject({
        status: 400,
        body: { reason: 'time_range_invalid', errors: [{ parameter: 'end', reason: 'time_range_invalid' }] },
      });
    }
  });

  test.each([
    ['start', 'yesterday'],
    ['start', '2027-02-30T00:00:00'],
    ['end', '2027-03-20'],
    ['end', ''],
    ['status', 'free'],
    ['status', ''],
    ['status', 'BOOKED'],
    ['status', 'booked,cancelled'],
    ['colour', 'red'],
    ['dry_run', 'true'],
    ['patient_id', ['p-1', 'p-2']],
    ['resource_id', ['r-1', 'r-2']],
    ['start', [all.start, all.start]],
  ] as [string, string | string[]][])('rejects %s = %j', async (parameter, value) => {
    const response = await rejected({ ...all, patient_id: 'p-1', [parameter]: value });
    expect(response).toMatchObject({ status: 400, body: { reason: 'request_invalid' } });
    expect(response.body.errors.map((it) => it.parameter)).toContain(parameter);
  });

  test('must name a resource of its care unit', async () => {
    expect(await rejected({ resource_id: 'r-6' })).toMatchObject({
      status: 400,
      body: { reason: 'resource_not_found', errors: [{ parameter: 'resource_id', reason: 'resource_not_found' }] },
    });
  });
});

for (const kind of ['patient', 'resource'] as const) {
  identifierCases({
    kind,
    place: 'query',
    parameter: `${kind}_id`,
    send: (text, headers) => rejected({ [`${kind}_id`]: text }, headers),
    isFound: ({ status }) => status === 200,
  });
}

pagingCases({
  gateway,
  path: () => pathOf(all),
  others: () => [
    pathOf({ ...all, status: 'booked' }),
    pathOf({ ...all, patient_id: 'p-1' }),
    pathOf({ ...all, resource_id: 'r-1' }),
    pathOf({ patient_id: 'p-1' }),
    pathOf({ ...all, end: new Date(Date.parse(all.end) + 1000).toISOString() }),
    pathOf(all, bergen),
    `${oslo}/timeslots?start=${encodeURIComponent(all.start)}&end=${encodeURIComponent(all.end)}`,
  ],
  field: 'appointments',
  otherClient: 'narrowed',
});

test('pages stay complete while appointments are created and cancelled', { tags: 'every-ehr' }, async () => {
  const first = await gateway.request<{ appointments: Appointment[]; next_cursor: string }>(
    'GET',
    pathOf({ ...all, limit: '4' }),
  );
  const before = await list(all);
  const added = await book(gateway, { slot: { ...(slots[0] as Slot), resource_id: 'r-4' }, patientId: 'p-8' });
  const rest = await gateway.request<{ appointments: Appointment[] }>(
    'GET',
    pathOf({ ...all, limit: '500', cursor: first.body.next_cursor }),
  );
  const seen = [...first.body.appointments, ...rest.body.appointments].filter(({ id }) => id !== added.id);
  expect(seen).toEqual(before);
});
