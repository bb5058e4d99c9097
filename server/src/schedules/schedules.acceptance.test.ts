/** @module-tag any-database */
import { Temporal } from 'temporal-polyfill';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { identifierCases } from '../../../test/cases/identifier-cases.ts';
import { type Problem, startGateway } from '../../../test/gateway/gateway.ts';
import {
  type Appointment,
  bergen,
  creationBody,
  freeSlots,
  oslo,
  pagesOf,
  type Slot,
} from '../../../test/requests/bookings.ts';
import { nextClockChange } from '../../../test/requests/clock-change-days.ts';
import { rowsOf } from '../../../test/requests/codes.ts';
import type { ScheduleBody } from './contract.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

/** Schedules are written by transactions, which this server does not run all or nothing. */
const readsOnly = inject('ehrKind') === 'medplum';

/** A Monday to come. All other dates count from it. */
const monday = (() => {
  const soon = Temporal.Now.plainDateISO('Europe/Oslo').add({ days: 30 });
  return soon.subtract({ days: soon.dayOfWeek - 1 });
})();

function on(days: number, time: string): string {
  return `${monday.add({ days })}T${time}:00`;
}

function basic(local: string): string {
  return local.replaceAll(/[-:]/g, '');
}

function schedulesOf(resourceId: string, careUnit = oslo): string {
  return `${careUnit}/resources/${resourceId}/schedules`;
}

/** An evening of four slots, once. */
const evening = {
  start_time: on(0, '18:00'),
  end_time: on(0, '20:00'),
  slot_minutes: 30,
  healthcare_service_ids: ['consultation'],
};

/** The times of a schedule of the sandbox are known. */
type Timed = ScheduleBody & { readonly start: string; readonly end: string };

function post<Body = Timed & Problem>(path: string, body: unknown, headers: Record<string, string> = {}) {
  return gateway.request<Body>('POST', path, { body, headers });
}

