/** @module-tag any-database */
import type { Appointment, Bundle, Extension, OperationOutcome, Slot } from '@medplum/fhirtypes';
import { afterAll, describe, expect, test } from 'vitest';
import { type GatewayResponse, startGateway } from '../../../test/gateway/gateway.ts';
import { freeSlot, oslo, riverside, sodermalm } from '../../../test/requests/bookings.ts';
import { codeFor, incorrectCodes } from '../../../test/requests/codes.ts';
import { bookingOf, fhirClient, issueIn, parameters } from './test-requests.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

const norway = fhirClient(gateway, oslo);
const sweden = fhirClient(gateway, sodermalm);
const uk = fhirClient(gateway, riverside);

/** Each test takes Slots that no other one takes. */
const free = [...(await norway.slots(60))];
const take = (): Slot => {
  const slot = free.shift();
  if (!slot) throw new Error('No free Slot is left');
  return slot;
};
const bookIn = async (more: Partial<Appointment> = {}) => {
  const { status, body } = await norway.post('/Appointment', bookingOf(take(), 'p-1', more));
  expect(status).toBe(201);
  return body;
};
const versionIn = (it: { readonly headers: GatewayResponse['headers'] }) => String(it.headers.etag);

describe('a booking', () => {
  test('is the same when it is created and read, and takes the time', async () => {
    const slot = take();
    const created = await norway.post('/Appointment', bookingOf(slot, 'p-1', { comment: 'Ring first.' }));
    const { body, headers, status } = created;
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: 'booked', start: slot.start, end: slot.end, comment: 'Ring first.' });
    const version = body.meta?.versionId;
    const url = `http://127.0.0.1:${gateway.port}${norway.base}/Appointment/${body.id}`;
    expect(headers).toMatchObject({ etag: `W/"${version}"`, location: `${url}/_history/${version}` });
    expect((await norway.get(`/Appointment/${body.id}`)).body).toEqual(body);
    expect((await norway.get<Slot>(`/Slot/${slot.id}`)).body.status).toBe('busy');
    expect(issueIn(await norway.post('/Appointment', bookingOf(slot, 'p-2')))).toEqual([
      422,
      'conflict',
      'time_slot_unavailable',
    ]);
  });

  test('can name everybody and everything in place of a Slot, in another offset', async () => {
    const { start = '', end = '' } = take();
    const { status, body } = await norway.post('/Appointment', {
      resourceType: 'Appointment',
      status: 'booked',
      start: new Date(start).toISOString(),
      end: new Date(end).toISOString(),
      minutesDuration: 30,
      participant: [
        {
          actor: { identifier: { system: 'urn:oid:2.16.578.1.12.4.1.4.1', value: '15859000026' } },
          status: 'accepted',
        },
        { actor: { reference: `http://127.0.0.1:${gateway.port}${norway.base}/Practitioner/r-1` }, status: 'accepted' },
        { actor: { reference: 'HealthcareService/consultation' }, status: 'accepted' },
      ],
    });
    expect(status).toBe(201);
    expect(body.start).toBe(start);
  });

  test('covers several Slots', async () => {
    const next = free.findIndex((slot, index) => slot.end === free[index + 1]?.start);
    const two = free.splice(next, 2);
    const slot = two.map(({ id }) => ({ reference: `Slot/${id}` }));
    const { status, body } = await norway.post('/Appointment', bookingOf(undefined, 'p-1', { slot }));
    expect(status).toBe(201);
    expect([body.start, body.end]).toEqual([two[0]?.start, two[1]?.end]);
    expect(body.slot).toHaveLength(1);
  });

  test.each<[string, Partial<Appointment>, unknown]>([
    ['a proposal', { status: 'proposed' }, [422, 'business-rule', 'request_invalid']],
    [
      'a modifier',
      { modifierExtension: [{ url: 'urn:x', valueBoolean: true }] },
      [422, 'not-supported', 'request_invalid'],
    ],
    ['a reason without a cancellation', { cancelationReason: { text: 'ill' } }, [422, 'invariant', 'request_invalid']],
    ['a start without an end', { start: '2027-01-04T09:00:00+01:00' }, [422, 'invariant', 'request_invalid']],
    ['a local time', { start: '2027-01-04T09:00:00', end: '2027-01-04T09:30:00' }, [400, 'value', 'request_invalid']],
    ['another duration', { minutesDuration: 5 }, [422, 'business-rule', 'request_invalid']],
    ['no participant', { participant: [] }, [400, 'required', 'request_invalid']],
    [
      'a participant who declines',
      { participant: [{ actor: { reference: 'Patient/p-1' }, status: 'declined' }] },
      [422, 'not-supported', 'request_invalid'],
    ],
    [
      'an element of a participant that FHIR does not have',
      {
        participant: [{ actor: { reference: 'Patient/p-1' }, status: 'accepted', ...{ staus: 'x' } }],
      } as Partial<Appointment>,
      [400, 'structure', 'request_invalid'],
    ],
    [
      'a participant without a status',
      { participant: [{ actor: { reference: 'Patient/p-1' } }] } as Partial<Appointment>,
      [400, 'required', 'request_invalid'],
    ],
    [
      'a misspelt reference',
      { participant: [{ actor: { ...{ refrence: 'Patient/p-1' } }, status: 'accepted' }] } as Partial<Appointment>,
      [400, 'structure', 'request_invalid'],
    ],
    ['an unknown Slot', { slot: [{ reference: 'Slot/a.1.2' }] }, [422, 'value', 'request_invalid']],
    [
      'an unknown patient',
      { participant: [{ actor: { reference: 'Patient/nobody' }, status: 'accepted' }] },
      [422, 'not-found', 'patient_not_found'],
    ],
    [
      'two patients',
      {
        participant: ['p-1', 'p-2'].map((it) => ({
          actor: { reference: `Patient/${it}` },
          status: 'accepted' as const,
        })),
      },
      [422, 'business-rule', 'request_invalid'],
    ],
    ['a comment that is too long', { comment: 'x'.repeat(2001) }, [400, 'value', 'request_invalid']],
    [
      'an element that FHIR does not have',
      { commment: 'x' } as Partial<Appointment>,
      [400, 'structure', 'request_invalid'],
    ],
  ])('with %s is rejected', async (_name, more, issue) => {
    const [slot] = free;
    expect(issueIn(await norway.post('/Appointment', bookingOf(slot, 'p-1', more)))).toEqual(issue);
    expect((await norway.get<Slot>(`/Slot/${slot?.id}`)).body.status).toBe('free');
  });

  test('leaves out what no EHR keeps, with a warning, or not at all', async () => {
    const extra = { description: 'Check-up' };
    const slot = take();
    const strict = await norway.post('/Appointment', bookingOf(slot, 'p-1', extra), { prefer: 'handling=strict' });
    expect(issueIn(strict)).toEqual([422, 'not-supported', 'request_invalid']);
    const { status, body } = await norway.post<OperationOutcome>('/Appointment', bookingOf(slot, 'p-1', extra), {
      prefer: 'return=OperationOutcome',
    });
    expect(status).toBe(201);
    expect(body.issue?.map(({ severity }) => severity)).toEqual(['information', 'warning']);
    const coded = { serviceType: [{ coding: [{ code: 'vaccination' }] }] };
    const other = await norway.post('/Appointment', bookingOf(slot, 'p-1', coded), { prefer: 'handling=strict' });
    expect(issueIn(other)).toEqual([422, 'not-supported', 'request_invalid']);
    const minimal = await norway.post('/Appointment', bookingOf(take()), { prefer: 'return=minimal' });
    expect([minimal.status, minimal.text]).toEqual([201, '']);
    expect(minimal.headers.location).toContain('/Appointment/');
  });

  test('is made once for an identifier', async () => {
    const identifier = [{ system: 'urn:oid:1.2.3', value: 'a b' }];
    const slot = take();
    const condition = { 'if-none-exist': `${norway.base}/Appointment?identifier=urn%3Aoid%3A1.2.3%7Ca%20b` };
    const relative = { 'if-none-exist': 'identifier=urn:oid:1.2.3|a%20b' };
    const first = await norway.post('/Appointment', bookingOf(slot, 'p-1', { identifier }), relative);
    expect(first.status).toBe(201);
    expect(first.body.identifier).toEqual(identifier);
    const again = await norway.post('/Appointment', bookingOf(slot, 'p-1', { identifier }), relative);
    expect([again.status, versionIn(again), again.body]).toEqual([200, versionIn(first), first.body]);
    const inAnotherOrder = Object.fromEntries(Object.entries(bookingOf(slot, 'p-1', { identifier })).reverse());
    expect((await norway.post('/Appointment', inAnotherOrder, relative)).body).toEqual(first.body);
    const other = await norway.post('/Appointment', bookingOf(take(), 'p-1', { identifier }), relative);
    expect([other.status, other.body, other.headers.location]).toEqual([200, first.body, first.headers.location]);
    for (const wrong of [condition, { ...relative, 'idempotency-key': 'b' }, { 'if-none-exist': 'patient=p-1' }]) {
      expect((await norway.post('/Appointment', bookingOf(slot, 'p-1', { identifier }), wrong)).status).toBe(400);
    }
    expect((await norway.post('/Appointment', bookingOf(slot), relative)).status).toBe(400);
    const absolute = { 'if-none-exist': `http://127.0.0.1:${gateway.port}${condition['if-none-exist']}` };
    expect((await norway.post('/Appointment', bookingOf(slot, 'p-1', { identifier }), absolute)).status).toBe(200);
    expect((await norway.post('/Appointment?identifier=a|b', bookingOf(slot))).status).toBe(400);
  });
});

