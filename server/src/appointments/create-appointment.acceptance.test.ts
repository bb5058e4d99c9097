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
  creationBody,
  freeSlot,
  freeSlots,
  local,
  oslo,
  riverside,
  type Slot,
} from '../../../test/requests/bookings.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

function create<Body = Appointment>(
  body: unknown,
  { careUnit = oslo, headers = {} as Record<string, string | readonly string[]> } = {},
) {
  return gateway.request<Body>('POST', `${careUnit}/appointments`, { body, headers });
}

const rejected = (body: unknown, headers: Record<string, string | readonly string[]> = {}) =>
  create<Problem>(body, { headers });

/** A valid booking. Rejected variants of it do not take the slot. */
const spare = creationBody(await freeSlot(gateway, { resourceId: 'r-4' }));
/** A valid booking of a taken time. Its rejection shows that all earlier checks passed. */
const taken = creationBody(slotOf(await book(gateway, { resourceId: 'r-1' })));

describe('a booking', () => {
  test('returns the appointment and its location', async () => {
    const slot = await freeSlot(gateway);
    const { status, body, headers } = await create({ ...creationBody(slot), comment: 'Ring på, 3. etg. ❤' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^\S+$/),
      status: 'booked',
      start: slot.start,
      end: slot.end,
      comment: 'Ring på, 3. etg. ❤',
      patient_id: 'emr_id:p-3',
      resource_id: 'emr_id:r-1',
      healthcare_service_id: 'consultation',
      emr: 'sandbox-no',
      care_unit_id: 'oslo-sentrum',
      confirmation: null,
      replaces_id: null,
      supersedes_id: null,
      resource_name: null,
      attendance: null,
      modality: null,
      notice: null,
    });
    expect(headers.location).toBe(`${oslo}/appointments/${body.id}`);
    expect((await gateway.request('GET', String(headers.location))).body).toEqual(body);
  });

  test('makes its time unavailable', { tags: 'every-ehr' }, async () => {
    const slot = await freeSlot(gateway);
    await book(gateway, { slot });
    expect((await freeSlots(gateway)).map((it) => it.start)).not.toContain(slot.start);
    expect(await rejected({ ...creationBody(slot), patient_id: 'p-4' })).toMatchObject({
      status: 400,
      body: {
        reason: 'time_slot_unavailable',
        detail: `No free time slot with resource r-1 from ${slot.start} to ${slot.end}.`,
        errors: [{ pointer: '/start_time', reason: 'time_slot_unavailable' }],
      },
    });
    expect(await rejected({ ...creationBody(slot), healthcare_service_id: 'vaccination' })).toMatchObject({
      body: { reason: 'time_slot_unavailable' },
    });
  });

  test('does not affect other resources at that time, even for the same patient', async () => {
    const slot = await freeSlot(gateway, { resourceId: 'r-2' });
    await book(gateway, { slot });
    const other = (await create({ ...creationBody(slot), resource_id: 'r-3' })).body;
    expect(other).toMatchObject({ status: 'booked', start: slot.start, patient_id: 'emr_id:p-3' });
  });

  test('can take the time of a cancelled appointment', { tags: 'every-ehr' }, async () => {
    const slot = await freeSlot(gateway);
    const { id } = await book(gateway, { slot });
    await gateway.request('PATCH', `${oslo}/appointments/${id}`, { body: { status: 'cancelled' } });
    expect((await book(gateway, { slot })).id).not.toBe(id);
  });

  test('can span two consecutive slots', { tags: 'every-ehr' }, async () => {
    const [first, second] = (await consecutiveSlots(gateway, 2)) as [Slot, Slot];
    const { status, body } = await create(creationBody(first, second));
    expect(status).toBe(201);
    expect(body).toMatchObject({ start: first.start, end: second.end });
    for (const slot of [first, second]) {
      expect(await rejected(creationBody(slot))).toMatchObject({ body: { reason: 'time_slot_unavailable' } });
    }
  });

  test('can span a whole morning', async () => {
    const slots = await freeSlots(gateway, { resourceId: 'r-3', limit: 200 });
    const first = slots.find((it) => it.start.includes('T08:00'));
    const last = slots.find((it) => it.end.startsWith(`${first?.start.slice(0, 10)}T12:00`));
    if (!first || !last) throw new Error('No morning is free');
    expect((await create(creationBody(first, last))).status).toBe(201);
  });

  test('can have a comment', async () => {
    const noComment = async (more: object) => {
      const slot = await freeSlot(gateway);
      return (await create({ ...creationBody(slot), ...more })).body.comment;
    };
    expect(await noComment({})).toBeNull();
    expect(await noComment({ comment: '' })).toBeNull();
    expect(await noComment({ comment: 'x'.repeat(2000) })).toHaveLength(2000);
    expect(await noComment({ comment: '😀'.repeat(2000) })).toBe('😀'.repeat(2000));
    expect(await noComment({ comment: ' \n\t"\\ \u2028' })).toBe(' \n\t"\\ \u2028');
  });

  test('is possible in the other care units with direct booking', async () => {
    const room = roomId('r-10');
    const inBergen = await book(gateway, { careUnit: bergen, resourceId: room, healthcareServiceId: 'vaccination' });
    expect(inBergen).toMatchObject({ status: 'booked', care_unit_id: 'bergen-nord', resource_id: `emr_id:${room}` });
    const inLondon = await book(gateway, { careUnit: riverside });
    expect(inLondon).toMatchObject({ status: 'booked', emr: 'sandbox-uk', care_unit_id: 'riverside' });
  });

  test('is for the patient of its EHR, not for one with the same id elsewhere', { tags: 'every-ehr' }, async () => {
    const { body } = await create({
      ...creationBody(await freeSlot(gateway)),
      patient_id: 'no_personal_number:15859000026',
    });
    expect(body.patient_id).toBe('emr_id:p-1');
  });
});

