/** @module-tag any-database */
import { Temporal } from 'temporal-polyfill';
import { afterAll, describe, expect, test } from 'vitest';
import { identifierCases } from '../../../test/cases/identifier-cases.ts';
import { pagingCases } from '../../../test/cases/paging-cases.ts';
import { roomId } from '../../../test/ehrs/under-test.ts';
import { type Problem, startGateway } from '../../../test/gateway/gateway.ts';
import {
  bergen,
  book,
  freeSlot,
  freeSlots,
  oslo,
  pagesOf,
  riverside,
  type Slot,
  sodermalm,
} from '../../../test/requests/bookings.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

type Query = Record<string, string | readonly string[]>;

/** A Monday in the future. */
const monday = Temporal.Now.plainDateISO('Europe/Oslo').add({ days: 14 });
const day = monday.subtract({ days: monday.dayOfWeek - 1 });
const wholeDay = { start: `${day}T00:00:00`, end: `${day.add({ days: 1 })}T00:00:00` };

function pathOf(query: Query, careUnit = oslo): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) for (const it of [value].flat()) search.append(name, String(it));
  return `${careUnit}/timeslots?${search}`;
}

async function list(query: Query, careUnit = oslo): Promise<readonly Slot[]> {
  const { status, body } = await gateway.request<{ timeslots: Slot[]; next_cursor: null }>(
    'GET',
    pathOf({ limit: '500', ...query }, careUnit),
  );
  expect(status).toBe(200);
  expect(body.next_cursor).toBeNull();
  return body.timeslots;
}

function rejected(query: Query, headers: Record<string, string | readonly string[]> = {}) {
  return gateway.request<Problem>('GET', pathOf(query), { headers });
}