describe('a change', () => {
  test('moves by PUT under the version that was read', async () => {
    const body = await bookIn();
    const { start = '', end = '', id } = take();
    const moved = { ...body, start, end, slot: [{ reference: `Slot/${id}` }] };
    const stale = await norway.put(moved, { 'if-match': 'W/"0"' });
    expect(issueIn(stale)).toEqual([412, 'conflict', 'version_outdated']);
    const { status, body: after, headers } = await norway.put(moved, { 'if-match': `W/"${body.meta?.versionId}"` });
    expect(status).toBe(200);
    expect(after).toMatchObject({ id: body.id, start, status: 'booked' });
    expect(headers.etag).toBe(`W/"${after.meta?.versionId}"`);
    expect(issueIn(await norway.put(moved, { 'if-match': String(body.meta?.versionId) }))[0]).toBe(412);
    expect((await norway.put(after)).body).toEqual(after);
  });

  test('of what cannot change is rejected, and so is one of an unknown id', async () => {
    const body = await bookIn();
    const { start = '', end = '' } = take();
    expect((await norway.put({ ...body, start, end })).status).toBe(422);
    const [, ...others] = body.participant;
    const patient = { actor: { reference: 'Patient/p-2' }, status: 'accepted' as const };
    expect((await norway.put({ ...body, participant: [patient, ...others] })).status).toBe(422);
    expect((await norway.put({ ...body, status: 'pending' })).status).toBe(422);
    expect((await norway.put({ ...body, id: 'unknown' })).status).toBe(405);
    expect((await norway.send('PUT', `/Appointment/${body.id}`, { ...body, id: 'other' })).status).toBe(400);
    expect((await norway.patch(body.id, [{ op: 'replace', path: '/start', value: start }])).status).toBe(400);
    expect((await norway.patch(body.id, [{ op: 'test', path: '/status', value: 'cancelled' }])).status).toBe(422);
    expect(
      (await norway.send('PATCH', `/Appointment/${body.id}`, [], { headers: { 'content-type': 'application/json' } }))
        .status,
    ).toBe(415);
  });

  test('sets and clears the comment', async () => {
    const { id } = await bookIn({ comment: 'first' });
    const second = await norway.patch(id, [{ op: 'replace', path: '/comment', value: 'second' }]);
    expect(second.body.comment).toBe('second');
    const { comment: _, ...without } = second.body;
    expect((await norway.put(without)).body.comment).toBeUndefined();
    expect((await norway.put({ ...without, comment: 'third' })).body.comment).toBe('third');
    const cleared = await norway.patch(id, [{ op: 'remove', path: '/comment' }]);
    expect(cleared.body.comment).toBeUndefined();
  });

  test('cancels by JSON Patch, by FHIRPath Patch and by PUT, and again', async () => {
    const cancel = [{ op: 'replace', path: '/status', value: 'cancelled' }];
    const first = await bookIn();
    const { status, body } = await norway.patch(first.id, [
      ...cancel,
      { op: 'add', path: '/cancelationReason', value: { text: 'ill' } },
    ]);
    expect([status, body.status, body.comment]).toEqual([200, 'cancelled', 'ill']);
    expect((await norway.patch(first.id, cancel)).status).toBe(200);
    const part = [
      { name: 'value', valueCode: 'cancelled' },
      { name: 'path', valueString: 'Appointment.status' },
      { name: 'type', valueCode: 'replace' },
    ];
    const second = await bookIn();
    const patch = parameters({ name: 'operation', part });
    expect((await norway.send('PATCH', `/Appointment/${second.id}`, patch)).body.status).toBe('cancelled');
    const third = await bookIn();
    expect((await norway.put({ ...third, status: 'cancelled' })).body.status).toBe('cancelled');
    expect(issueIn(await norway.patch(third.id, [{ op: 'add', path: '/comment', value: 'x' }]))).toEqual([
      409,
      'business-rule',
      'appointment_cancelled',
    ]);
  });
});