describe('time slots', () => {
  /** A day on which no other test of this file books. */
  const quiet = { resourceId: 'r-2', from: new Date(Date.now() + 40 * 86_400_000), limit: 200 };

  async function expectUnavailable(start_time: string, end_time: string, more: object = {}) {
    const slot = { patient_id: 'p-3', resource_id: 'r-2', healthcare_service_id: 'consultation' };
    expect(await rejected({ ...slot, start_time, end_time, ...more }), `${start_time} to ${end_time}`).toMatchObject({
      status: 400,
      body: {
        reason: 'time_slot_unavailable',
        errors: [{ pointer: '/start_time', reason: 'time_slot_unavailable' }],
      },
    });
  }

  test('have fixed boundaries', async () => {
    const first = (await freeSlots(gateway, quiet)).find((it) => it.start.includes('T08:00'));
    const day = local(first?.start ?? '').slice(0, 10);
    for (const [start, end] of [
      ['08:00:00', '08:15:00'],
      ['08:00:00', '08:45:00'],
      ['08:15:00', '08:30:00'],
      ['08:15:00', '08:45:00'],
      ['08:00:01', '08:30:01'],
      ['08:00:00', '08:30:01'],
      ['07:30:00', '08:00:00'],
      ['07:30:00', '08:30:00'],
      ['15:30:00', '16:30:00'],
      ['16:00:00', '16:30:00'],
      ['03:00:00', '03:30:00'],
      // Across the lunch break.
      ['11:30:00', '13:30:00'],
      ['12:00:00', '13:00:00'],
      ['08:00:00', '16:00:00'],
    ]) {
      await expectUnavailable(`${day}T${start}`, `${day}T${end}`);
    }
    await expectUnavailable(`${day}T15:30:00`, `${nextDay(day)}T08:30:00`);
  });

  test('do not exist at the weekend, or for a consultation in a room', async () => {
    const friday = (await freeSlots(gateway, quiet)).findLast((it) => new Date(it.start).getUTCDay() === 5);
    const saturday = nextDay(local(friday?.start ?? '').slice(0, 10));
    await expectUnavailable(`${saturday}T08:00:00`, `${saturday}T08:30:00`);
    const start = local(friday?.start ?? '');
    await expectUnavailable(start, local(friday?.end ?? ''), { resource_id: roomId('r-5') });
  });

  test('must all be free', { tags: 'every-ehr' }, async () => {
    const [first, second, third] = (await consecutiveSlots(gateway, 3, quiet)) as [Slot, Slot, Slot];
    await book(gateway, { slot: second });
    await expectUnavailable(local(first.start), local(second.end));
    await expectUnavailable(local(second.start), local(third.end));
    await expectUnavailable(local(first.start), local(third.end));
    for (const slot of [first, third]) await book(gateway, { slot });
  });
});