describe('free slots', () => {
  test('cover the opening hours, ordered by start, resource, service', { tags: 'every-ehr' }, async () => {
    const slots = await list(wholeDay);
    const times = [
      '08:00',
      '08:30',
      '09:00',
      '09:30',
      '10:00',
      '10:30',
      '11:00',
      '11:30',
      '13:00',
      '13:30',
      '14:00',
      '14:30',
      '15:00',
      '15:30',
    ];
    const offered = [
      ...['r-1', 'r-2', 'r-3', 'r-4'].flatMap((id) => [`emr_id:${id} consultation`, `emr_id:${id} vaccination`]),
      `emr_id:${roomId('r-5')} vaccination`,
    ].sort();
    expect(slots.map((it) => `${it.start.slice(11, 16)} ${it.resource_id} ${it.healthcare_service_id}`)).toEqual(
      times.flatMap((time) => offered.map((it) => `${time} ${it}`)),
    );
    for (const { start, end } of slots) {
      expect(start.slice(0, 10)).toBe(String(day));
      expect(Date.parse(end) - Date.parse(start)).toBe(30 * 60_000);
      expect(Temporal.ZonedDateTime.from(`${start}[Europe/Oslo]`).offset).toBe(start.slice(19));
    }
  });

  test.each([
    [oslo, 'Europe/Oslo'],
    [sodermalm, 'Europe/Stockholm'],
    [riverside, 'Europe/London'],
  ])('have local times in %s', async (careUnit, timeZone) => {
    const [first] = await list({ ...wholeDay, resource_id: 'r-1', healthcare_service_id: 'consultation' }, careUnit);
    expect(first?.start.slice(0, 19)).toBe(`${day}T08:00:00`);
    expect(Temporal.ZonedDateTime.from(`${first?.start}[${timeZone}]`).hour).toBe(8);
  });

  test('exclude the weekend, and in Bergen follow the opening hours of Bergen', async () => {
    const saturday = day.add({ days: 5 });
    expect(await list({ start: `${saturday}T00:00:00`, end: `${saturday.add({ days: 2 })}T00:00:00` })).toEqual([]);
    const inBergen = await list(wholeDay, bergen);
    expect(new Set(inBergen.map((it) => it.resource_id))).toEqual(
      new Set(['r-6', 'r-7', 'r-8', 'r-9', roomId('r-10')].map((id) => `emr_id:${id}`)),
    );
  });

  test('are ordered by code unit, so `10` comes before `6`', async () => {
    const slots = await list(
      { start: `${day}T08:00:00`, end: `${day}T08:30:00`, healthcare_service_id: 'vaccination' },
      bergen,
    );
    const ids = [roomId('r-10'), 'r-6', 'r-7', 'r-8', 'r-9'];
    expect(slots.map((it) => it.resource_id)).toEqual(ids.map((id) => `emr_id:${id}`));
  });

  test('are completely inside the range', { tags: 'every-ehr' }, async () => {
    const only = { resource_id: 'r-2', healthcare_service_id: 'vaccination' };
    const starts = async (start: string, end: string) =>
      (await list({ ...only, start: `${day}T${start}`, end: `${day}T${end}` })).map((it) => it.start.slice(11, 16));
    expect(await starts('08:00:00', '09:00:00')).toEqual(['08:00', '08:30']);
    expect(await starts('08:00:01', '09:00:00')).toEqual(['08:30']);
    expect(await starts('08:00:00', '08:59:59')).toEqual(['08:00']);
    expect(await starts('08:00:00', '08:29:59')).toEqual([]);
    expect(await starts('08:10:00', '08:40:00')).toEqual([]);
    expect(await starts('11:30:00', '13:30:00')).toEqual(['11:30', '13:00']);
    expect(await starts('12:00:00', '13:00:00')).toEqual([]);
    expect(await starts('07:59:59.999', '08:30:00.001')).toEqual(['08:00']);
  });

  test('start in the future', async () => {
    const now = Date.now();
    const range = {
      start: new Date(now - 30 * 86_400_000).toISOString(),
      end: new Date(now + 8 * 86_400_000).toISOString(),
    };
    const slots = await list({ ...range, resource_id: 'r-4', healthcare_service_id: 'consultation' });
    expect(slots.length).toBeGreaterThan(0);
    for (const { start } of slots) expect(Date.parse(start)).toBeGreaterThan(now);
    const past = { start: new Date(now - 30 * 86_400_000).toISOString(), end: new Date(now).toISOString() };
    expect(await list(past)).toEqual([]);
  });

  test('exclude booked times, for every service of the resource, and nothing else', { tags: 'every-ehr' }, async () => {
    const slot = await freeSlot(gateway, { resourceId: 'r-3', from: new Date(`${day}T10:00:00Z`) });
    const range = { start: slot.start, end: slot.end };
    const key = (it: Slot) => `${it.resource_id} ${it.healthcare_service_id}`;
    const before = (await list(range)).map(key);
    expect(before).toContain('emr_id:r-3 consultation');
    const { id } = await book(gateway, { slot });
    expect((await list(range)).map(key)).toEqual(before.filter((it) => !it.startsWith('emr_id:r-3 ')));
    await gateway.request('PATCH', `${oslo}/appointments/${id}`, { body: { status: 'cancelled' } });
    expect((await list(range)).map(key)).toEqual(before);
  });
});

