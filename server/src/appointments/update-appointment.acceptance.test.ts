/** @module-tag any-database */
import { afterAll, describe, expect, test } from 'vitest';
import { bodyCases } from '../../../test/cases/body-cases.ts';
import { identifierCases } from '../../../test/cases/identifier-cases.ts';
import { roomId } from '../../../test/ehrs/under-test.ts';
import { type Problem, startGateway } from '../../../test/gateway/gateway.ts';
import {
  type Appointment,
  bergen,
  book,
  consecutiveSlots,
  freeSlot,
  freeSlots,
  local,
  oslo,
  riverside,
  type Slot,
} from '../../../test/requests/bookings.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

function change<Body = Appointment>(
  id: string,
  body: unknown,
  { careUnit = oslo, headers = {} as Record<string, string | readonly string[]> } = {},
) {
  return gateway.request<Body>('PATCH', `${careUnit}/appointments/${id}`, { body, headers });
}

const rejected = (id: string, body: unknown, headers: Record<string, string | readonly string[]> = {}) =>
  change<Problem>(id, body, { headers });

async function stored(id: string, careUnit = oslo): Promise<Appointment> {
  return (await gateway.request<Appointment>('GET', `${careUnit}/appointments/${id}`)).body;
}

/** For requests that are rejected or change only the comment. */
const standing = await book(gateway, { resourceId: 'r-4' });