describe('the time', () => {
  const at = (start_time: unknown, end_time: unknown) => rejected({ ...spare, start_time, end_time });

  test('can be the start and the end of a time slot as they are', async () => {
    const slot = await freeSlot(gateway);
    const { status, body } = await create({ ...creationBody(slot), start_time: slot.start, end_time: slot.end });
    expect(status).toBe(201);
    expect(body).toMatchObject({ start: slot.start, end: slot.end });
  });

  test('must not have another offset than the care unit has at that time', async () => {
    const { start, end } = await freeSlot(gateway);
    const other = (time: string) => `${local(time)}+05:00`;
    for (const [field, start_time, end_time] of [
      ['start_time', other(start), end],
      ['start_time', `${local(start)}Z`, local(end)],
      ['end_time', start, other(end)],
    ]) {
      const { status, body } = await at(start_time, end_time);
      expect({ status, ...body }).toMatchObject({
        status: 400,
        reason: 'time_range_invalid',
        detail: expect.stringMatching(
          /^The offset must be that of the care unit. At this time it is \+0[12]:00 in Europe\/Oslo.$/,
        ),
        errors: [{ pointer: `/${field}`, reason: 'time_range_invalid' }],
      });
    }
  });

  test('cannot be in the past', async () => {
    for (const day of ['2024-01-02', '1999-12-31', '1900-01-01']) {
      expect(await at(`${day}T08:00:00`, `${day}T08:30:00`)).toMatchObject({
        status: 400,
        body: { reason: 'time_range_invalid', errors: [{ pointer: '/start_time', reason: 'time_range_invalid' }] },
      });
    }
  });

  test('must end after it starts, within a day', async () => {
    const { start_time, end_time } = spare;
    for (const [start, end] of [
      [end_time, start_time],
      [start_time, start_time],
      [start_time, dayLater(start_time)],
      [start_time, '2200-12-31T00:00:00'],
    ]) {
      expect(await at(start, end)).toMatchObject({
        status: 400,
        body: { reason: 'time_range_invalid', errors: [{ pointer: '/end_time', reason: 'time_range_invalid' }] },
      });
    }
  });

  test.each([
    '',
    'tomorrow',
    '2031-03-20',
    '2031-03-20T09:00',
    '2031-03-20 09:00:00',
    '2031-03-20t09:00:00',
    '2031-03-20T09:00:00.000',
    '2031-03-20T09:00:00.000+01:00',
    '2031-03-20T09:00:00+0100',
    '2031-03-20T09:00:00+24:00',
    '2031-02-30T09:00:00',
    '2031-02-29T09:00:00',
    '2031-04-31T09:00:00',
    '2031-00-10T09:00:00',
    '2031-03-20T24:00:00',
    '2031-03-20T09:60:00',
    '2031-03-20T09:00:60',
    '20310320T090000',
    '+002031-03-20T09:00:00',
    '0001-01-01T09:00:00',
    '9999-12-31T09:00:00',
    ' 2031-03-20T09:00:00',
    '2031-03-20T09:00:00\n',
    '２０３１-03-20T09:00:00',
    1_900_000_000,
    null,
    ['2031-03-20T09:00:00'],
    {},
  ])('must be YYYY-MM-DDThh:mm:ss, optionally with an offset: not %j', async (time) => {
    expect(await at(time, spare.end_time)).toMatchObject({
      status: 400,
      body: { reason: 'request_invalid', errors: [{ pointer: '/start_time', reason: 'request_invalid' }] },
    });
    expect(await at(spare.start_time, time)).toMatchObject({
      status: 400,
      body: { reason: 'request_invalid', errors: [{ pointer: '/end_time' }] },
    });
  });
});