describe('filters', () => {
  test('can be repeated', async () => {
    const slots = await list({
      ...wholeDay,
      resource_id: ['emr_id:r-2', 'r-1', 'r-2'],
      healthcare_service_id: ['vaccination', 'vaccination'],
    });
    expect(new Set(slots.map((it) => `${it.resource_id} ${it.healthcare_service_id}`))).toEqual(
      new Set(['emr_id:r-1 vaccination', 'emr_id:r-2 vaccination']),
    );
    expect(slots).toHaveLength(28);
  });

  test('find nothing for a consultation in a room', async () => {
    expect(await list({ ...wholeDay, resource_id: roomId('r-5'), healthcare_service_id: 'consultation' })).toEqual([]);
  });

  test('accept every identifier of a resource', { tags: 'every-ehr' }, async () => {
    const query = { ...wholeDay, healthcare_service_id: 'consultation' };
    const expected = await list({ ...query, resource_id: 'r-1' }, sodermalm);
    expect(expected).toHaveLength(14);
    for (const resource_id of ['hsa_id:SE0000000000-1001', 'se_personal_number:19640823-3234']) {
      expect(await list({ ...query, resource_id }, sodermalm)).toEqual(expected);
    }
  });

  test('must name existing healthcare services', async () => {
    for (const healthcare_service_id of ['surgery', 'Consultation', '', 'constructor', ['consultation', 'surgery']]) {
      expect(await rejected({ ...wholeDay, healthcare_service_id })).toMatchObject({
        status: 400,
        body: { reason: 'healthcare_service_not_found', errors: [{ parameter: 'healthcare_service_id' }] },
      });
    }
  });

  test('name at most 100 values', async () => {
    const hundred = Array.from({ length: 100 }, () => 'r-1');
    expect(await list({ ...wholeDay, resource_id: hundred, healthcare_service_id: 'consultation' })).toHaveLength(14);
    expect(await rejected({ ...wholeDay, resource_id: [...hundred, 'r-1'] })).toMatchObject({
      status: 400,
      body: { reason: 'request_invalid', errors: [{ parameter: 'resource_id' }] },
    });
  });

  identifierCases({
    kind: 'resource',
    place: 'query',
    parameter: 'resource_id',
    send: (text, headers) => rejected({ ...wholeDay, resource_id: text }, headers),
    isFound: ({ status }) => status === 200,
  });
});

describe('the range', () => {
  test.each([
    ['with the offset of the care unit', `${day}T10:00:00+01:00`, `${day}T10:30:00+01:00`],
    ['in UTC', `${day}T09:00:00Z`, `${day}T09:30:00z`],
    ['with other offsets', `${day}T14:30:00+05:30`, `${day}T04:30:00-05:00`],
    ['with fractions', `${day}T09:00:00.000Z`, `${day}T09:30:00.999999999Z`],
    ['with a lower-case t', `${day}t09:00:00Z`, `${day}t09:30:00Z`],
  ])('can be given %s', async (_, start, end) => {
    const [slot, ...more] = await list({ start, end, resource_id: 'r-2', healthcare_service_id: 'consultation' });
    expect(more).toEqual([]);
    expect(Date.parse(slot?.start ?? '')).toBe(Date.parse(`${day}T09:00:00Z`));
  });

  test('can have a space in place of the + of its offset', async () => {
    const query = `start=${day}T10:00:00+01:00&end=${day}T10:30:00 01:00&resource_id=r-2&healthcare_service_id=consultation`;
    const raw = `${oslo}/timeslots?${query.replace(' ', '%20')}`;
    const { status, body } = await gateway.request<{ timeslots: Slot[] }>('GET', raw);
    expect(status).toBe(200);
    expect(body.timeslots).toHaveLength(1);
  });

  test('has at most 92 days', async () => {
    const days = (count: number, more = '') => ({
      start: `${day}T00:00:00Z`,
      end: `${day.add({ days: count })}T00:00:00${more}Z`,
    });
    expect((await gateway.request('GET', pathOf(days(92)))).status).toBe(200);
    for (const query of [days(92, '.001'), days(93), { start: '1900-01-01T00:00:00Z', end: '2200-12-31T00:00:00Z' }]) {
      expect(await rejected(query)).toMatchObject({
        status: 400,
        body: { reason: 'time_range_invalid', errors: [{ parameter: 'end', reason: 'time_range_invalid' }] },
      });
    }
  });

  test('must end after it starts', async () => {
    for (const [start, end] of [
      [wholeDay.end, wholeDay.start],
      [wholeDay.start, wholeDay.start],
      [`${day}T10:00:00+01:00`, `${day}T09:00:00Z`],
    ] as const) {
      expect(await rejected({ start, end })).toMatchObject({
        status: 400,
        body: { reason: 'time_range_invalid', errors: [{ parameter: 'end' }] },
      });
    }
  });

  test.each([
    ['start', { end: wholeDay.end }],
    ['end', { start: wholeDay.start }],
  ])('must have a %s', async (parameter, query) => {
    expect(await rejected(query)).toMatchObject({
      status: 400,
      body: { reason: 'request_invalid', errors: [{ parameter, reason: 'request_invalid' }] },
    });
  });

  test('must have both ends', async () => {
    const { status, body } = await rejected({});
    expect(status).toBe(400);
    expect(body.errors.map((it) => it.parameter).toSorted()).toEqual(['end', 'start']);
  });

  test.each([
    '',
    'tomorrow',
    String(day),
    `${day}T10:00`,
    `${day} 10:00:00`,
    `${day}T10:00:00+0100`,
    `${day}T10:00:00+25:00`,
    `${day}T24:00:00`,
    `${day}T10:60:00`,
    '2027-02-30T10:00:00',
    '2027-02-29T10:00:00Z',
    '2027-13-01T10:00:00',
    '10000-01-01T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '-000001-01-01T00:00:00Z',
    `${day}T10:00:00[Europe/Oslo]`,
    `${day}T10:00:00,5`,
    '1767225600',
  ])('must not start at "%s"', async (start) => {
    expect(await rejected({ start, end: wholeDay.end })).toMatchObject({
      status: 400,
      body: { reason: 'request_invalid', errors: [{ parameter: 'start' }] },
    });
  });

  test('must not be repeated, and there are no other parameters', async () => {
    expect(await rejected({ ...wholeDay, start: [wholeDay.start, wholeDay.start] })).toMatchObject({
      status: 400,
      body: { reason: 'request_invalid', errors: [{ parameter: 'start' }] },
    });
    expect(await rejected({ ...wholeDay, patient_id: 'p-1' })).toMatchObject({
      status: 400,
      body: { reason: 'request_invalid', errors: [{ parameter: 'patient_id' }] },
    });
  });
});