test('$validate says what a write would say, and changes nothing', async () => {
  const slot = take();
  const validate = (body: unknown, path = '/Appointment/$validate') => norway.post<OperationOutcome>(path, body);
  const severities = async (body: unknown, path?: string) => {
    const response = await validate(body, path);
    return [response.status, ...(response.body.issue ?? []).map(({ severity }) => severity)];
  };
  const wanted = bookingOf(slot, 'p-1', { description: 'x' });
  expect(await severities(wanted)).toEqual([200, 'information', 'warning']);
  expect(await severities(parameters({ name: 'resource', resource: wanted }), '/Appointment/%24validate')).toEqual([
    200,
    'information',
    'warning',
  ]);
  expect((await norway.get<Slot>(`/Slot/${slot.id}`)).body.status).toBe('free');
  expect(await severities(bookingOf(slot, 'nobody'))).toEqual([200, 'error']);
  const booked = await bookIn();
  expect(await severities(bookingOf({ ...slot, id: booked.slot?.[0]?.reference?.slice(5) ?? '' }))).toEqual([
    200,
    'error',
  ]);
  const update = { ...booked, start: slot.start ?? '', end: slot.end ?? '', slot: [{ reference: `Slot/${slot.id}` }] };
  expect(await severities(update, `/Appointment/${booked.id}/$validate`)).toEqual([200, 'information']);
  expect((await norway.get(`/Appointment/${booked.id}`)).body).toEqual(booked);
  expect((await norway.post('/Appointment/$validate', '{')).status).toBe(400);
});