describe('the body', () => {
  test.each(Object.keys(spare))('must have a %s', async (field) => {
    const { [field as keyof typeof spare]: _, ...rest } = spare;
    expect(await rejected(rest)).toMatchObject({
      status: 400,
      body: { reason: 'request_invalid', errors: [{ pointer: `/${field}`, reason: 'request_invalid' }] },
    });
  });

  test('gets all its errors in one response', async () => {
    const { status, body } = await rejected({ comment: 5, start: '2031-03-20T09:00:00' });
    expect(status).toBe(400);
    expect(body.errors.map(({ pointer }) => pointer).toSorted()).toEqual(
      ['/comment', '/start', ...Object.keys(spare).map((name) => `/${name}`)].toSorted(),
    );
  });

  test.each([
    ['patient_id', 7],
    ['patient_id', null],
    ['resource_id', ['r-1']],
    ['resource_id', true],
    ['healthcare_service_id', {}],
    ['comment', 5],
    ['comment', null],
    ['comment', 'x'.repeat(2001)],
    ['comment', '😀'.repeat(2001)],
    ['comment', 'a\0b'],
    ['comment', '\ud800'],
    ['comment', 'x\udfffy'],
    ['healthcare_service_id', '\0'],
    ['healthcare_service_id', '\udc00'],
  ])('must not have a %s that is %j', async (field, value) => {
    // JSON.stringify escapes the lone surrogates, so they are sent as they are.
    expect(await rejected({ ...spare, [field]: value })).toMatchObject({
      status: 400,
      body: { reason: 'request_invalid', errors: [{ pointer: `/${field}`, reason: 'request_invalid' }] },
    });
  });

  test.each(['end', 'start', 'status', 'id', 'emr', 'Comment', 'patientId', 'constructor', 'a/b~c', ''])(
    'must not have the field "%s"',
    async (field) => {
      expect(await rejected({ ...spare, [field]: 'booked' })).toMatchObject({
        status: 400,
        body: { reason: 'request_invalid', errors: [{ reason: 'request_invalid' }] },
      });
    },
  );

  test('gets the name of an unknown field in the error, unless the name could be personal data', async () => {
    const { body } = await rejected({ ...spare, colour: 'red', '15859000026': 'x', 'a b@c.example': 'y' });
    expect(body.errors.map(({ pointer }) => pointer).toSorted()).toEqual(['', '/colour']);
    expect(JSON.stringify(body)).not.toMatch(/15859000026|c\.example/);
  });

  test('must name an existing healthcare service', async () => {
    for (const healthcare_service_id of ['surgery', '', 'Consultation', '__proto__', 'x'.repeat(10_000)]) {
      expect(await rejected({ ...spare, healthcare_service_id })).toMatchObject({
        status: 400,
        body: { reason: 'healthcare_service_not_found', errors: [{ pointer: '/healthcare_service_id' }] },
      });
    }
  });

  test('must name a resource of this care unit', async () => {
    expect(await rejected({ ...spare, resource_id: 'r-6' })).toMatchObject({
      status: 400,
      body: { reason: 'resource_not_found', errors: [{ pointer: '/resource_id', reason: 'resource_not_found' }] },
    });
  });

  test('can take both identifiers from headers', async () => {
    const slot = await freeSlot(gateway);
    const body = { ...creationBody(slot), patient_id: 'header:x-a', resource_id: 'header:x-b' };
    const response = await create(body, { headers: { 'x-a': 'no_personal_number:55859000281', 'x-b': 'emr_id:r-1' } });
    expect(response).toMatchObject({ status: 201, body: { patient_id: 'emr_id:p-2', resource_id: 'emr_id:r-1' } });
  });
});

describe('identifiers', () => {
  for (const kind of ['patient', 'resource'] as const) {
    identifierCases({
      kind,
      place: 'body',
      parameter: `${kind}_id`,
      send: (text, headers) => rejected({ ...taken, [`${kind}_id`]: text }, headers),
      isFound: ({ body }) => (body as Problem).reason === 'time_slot_unavailable',
    });
  }
});

bodyCases({ gateway, method: 'POST', path: () => `${oslo}/appointments`, valid: spare });

test('query parameters are rejected', async () => {
  const response = await gateway.request<Problem>('POST', `${oslo}/appointments?force=true`, { body: spare });
  expect(response).toMatchObject({
    status: 400,
    body: { reason: 'request_invalid', errors: [{ parameter: 'force' }] },
  });
});

function slotOf({ start, end, resource_id, healthcare_service_id }: Appointment): Slot {
  return { start, end, resource_id, healthcare_service_id };
}

function nextDay(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}

/** The local time one day and one second later. */
function dayLater(time: string): string {
  return new Date(Date.parse(`${time}Z`) + 86_401_000).toISOString().slice(0, 19);
}