async function created(resourceId: string, change: Record<string, unknown> = {}): Promise<Timed> {
  const answer = await post(schedulesOf(resourceId), { ...evening, ...change });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

function book(slot: Omit<Slot, 'healthcare_service_id'>, careUnit = oslo) {
  return post<Appointment & Problem>(
    `${careUnit}/appointments`,
    creationBody({ ...slot, healthcare_service_id: 'consultation' }),
  );
}

/** Local starts of the free slots on a day. */
async function slotsOn(resourceId: string, days: number, from = '17:00'): Promise<string[]> {
  const start = new Date(monday.add({ days }).toZonedDateTime('Europe/Oslo').epochMilliseconds);
  const slots = await freeSlots(gateway, { resourceId, from: start, days: 1 });
  return slots.map((slot) => slot.start.slice(11, 16)).filter((time) => time >= from);
}

async function listed(resourceId: string, query = ''): Promise<readonly ScheduleBody[]> {
  const { body } = await gateway.request<{ schedules: ScheduleBody[] }>('GET', `${schedulesOf(resourceId)}?${query}`);
  return body.schedules;
}

describe('create_schedule', () => {
  if (!readsOnly)
    test('gives time slots that can be booked at once', { tags: 'every-ehr' }, async () => {
      const answer = await post(schedulesOf('r-1'), evening);
      expect(answer).toMatchObject({
        status: 201,
        body: {
          id: expect.stringMatching(/\S/),
          resource_id: 'emr_id:r-1',
          healthcare_service_ids: ['consultation'],
          start: expect.stringMatching(`^${evening.start_time}[+]0[12]:00$`),
          end: expect.stringMatching(`^${evening.end_time}[+]0[12]:00$`),
          slot_minutes: 30,
          recurrence: null,
          ends_at: null,
          exceptions: [],
        },
      });
      expect(await slotsOn('r-1', 0)).toEqual(['18:00', '18:30', '19:00', '19:30']);
      const { body } = await gateway.request('GET', answer.headers.location ?? '');
      expect(body).toEqual(answer.body);
      const { start, end, resource_id } = answer.body;
      expect(await book({ start, end, resource_id })).toMatchObject({ status: 201 });
      expect(await slotsOn('r-1', 0)).toEqual([]);
    });

  if (!readsOnly)
    test('repeats a schedule by its rule, until a local time', { tags: 'every-ehr' }, async () => {
      const recurrence = `FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=${basic(on(9, '18:00'))}`;
      expect(await created('r-2', { recurrence })).toMatchObject({ recurrence });
      const days = await Promise.all([0, 1, 2, 7, 9, 14].map(async (day) => (await slotsOn('r-2', day)).length));
      expect(days).toEqual([4, 0, 4, 4, 4, 0]);
    });

  test.each(['spring', 'autumn'] as const)('keeps local times across the clock change in %s', async (season) => {
    const { date } = nextClockChange('Europe/Oslo', season);
    const before = date.subtract({ days: 1 });
    const night = { start_time: `${before}T22:00:00`, end_time: `${date}T06:00:00`, recurrence: 'FREQ=DAILY;COUNT=3' };
    const { start } = await created('r-3', { ...night, slot_minutes: 60 });
    const slots = await freeSlots(gateway, { resourceId: 'r-3', from: new Date(start), days: 1 });
    const starts = slots.map((slot) => slot.start).filter((it) => it < `${date}T08`);
    expect(starts).toHaveLength(season === 'spring' ? 7 : 9);
    expect(new Set(starts.map((it) => Date.parse(it))).size).toBe(starts.length);
    expect(starts.at(-1)).toMatch(/T05:00:00/);
  });

  test('rejects an overlap with another schedule of the resource within two years', async () => {
    const weekly = { recurrence: 'FREQ=WEEKLY;COUNT=150', start_time: on(1, '20:00'), end_time: on(1, '21:00') };
    await created('r-4', weekly);
    const distant = monday.add({ days: 1, weeks: 100 });
    const overlapping = { ...evening, start_time: `${distant}T20:30:00`, end_time: `${distant}T21:00:00` };
    for (const it of [
      overlapping,
      { ...evening, start_time: on(1, '07:30'), end_time: on(1, '08:30') },
      { ...evening, start_time: on(3, '20:30'), end_time: on(3, '21:00'), recurrence: 'FREQ=DAILY;COUNT=6' },
    ]) {
      expect(await post(schedulesOf('r-4'), it)).toMatchObject({
        status: 409,
        body: { reason: 'schedule_overlap', errors: [{ pointer: '/start_time', reason: 'schedule_overlap' }] },
      });
    }
    await created('r-4', { start_time: on(1, '21:00'), end_time: on(1, '21:30') });
    expect(await post(schedulesOf('r-3'), overlapping)).toMatchObject({ status: 201 });
  });

  test('rejects more schedules of one resource than it can compare', async () => {
    const count = (await listed('r-2')).length;
    await rowsOf(
      gateway,
      `INSERT INTO sandbox.schedules
       SELECT emr, 'many-' || number, care_unit_id, resource_id, healthcare_service_ids,
         to_char(current_date + number, 'YYYY-MM-DD"T"20:00:00'), to_char(current_date + number, 'YYYY-MM-DD"T"20:30:00'), 30, NULL
       FROM (SELECT * FROM sandbox.schedules WHERE emr = 'sandbox-no' AND resource_id = 'r-2' LIMIT 1) AS one,
         generate_series(1, $1) AS number`,
      [100 - count],
    );
    const another = { ...evening, start_time: on(0, '21:00'), end_time: on(0, '21:30') };
    expect(await post(schedulesOf('r-2'), another)).toMatchObject({
      status: 409,
      body: { reason: 'schedule_limit_reached', origin: 'caller', errors: [] },
    });
    // One that is over does not count.
    await rowsOf(
      gateway,
      `UPDATE sandbox.schedules SET local_start = '2020-01-06T20:00:00', local_end = '2020-01-06T20:30:00'
       WHERE id = 'many-1'`,
    );
    expect((await post(schedulesOf('r-2'), another)).status).toBe(201);
    await rowsOf(gateway, `DELETE FROM sandbox.schedules WHERE id LIKE 'many-%'`);
  });

  if (!readsOnly)
    test('creates one schedule for each Idempotency-Key', { tags: 'every-ehr' }, async () => {
      const body = { ...evening, start_time: on(4, '18:00'), end_time: on(4, '19:00') };
      const before = (await listed('r-1')).length;
      const send = () => post(schedulesOf('r-1'), body, { 'idempotency-key': 'schedule-1' });
      const [first, second] = [await send(), await send()];
      expect(first.status).toBe(201);
      expect(second).toMatchObject({ status: 201, body: first.body, headers: { 'idempotency-replayed': 'true' } });
      expect(second.headers.location).toBe(first.headers.location);
      expect(await listed('r-1')).toHaveLength(before + 1);
    });

  test.each<[string, Record<string, unknown>, string, string]>([
    ['an end before the start', { end_time: on(0, '17:00') }, 'time_range_invalid', '/end_time'],
    ['more than a day', { end_time: on(1, '18:30') }, 'time_range_invalid', '/end_time'],
    [
      'the past',
      { start_time: '2020-01-06T18:00:00', end_time: '2020-01-06T19:00:00' },
      'time_range_invalid',
      '/end_time',
    ],
    ['slots that do not fit', { slot_minutes: 50 }, 'time_range_invalid', '/slot_minutes'],
    ['slots longer than the schedule', { slot_minutes: 240 }, 'time_range_invalid', '/slot_minutes'],
    ['very short slots', { slot_minutes: 1 }, 'request_invalid', '/slot_minutes'],
    ['a local time that a clock change skips', skipped(), 'local_time_nonexistent', '/start_time'],
    ['an offset', { start_time: `${on(0, '18:00')}+01:00` }, 'request_invalid', '/start_time'],
    [
      'an unknown service',
      { healthcare_service_ids: ['x'] },
      'healthcare_service_not_found',
      '/healthcare_service_ids/0',
    ],
    ['no service', { healthcare_service_ids: [] }, 'request_invalid', '/healthcare_service_ids'],
    ['a service twice', { healthcare_service_ids: ['a', 'a'] }, 'request_invalid', '/healthcare_service_ids'],
    ['an unknown field', { capacity: 3 }, 'request_invalid', '/capacity'],
    ['a rule that never ends', { recurrence: 'FREQ=DAILY' }, 'recurrence_invalid', '/recurrence'],
    ['a prefix', { recurrence: 'RRULE:FREQ=DAILY;COUNT=2' }, 'recurrence_invalid', '/recurrence'],
    [
      'a rule and more lines',
      { recurrence: 'FREQ=DAILY;COUNT=2\nEXDATE:20300101T000000Z' },
      'recurrence_invalid',
      '/recurrence',
    ],
    [
      'an over-long rule',
      { recurrence: `FREQ=DAILY;COUNT=2;BYMONTH=${'1,'.repeat(300)}1` },
      'request_invalid',
      '/recurrence',
    ],
    [
      'a rule that has passed',
      { start_time: '2020-01-06T18:00:00', end_time: '2020-01-06T19:00:00', recurrence: 'FREQ=DAILY;COUNT=9' },
      'time_range_invalid',
      '/end_time',
    ],
  ])('rejects %s and stores nothing', async (_, change, reason, pointer) => {
    const before = await listed('r-1');
    const rejected = await post(schedulesOf('r-1'), { ...evening, ...change });
    expect(rejected).toMatchObject({ status: 400, body: { reason, errors: [{ pointer, reason }] } });
    expect(await listed('r-1')).toEqual(before);
  });

  test('rejects a service that the resource does not offer', async () => {
    expect(
      await post(schedulesOf('r-5'), { ...evening, healthcare_service_ids: ['vaccination', 'consultation'] }),
    ).toMatchObject({
      status: 400,
      body: { reason: 'healthcare_service_not_offered', errors: [{ pointer: '/healthcare_service_ids/1' }] },
    });
  });
});

/** The hour that a clock change skips. */
function skipped() {
  const { date } = nextClockChange('Europe/Oslo', 'spring');
  return { start_time: `${date}T02:30:00`, end_time: `${date}T04:30:00` };
}

describe('list_schedules and get_schedule', () => {
  test('return the opening hours by id, in pages', async () => {
    const all = await listed('r-5');
    expect(all.map(({ id, recurrence, slot_minutes }) => [id, recurrence, slot_minutes])).toEqual([
      ['r-5-afternoon', 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR', 30],
      ['r-5-morning', 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR', 30],
    ]);
    expect(all[1]).toMatchObject({ start: '2024-01-01T08:00:00+01:00', end: '2024-01-01T12:00:00+01:00' });
    expect((await pagesOf(gateway, `${schedulesOf('r-5')}?limit=1`, 'schedules')).flat()).toEqual(all);
    for (const schedule of all) {
      expect((await gateway.request('GET', `${schedulesOf('r-5')}/${schedule.id}`)).body).toEqual(schedule);
    }
  });

  test('a range contains the schedules with an occurrence in it', async () => {
    const range = (start: string, end: string) => listed('r-5', new URLSearchParams({ start, end }).toString());
    expect(await range(on(0, '11:45'), on(0, '13:00'))).toMatchObject([{ id: 'r-5-morning' }]);
    expect(await range(on(0, '12:00'), on(0, '13:00'))).toEqual([]);
    expect(await range(on(5, '00:00'), on(7, '00:00'))).toEqual([]);
  });

  test.each([
    ['a start alone', 'start=2030-01-01T00:00:00', 'request_invalid', 'end'],
    ['a long range', 'start=2030-01-01T00:00:00&end=2032-01-01T00:00:00', 'time_range_invalid', 'end'],
  ])('reject %s', async (_, query, reason, parameter) => {
    expect(await gateway.request('GET', `${schedulesOf('r-5')}?${query}`)).toMatchObject({
      status: 400,
      body: { reason, errors: [{ parameter, reason }] },
    });
  });

  test('do not find the schedule of another resource or care unit', async () => {
    for (const path of [
      `${schedulesOf('r-4')}/r-5-morning`,
      `${schedulesOf('r-4')}/none`,
      `${schedulesOf('r-6', bergen)}/r-5-morning`,
    ]) {
      for (const answer of [
        await gateway.request('GET', path),
        await post(`${path}/end`, { end_time: on(0, '00:00') }),
        await post(`${path}/exceptions`, { start_time: on(0, '00:00'), end_time: on(1, '00:00') }),
      ]) {
        expect(answer).toMatchObject({
          status: 404,
          body: { reason: 'schedule_not_found', errors: [{ parameter: 'schedule_id' }] },
        });
      }
    }
    expect(await gateway.request('GET', schedulesOf('r-6'))).toMatchObject({
      status: 404,
      body: { reason: 'resource_not_found' },
    });
  });

  identifierCases({
    kind: 'resource',
    place: 'path',
    parameter: 'resource_id',
    send: (text, headers) => gateway.request('GET', schedulesOf(encodeURIComponent(text)), headers ? { headers } : {}),
    isFound: ({ status }) => status === 200,
  });
});

describe.each([
  ['end_schedule', 'end', { end_time: on(21, '00:00') }],
  ['add_schedule_exception', 'exceptions', { start_time: on(21, '00:00'), end_time: on(100, '00:00') }],
] as const)('%s', (_, action, body) => {
  const resourceId = action === 'end' ? 'r-7' : 'r-8';
  const path = (id: string) => `${schedulesOf(resourceId, bergen)}/${id}/${action}`;
  const slotsFrom = (days: number) =>
    freeSlots(gateway, {
      careUnit: bergen,
      resourceId,
      from: new Date(monday.add({ days }).toZonedDateTime('Europe/Oslo').epochMilliseconds),
      days: 1,
    });

  test('removes the time slots, unless appointments take them', async () => {
    const id = `${resourceId}-morning`;
    const [slot] = await slotsFrom(22);
    if (!slot) throw new Error('No slot');
    const booked = await book(slot, bergen);
    expect(booked.status).toBe(201);
    const rejected = await post(path(id), body);
    expect(rejected).toMatchObject({
      status: 409,
      body: {
        reason: 'schedule_has_appointments',
        errors: [{ id: booked.body.id, reason: 'schedule_has_appointments' }],
      },
    });
    expect(await slotsFrom(22)).toHaveLength(13);
    await gateway.request('PATCH', `${bergen}/appointments/${booked.body.id}`, { body: { status: 'cancelled' } });
    const done = await post(path(id), body);
    expect(done.status, done.text).toBe(200);
    expect(done.body).toMatchObject(
      action === 'end'
        ? { ends_at: expect.stringContaining(body.end_time) }
        : { exceptions: [{ end: expect.stringContaining(body.end_time) }] },
    );
    expect((await slotsFrom(20 - 2)).length).toBe(14);
    expect((await slotsFrom(22)).map((it) => it.start.slice(11, 16))).not.toContain('08:00');
    expect(await slotsFrom(22)).toHaveLength(6);
    expect(await slotsFrom(105)).toHaveLength(action === 'end' ? 6 : 14);
    expect(await book(slot, bergen)).toMatchObject({ status: 400, body: { reason: 'time_slot_unavailable' } });
    const { body: schedule } = await gateway.request('GET', `${schedulesOf(resourceId, bergen)}/${id}`);
    expect(schedule).toEqual(done.body);
  });

  test('rejects the past, and the same request again is the same', async () => {
    const id = `${resourceId}-afternoon`;
    const long = '2020-01-01T00:00:00';
    const past = action === 'end' ? { end_time: long } : { start_time: long, end_time: '2020-02-01T00:00:00' };
    expect(await post(path(id), past)).toMatchObject({ status: 400, body: { reason: 'time_range_invalid' } });
    const [first, second] = [await post(path(id), body), await post(path(id), body)];
    expect([first.status, second.status]).toEqual([200, 200]);
    if (action === 'end') expect(second.body).toEqual(first.body);
  });
});

// The server takes no schedules from the gateway.
if (!readsOnly)
  test('a booking and an exception that race leave no appointment without slots', { tags: 'every-ehr' }, async () => {
    const { id } = await created('r-2', { start_time: on(5, '10:00'), end_time: on(5, '12:00') });
    const [booking, exception] = await Promise.all([
      book({ start: on(5, '10:00'), end: on(5, '10:30'), resource_id: 'r-2' }),
      post(`${schedulesOf('r-2')}/${id}/exceptions`, { start_time: on(5, '09:00'), end_time: on(5, '11:00') }),
    ]);
    expect([
      [201, 409],
      [400, 200],
    ]).toContainEqual([booking.status, exception.status]);
  });

if (readsOnly)
  test('an EHR that writes no schedules rejects each write before any look-up', { tags: 'every-ehr' }, async () => {
    const nobodys = schedulesOf('no-such-resource');
    for (const [path, body] of [
      [nobodys, evening],
      [`${nobodys}/1/end`, { end_time: on(0, '18:00') }],
      [`${nobodys}/1/exceptions`, { start_time: on(0, '18:00'), end_time: on(0, '19:00') }],
    ] as const) {
      expect(await post(path, body)).toMatchObject({ status: 501, body: { reason: 'operation_unsupported' } });
    }
  });