describe('$book of ISiK', () => {
  const proposed = (slot: Slot, more: Partial<Appointment> = {}) =>
    bookingOf(slot, 'p-1', { status: 'proposed', ...more });

  test('books, shows a trial, and moves', async () => {
    const slot = take();
    const resource = { name: 'appt-resource', resource: proposed(slot) };
    const trial = await norway.post(
      '/Appointment/$book',
      parameters(resource, { name: 'dry-run', valueBoolean: true }),
    );
    expect([trial.status, trial.body.id, trial.body.status]).toEqual([200, undefined, 'booked']);
    const booked = await norway.post('/Appointment/$book', parameters(resource));
    expect([booked.status, booked.body.status]).toEqual([201, 'booked']);
    const other = take();
    const moved = await norway.post(
      '/Appointment/$book',
      parameters(
        { name: 'appt-resource', resource: proposed(other) },
        { name: 'cancelled-appt-id', valueUri: `Appointment/${booked.body.id}` },
      ),
    );
    expect(moved.body).toMatchObject({ id: booked.body.id, start: other.start });
    const back = await norway.post('/Appointment/$book', proposed(slot, { id: booked.body.id ?? '' }));
    expect(back.body).toMatchObject({ id: booked.body.id, start: slot.start });
  });

  test('takes a Schedule with a time', async () => {
    const { schedule, start = '', end = '' } = take();
    const { slot: _, ...rest } = proposed(take(), { start, end });
    const { status } = await norway.post(
      '/Appointment/$book',
      parameters({ name: 'appt-resource', resource: rest }, { name: 'schedule', valueReference: schedule }),
    );
    expect(status).toBe(201);
  });

  test('rejects what it cannot do', async () => {
    const slot = take();
    expect((await norway.post('/Appointment/$book', bookingOf(slot))).status).toBe(422);
    expect((await norway.post('/Appointment/$book', parameters())).status).toBe(400);
    const resource = { name: 'appt-resource', resource: proposed(slot) };
    for (const more of [
      { name: 'patient', resource: { resourceType: 'Patient' } },
      { name: 'cancelled-appt-id', valueUri: 'Appointment/nobody' },
    ]) {
      expect((await norway.post('/Appointment/$book', parameters(resource, more))).status).toBe(422);
    }
    const { slot: _, ...incomplete } = proposed(slot);
    expect((await norway.post('/Appointment/$book', incomplete)).status).toBe(422);
  });

  test('of one time for twenty clients books once', async () => {
    const slot = take();
    const all = Array.from({ length: 20 }, (_, index) => {
      const resource = { ...proposed(slot), participant: bookingOf(slot, index % 2 ? 'p-1' : 'p-2').participant };
      const [path, body] =
        index % 4 < 2 ? ['/Appointment/$book', resource] : ['/Appointment', { ...resource, status: 'booked' }];
      return norway.post(String(path), body);
    });
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([201, ...Array.from({ length: 19 }, () => 422)]);
  });
});