describe('a move', () => {
  test('changes the time only', async () => {
    const from = await freeSlot(gateway);
    const before = await book(gateway, { slot: from, comment: 'stays' });
    const to = await freeSlot(gateway);
    const { status, body } = await change(before.id, { start: to.start, end: to.end });
    expect(status).toBe(200);
    expect(body).toEqual({ ...before, start: to.start, end: to.end });
    expect(await stored(before.id)).toEqual(body);
    const free = (await freeSlots(gateway)).map((it) => it.start);
    expect(free).toContain(from.start);
    expect(free).not.toContain(to.start);
  });

  test('accepts a time in any offset, or local time', async () => {
    const before = await book(gateway, { resourceId: 'r-2' });
    const [a, b, c] = (await freeSlots(gateway, { resourceId: 'r-2' })) as [Slot, Slot, Slot];
    const utc = (text: string) => new Date(text).toISOString();
    expect((await change(before.id, { start: utc(a.start), end: utc(a.end) })).body).toMatchObject({
      start: a.start,
      end: a.end,
    });
    expect((await change(before.id, { start: local(b.start), end: local(b.end) })).body).toMatchObject({
      start: b.start,
      end: b.end,
    });
    const inIndia = (text: string) =>
      utc(new Date(Date.parse(text) + 5.5 * 3_600_000).toISOString()).replace('Z', '+05:30');
    expect((await change(before.id, { start: inIndia(c.start), end: c.end })).body).toMatchObject({
      start: c.start,
      end: c.end,
    });
  });

  test("treats the appointment's own time as free", { tags: 'every-ehr' }, async () => {
    const [first, second, third] = (await consecutiveSlots(gateway, 3, { resourceId: 'r-3' })) as [Slot, Slot, Slot];
    const { id } = await book(gateway, { slot: first });
    const to = async (from: Slot, until: Slot) => {
      const { status, body } = await change(id, { start: from.start, end: until.end });
      expect(status).toBe(200);
      expect(body).toMatchObject({ id, start: from.start, end: until.end });
    };
    await to(first, first);
    await to(first, second);
    await to(second, third);
    await to(first, third);
    await to(second, second);
    const free = (await freeSlots(gateway, { resourceId: 'r-3' })).map((it) => it.start);
    expect(free).toEqual(expect.arrayContaining([first.start, third.start]));
  });

  test('to another resource keeps the time', { tags: 'every-ehr' }, async () => {
    const [slot] = await freeSlots(gateway, { resourceId: 'r-2' });
    if (!slot) throw new Error('No free slot');
    const before = await book(gateway, { slot });
    const { status, body } = await change(before.id, { resource_id: 'emr_id:r-3' });
    expect(status).toBe(200);
    expect(body).toEqual({ ...before, resource_id: 'emr_id:r-3' });
    expect((await freeSlots(gateway, { resourceId: 'r-2' })).map((it) => it.start)).toContain(slot.start);
    expect((await freeSlots(gateway, { resourceId: 'r-3' })).map((it) => it.start)).not.toContain(slot.start);
    expect((await change(before.id, { resource_id: 'r-3' })).body).toEqual(body);
  });

  test('changes time, resource and comment at once', async () => {
    const { id } = await book(gateway, { resourceId: 'r-2', comment: 'old' });
    const to = await freeSlot(gateway, { resourceId: 'r-3' });
    const { body } = await change(
      id,
      { start: to.start, end: to.end, resource_id: 'header:x-r', comment: 'new' },
      { headers: { 'x-r': 'r-3' } },
    );
    expect(body).toMatchObject({ id, start: to.start, end: to.end, resource_id: 'emr_id:r-3', comment: 'new' });
  });

  test('needs no code, even if bookings or cancellations need one', async () => {
    const { id } = await book(gateway, { careUnit: riverside });
    const to = await freeSlot(gateway, { careUnit: riverside });
    const { status, body } = await change(id, { start: to.start, end: to.end }, { careUnit: riverside });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, status: 'booked', start: to.start });
  });

  test('to a taken time changes nothing', { tags: 'every-ehr' }, async () => {
    const [first, second] = (await consecutiveSlots(gateway, 2)) as [Slot, Slot];
    const mine = await book(gateway, { slot: first, comment: 'before' });
    await book(gateway, { slot: second });
    for (const body of [
      { start: second.start, end: second.end, comment: 'after' },
      { start: first.start, end: second.end },
    ]) {
      expect(await rejected(mine.id, body)).toMatchObject({
        status: 400,
        body: {
          reason: 'time_slot_unavailable',
          detail: expect.stringContaining(`resource r-1 from ${body.start} to ${body.end}`),
          errors: [{ pointer: '/start', reason: 'time_slot_unavailable' }],
        },
      });
    }
    expect(await stored(mine.id)).toEqual(mine);
  });

  test('to a resource that is not free changes nothing', { tags: 'every-ehr' }, async () => {
    const slot = await freeSlot(gateway);
    const mine = await book(gateway, { slot });
    await book(gateway, { slot: { ...slot, resource_id: 'emr_id:r-2' } });
    expect(await rejected(mine.id, { resource_id: 'r-2', comment: 'after' })).toMatchObject({
      status: 400,
      body: { reason: 'time_slot_unavailable', errors: [{ pointer: '/resource_id', reason: 'time_slot_unavailable' }] },
    });
    // The room does not offer a consultation.
    expect(await rejected(mine.id, { resource_id: roomId('r-5') })).toMatchObject({
      body: { reason: 'time_slot_unavailable', errors: [{ pointer: '/resource_id' }] },
    });
    expect(await stored(mine.id)).toEqual(mine);
  });

  test('must match time slots', async () => {
    const { start, end } = standing;
    const shift = (text: string, minutes: number) => new Date(Date.parse(text) + minutes * 60_000).toISOString();
    for (const [from, until] of [
      [shift(start, 15), shift(end, 15)],
      [start, shift(end, 15)],
      [shift(start, -15), end],
      [shift(start, 14 * 60), shift(end, 14 * 60)],
    ]) {
      expect(await rejected(standing.id, { start: from, end: until })).toMatchObject({
        status: 400,
        body: { reason: 'time_slot_unavailable', errors: [{ pointer: '/start' }] },
      });
    }
  });

  test('cannot be into the past, end before it starts, or last longer than a day', async () => {
    const { start, end } = standing;
    const dayLater = (text: string) => new Date(Date.parse(text) + 86_401_000).toISOString();
    for (const [from, until, pointer] of [
      ['2024-01-02T08:00:00Z', '2024-01-02T08:30:00Z', '/start'],
      [end, start, '/end'],
      [start, start, '/end'],
      [start, dayLater(start), '/end'],
    ]) {
      expect(await rejected(standing.id, { start: from, end: until })).toMatchObject({
        status: 400,
        body: { reason: 'time_range_invalid', errors: [{ pointer, reason: 'time_range_invalid' }] },
      });
    }
  });
});