test('the pages of a whole month are ordered and contain no slot twice', { tags: 'every-ehr' }, async () => {
  const query = pathOf({ start: wholeDay.start, end: `${day.add({ days: 28 })}T00:00:00`, limit: '400' });
  const pages = await pagesOf<Slot>(gateway, query, 'timeslots');
  const keys = pages
    .flat()
    .map((it) => `${new Date(it.start).toISOString()} ${it.resource_id} ${it.healthcare_service_id}`);
  expect(keys).toHaveLength(20 * 14 * 9);
  expect(keys).toEqual([...new Set(keys)].toSorted());
});

pagingCases({
  gateway,
  path: () => pathOf({ ...wholeDay, resource_id: 'r-2', healthcare_service_id: 'consultation' }),
  others: () => [
    pathOf({ ...wholeDay, resource_id: 'r-1', healthcare_service_id: 'consultation' }),
    pathOf({ ...wholeDay, resource_id: 'r-2' }),
    pathOf({ ...wholeDay, end: `${day}T20:00:00`, resource_id: 'r-2', healthcare_service_id: 'consultation' }),
    pathOf({ ...wholeDay, resource_id: 'r-2', healthcare_service_id: 'consultation' }, sodermalm),
    `${oslo}/appointments?resource_id=r-2`,
  ],
  field: 'timeslots',
  otherClient: 'narrowed',
});

test('the slots of a day do not depend on the requested range', { tags: 'every-ehr' }, async () => {
  const slots = await freeSlots(gateway, { resourceId: 'r-2', from: new Date(`${day}T00:00:00Z`), days: 1 });
  const wide = await list({
    start: `${day.subtract({ days: 10 })}T00:00:00`,
    end: `${day.add({ days: 30 })}T00:00:00`,
    resource_id: 'r-2',
    healthcare_service_id: 'consultation',
  });
  expect(wide.filter((it) => it.start.startsWith(String(day)))).toEqual(slots);
});