const partOf = (appointment: Appointment, name: string): Extension | undefined =>
  appointment.extension
    ?.find(({ url }) => url === 'urn:crossward:confirmation')
    ?.extension?.find(({ url }) => url === name);

describe('a code', () => {
  test('turns a pending Appointment into a booked one, for the client that booked', async () => {
    const [slot] = await sweden.slots(5);
    const pending = await sweden.post('/Appointment/$book', bookingOf(slot, 'p-1', { status: 'proposed' }));
    expect([pending.status, pending.body.status, pending.body.participant[0]?.status]).toEqual([
      202,
      'pending',
      'needs-action',
    ]);
    expect(Date.parse(String(pending.headers.expires))).toBeGreaterThan(Date.now());
    expect(partOf(pending.body, 'attemptsRemaining')?.valueInteger).toBe(5);
    const { id = '' } = pending.body;
    expect((await sweden.get(`/Appointment/${id}`)).body.meta).toEqual(pending.body.meta);
    const code = await codeFor(gateway, id);
    expect(JSON.stringify(pending.body)).not.toContain(code);
    const confirm = (text: string, client = sweden) =>
      client.post(`/Appointment/${id}/$confirm`, parameters({ name: 'code', valueString: text }));
    const wrong = await confirm(incorrectCodes(code, 1)[0] ?? '');
    expect(issueIn(wrong)).toEqual([400, 'value', 'confirmation_code_incorrect']);
    expect((wrong.body as unknown as OperationOutcome).issue?.[0]?.extension?.[0]?.valueInteger).toBe(4);
    expect(issueIn(await sweden.patch(id, [{ op: 'add', path: '/comment', value: 'x' }]))[2]).toBe(
      'appointment_awaiting_confirmation',
    );
    expect(await sweden.post(`/Appointment/${id}/$confirm`, parameters())).toMatchObject({ status: 400 });
    const booked = await confirm(code);
    expect([booked.status, booked.body.status, booked.body.participant[0]?.status]).toEqual([
      200,
      'booked',
      'accepted',
    ]);
    expect(booked.body.extension).toBeUndefined();
  });

  test('is not needed to release a pending Appointment, and is resent on demand', async () => {
    const [slot] = await sweden.slots(5);
    const { status, body } = await sweden.post('/Appointment', bookingOf(slot), { prefer: 'return=minimal' });
    expect([status, body.status]).toEqual([201, 'pending']);
    expect(issueIn(await sweden.post(`/Appointment/${body.id}/$resend-code`))).toEqual([
      429,
      'throttled',
      'rate_limited',
    ]);
    const cancelled = await sweden.patch(body.id, [{ op: 'replace', path: '/status', value: 'cancelled' }]);
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled']);
  });

  test('cancels in a second step, under the same id', async () => {
    const [slot] = await uk.slots(5);
    const { body } = await uk.post('/Appointment', bookingOf(slot));
    const cancel = () => uk.patch(body.id, [{ op: 'replace', path: '/status', value: 'cancelled' }]);
    const awaiting = await cancel();
    expect([awaiting.status, awaiting.body.id, awaiting.body.status]).toEqual([202, body.id, 'booked']);
    expect(awaiting.body.meta).toEqual(body.meta);
    expect(partOf(awaiting.body, 'kind')?.valueString).toBe('cancellation');
    expect((await cancel()).status).toBe(202);
    const native = await gateway.request<{ id: string }>('PATCH', `${riverside}/appointments/${body.id}`, {
      body: { status: 'cancelled' },
    });
    expect((await uk.get(`/Appointment/${native.body.id}`)).status).toBe(404);
    const code = await codeFor(gateway, native.body.id);
    for (const _time of ['first', 'again']) {
      const confirmed = await uk.post(
        `/Appointment/${body.id}/$confirm`,
        parameters({ name: 'code', valueCode: code }),
      );
      expect([confirmed.status, confirmed.body.id, confirmed.body.status]).toEqual([200, body.id, 'cancelled']);
    }
    expect((await uk.get(`/Appointment/${body.id}`)).body.status).toBe('cancelled');
  });
});