describe('a comment', () => {
  test('alone can be changed, cleared and kept', async () => {
    const before = await book(gateway, { resourceId: 'r-2', comment: 'first' });
    for (const [sent, kept] of [
      ['second', 'second'],
      ['', null],
      ['x'.repeat(2000), 'x'.repeat(2000)],
    ] as const) {
      const { status, body } = await change(before.id, { comment: sent });
      expect(status).toBe(200);
      expect(body).toEqual({ ...before, comment: kept });
    }
    expect((await change(before.id, { resource_id: 'r-2' })).body.comment).toHaveLength(2000);
  });

  test('can be sent with the current time', async () => {
    const { id, start, end } = standing;
    expect((await change(id, { start, end, comment: 'seen' })).body).toEqual({ ...standing, comment: 'seen' });
  });

  test('can be changed after the appointment, but its time cannot', async () => {
    const { id } = await book(gateway, { resourceId: 'r-2' });
    await gateway.ehr('sandbox-no').moveBack(id, 1000);
    const past = await stored(id);
    expect((await change(id, { comment: 'did not come' })).body).toEqual({ ...past, comment: 'did not come' });
    expect((await change(id, { start: past.start, end: past.end, comment: 'came' })).body).toEqual({
      ...past,
      comment: 'came',
    });
    const shifted = new Date(Date.parse(past.end) + 1_800_000).toISOString();
    expect(await rejected(id, { start: past.end, end: shifted })).toMatchObject({
      body: { reason: 'time_range_invalid' },
    });
  });
});

describe('the body is one of update, cancel and confirm', () => {
  test('and must not be empty', async () => {
    expect(await rejected(standing.id, {})).toMatchObject({ status: 400, body: { reason: 'request_invalid' } });
  });

  test.each([
    ['start', 'end'],
    ['end', 'start'],
  ] as const)('%s requires %s', async (sent, missing) => {
    for (const more of [{}, { comment: 'x' }, { resource_id: 'r-1' }]) {
      expect(await rejected(standing.id, { [sent]: standing[sent], ...more })).toMatchObject({
        status: 400,
        body: { reason: 'request_invalid', errors: [{ pointer: `/${missing}`, reason: 'request_invalid' }] },
      });
    }
  });

  const { start, end } = standing;
  test.each([
    { status: 'cancelled', start, end },
    { status: 'cancelled', start },
    { status: 'cancelled', end },
    { status: 'cancelled', resource_id: 'r-1' },
    { status: 'cancelled', start, end, resource_id: 'r-1', comment: 'x' },
    { status: 'cancelled', confirmation: { code: '000000' } },
    { confirmation: { code: '000000' }, comment: 'x' },
    { confirmation: { code: '000000' }, start, end },
    { confirmation: { code: '000000' }, resource_id: 'r-1' },
    { status: 'booked' },
    { status: 'awaiting_confirmation' },
    { status: 'booked', start, end },
    { status: 'CANCELLED' },
    { status: null },
    { status: ['cancelled'] },
    { status: '' },
    { confirmation: null },
    { confirmation: {} },
    { confirmation: '000000' },
    { ids: [standing.id], comment: 'x' },
  ])('and must not mix them: %j', async (body) => {
    const before = await stored(standing.id);
    const response = await rejected(standing.id, body);
    expect(response).toMatchObject({ status: 400, body: { reason: 'request_invalid' } });
    expect(response.body.errors).not.toEqual([]);
    for (const { pointer } of response.body.errors) expect(Object.keys(body)).toContain(pointer?.split('/')[1]);
    expect(await stored(standing.id)).toEqual(before);
  });

  test.each([
    ['patient_id', 'p-4'],
    ['healthcare_service_id', 'vaccination'],
    ['start_time', '2031-03-20T09:00:00'],
    ['id', 'x'],
    ['care_unit_id', 'bergen-nord'],
    ['Comment', 'x'],
  ])('and must have only known fields: not %s', async (field, value) => {
    for (const more of [{}, { comment: 'x' }]) {
      expect(await rejected(standing.id, { [field]: value, ...more })).toMatchObject({
        status: 400,
        body: { reason: 'request_invalid', errors: [{ pointer: `/${field}`, reason: 'request_invalid' }] },
      });
    }
  });

  test.each([
    ['comment', 'x'.repeat(2001)],
    ['comment', null],
    ['comment', 7],
    ['comment', 'a\0b'],
    ['comment', '\udfff'],
    ['resource_id', null],
    ['resource_id', 1],
    ['start', '2031-02-30T09:00:00Z'],
    ['start', '2031-03-20'],
    ['start', '2031-03-20 09:00:00Z'],
    ['start', 'soon'],
    ['start', null],
    ['end', 1_900_000_000],
    ['end', '2031-03-20T09:00:00+1'],
  ])('and must have valid values: %s is not %j', async (field, value) => {
    expect(await rejected(standing.id, { start, end, [field]: value })).toMatchObject({
      status: 400,
      body: { reason: 'request_invalid', errors: [{ pointer: `/${field}`, reason: 'request_invalid' }] },
    });
  });
});

describe('an appointment', () => {
  test.each(['nothing', '00000000-0000-4000-8000-000000000000', '__proto__', 'æ', "' OR 1=1 --", 'x'.repeat(600)])(
    'is not found: %s',
    async (id) => {
      expect(await rejected(encodeURIComponent(id), { comment: 'x' })).toMatchObject({
        status: 404,
        body: { reason: 'appointment_not_found', errors: [{ parameter: 'appointment_id' }] },
      });
    },
  );

  test('of another care unit or EHR is not found', async () => {
    for (const careUnit of [bergen, riverside]) {
      expect(await change<Problem>(standing.id, { comment: 'x' }, { careUnit })).toMatchObject({
        status: 404,
        body: { reason: 'appointment_not_found' },
      });
    }
  });

  test('that is cancelled cannot be changed', async () => {
    const { id, start, end } = await book(gateway, { resourceId: 'r-2' });
    await change(id, { status: 'cancelled' });
    const before = await stored(id);
    for (const body of [{ comment: 'x' }, { start, end }, { resource_id: 'r-1' }]) {
      expect(await rejected(id, body)).toMatchObject({ status: 409, body: { reason: 'appointment_cancelled' } });
    }
    expect(await stored(id)).toEqual(before);
  });

  test('with an id that no database can store is rejected', async () => {
    expect(await rejected('a%00b', { comment: 'x' })).toMatchObject({
      status: 400,
      body: { reason: 'request_invalid', errors: [{ parameter: 'appointment_id' }] },
    });
  });
});

test('a resource of another care unit is not found', async () => {
  expect(await rejected(standing.id, { resource_id: 'r-6' })).toMatchObject({
    status: 400,
    body: { reason: 'resource_not_found', errors: [{ pointer: '/resource_id', reason: 'resource_not_found' }] },
  });
});

identifierCases({
  kind: 'resource',
  place: 'body',
  parameter: 'resource_id',
  send: async (text, headers = {}) => rejected((await bookWithFirstResource()).id, { resource_id: text }, headers),
  isFound: ({ status }) => status === 200,
});

let withFirst: Promise<Appointment> | undefined;
/** An appointment with `r-1`, which can be assigned to `r-1` again any number of times. */
function bookWithFirstResource(): Promise<Appointment> {
  withFirst ??= book(gateway);
  return withFirst;
}

bodyCases({ gateway, method: 'PATCH', path: () => `${oslo}/appointments/${standing.id}`, valid: { comment: 'x' } });