test('what is booked natively is the same on the face, and the other way round', async () => {
  const { body } = await norway.post('/Appointment', bookingOf(take()));
  const native = await gateway.request('GET', `${oslo}/appointments/${body.id}`);
  expect(native.body).toMatchObject({ status: 'booked', start: body.start, patient_id: 'emr_id:p-1' });
  expect(await freeSlot(gateway)).not.toMatchObject({ start: body.start });
});

test('attendance that staff note is the status, and makes a new version', async () => {
  const [{ id, meta }, missed] = [await bookIn(), await bookIn()];
  const ehr = gateway.ehr('sandbox-no');
  await ehr.attend(id ?? '', 'arrived');
  await ehr.attend(missed.id ?? '', 'no_show');
  const arrived = await norway.get(`/Appointment/${id}`);
  expect(arrived.body).toMatchObject({ id, status: 'arrived' });
  expect(arrived.body.meta).not.toEqual(meta);
  expect((await norway.get(`/Appointment/${missed.id}`)).body.status).toBe('noshow');
  const found = async (status: string) => {
    const { body } = await norway.get<Bundle<Appointment>>(`/Appointment?_id=${id},${missed.id}&status=${status}`);
    return (body.entry ?? []).map(({ resource }) => resource?.id);
  };
  expect(await Promise.all(['arrived', 'noshow', 'booked,cancelled', 'fulfilled'].map(found))).toEqual([
    [id],
    [missed.id],
    [],
    [],
  ]);
  const listed = await norway.get<Bundle<Appointment>>('/Appointment?patient=p-1&status=arrived,noshow&_count=500');
  expect(listed.body.entry?.map(({ resource }) => resource?.id).toSorted()).toEqual([id, missed.id].toSorted());
  const outdated = await norway.put({ ...arrived.body, comment: 'x' }, { 'if-match': `W/"${meta?.versionId}"` });
  expect(outdated.status).toBe(412);
  const noted = await norway.put({ ...arrived.body, comment: 'is early' }, { 'if-match': versionIn(arrived) });
  expect(noted.body).toMatchObject({ status: 'arrived', comment: 'is early' });
  await ehr.attend(id ?? '', 'completed');
  expect((await norway.get(`/Appointment/${id}`)).body.status).toBe('fulfilled');
});
