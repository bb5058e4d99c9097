/** @module-tag any-database */
import type { Appointment, OperationOutcome, Slot } from '@medplum/fhirtypes';
import { afterAll, describe, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { oslo, sodermalm } from '../../../test/requests/bookings.ts';
import { bookingOf, fhirClient, issueIn, parameters } from './test-requests.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

const norway = fhirClient(gateway, oslo);
const sweden = fhirClient(gateway, sodermalm);

/** Each test takes Slots that no other one takes. */
const free = [...(await norway.slots(60))];
const take = (): Slot => {
  const slot = free.shift();
  if (!slot) throw new Error('No free Slot is left');
  return slot;
};
const isFree = async ({ id }: Slot) => (await norway.get<Slot>(`/Slot/${id}`)).body.status === 'free';
const cancel = [{ op: 'replace', path: '/status', value: 'cancelled' }];

describe('If-None-Exist', () => {
  const system = 'urn:oid:1.2.3';
  const order = (value: string, slot: Slot, more: Partial<Appointment> = {}, patient = 'p-1') =>
    norway.post('/Appointment', bookingOf(slot, patient, { identifier: [{ system, value }], ...more }), {
      'if-none-exist': `identifier=${system}|${value}`,
    });

  test.each<[string, Partial<Appointment>]>([
    ['unknown patient', { participant: [{ actor: { reference: 'Patient/nobody' }, status: 'accepted' }] }],
    ['wrong status', { status: 'proposed' }],
    ['wrong duration', { minutesDuration: 5 }],
    ['missing participant', { participant: [] }],
    ['comment that is too long', { comment: 'x'.repeat(2001) }],
  ])('is not used up by an order with a %s', async (name, wrong) => {
    const slot = take();
    const refused = await order(`order with ${name}`, slot, wrong);
    expect([400, 422]).toContain(refused.status);
    expect((await order(`order with ${name}`, slot, wrong)).text.replaceAll(/Request [^"]+/g, '')).toBe(
      refused.text.replaceAll(/Request [^"]+/g, ''),
    );
    const corrected = await order(`order with ${name}`, slot);
    expect([corrected.status, corrected.body.status]).toEqual([201, 'booked']);
    const again = await order(`order with ${name}`, slot);
    expect([again.status, again.body]).toEqual([200, corrected.body]);
    const other = take();
    const found = await order(`order with ${name}`, other, { comment: 'other' });
    expect([found.status, found.body, await isFree(other)]).toEqual([200, corrected.body, true]);
  });

  test('is not used up by a time that is taken, and takes the same order when the time is free', async () => {
    const slot = take();
    const { body: other } = await norway.post('/Appointment', bookingOf(slot, 'p-2'));
    expect(issueIn(await order('taken', slot))[0]).toBe(422);
    await norway.patch(other.id, cancel);
    expect((await order('taken', slot)).status).toBe(201);
    expect(await isFree(slot)).toBe(false);
  });

  test('of twenty corrected orders at a time books once', async () => {
    const slot = take();
    expect((await order('race', slot, {}, 'nobody')).status).toBe(422);
    const responses = await Promise.all(Array.from({ length: 20 }, () => order('race', slot)));
    const booked = responses.filter(({ status }) => status === 201 || status === 200);
    expect(new Set(booked.map(({ body }) => body.id)).size).toBe(1);
    expect(responses.map(({ status }) => status).filter((it) => it !== 200 && it !== 409)).toEqual([201]);
  });

  test('answers with the present state', async () => {
    const slot = take();
    const first = await order('present', slot);
    const changed = await norway.patch(first.body.id, [{ op: 'add', path: '/comment', value: 'By the back door.' }]);
    const second = await order('present', slot);
    expect([second.status, second.body.identifier]).toEqual([200, [{ system, value: 'present' }]]);
    expect(second.body).toEqual(changed.body);
    expect(second.headers.etag).toBe(changed.headers.etag);
    await norway.patch(first.body.id, cancel);
    const third = await order('present', slot);
    expect([third.status, third.body.status]).toEqual([200, 'cancelled']);
    expect(third.headers.etag).toBe(`W/"${third.body.meta?.versionId}"`);
  });

  test('names an identifier with signs that a search escapes', async () => {
    const slot = take();
    const identifier = [{ system: 'urn:x|y', value: 'a,b\\c$d|e' }];
    const send = (condition: string, ...others: object[]) =>
      norway.post('/Appointment', bookingOf(slot, 'p-1', { identifier, ...others[0] }), { 'if-none-exist': condition });
    const escaped = 'identifier=urn:x\\|y|a\\,b\\\\c\\$d\\|e';
    for (const wrong of ['identifier=urn:x|y|a,b\\c$d|e', 'identifier=urn:x\\|y|a,b', 'identifier=urn:x\\|y\\|a']) {
      expect((await send(wrong)).status, wrong).toBe(400);
    }
    const first = await send(escaped);
    expect([first.status, first.body.identifier]).toEqual([201, identifier]);
    expect((await send(`Appointment?${escaped}`)).status).toBe(200);
    // Another identifier, though both are the same text without escapes.
    const other = { identifier: [{ system: 'urn:x', value: 'y|a,b\\c$d|e' }] };
    const second = await send('identifier=urn:x|y\\|a\\,b\\\\c\\$d\\|e', other);
    expect(issueIn(second)[2]).toBe('time_slot_unavailable');
  });

  test('leaves an idempotency key as it is natively', async () => {
    const slot = take();
    const key = { 'idempotency-key': 'refused once' };
    expect((await norway.post('/Appointment', bookingOf(slot, 'nobody'), key)).status).toBe(422);
    expect(issueIn(await norway.post('/Appointment', bookingOf(slot), key))[2]).toBe('idempotency_key_reused');
  });
});

describe('If-Match', () => {
  test('is a list, or any version', async () => {
    const { body } = await norway.post('/Appointment', bookingOf(take()));
    const version = body.meta?.versionId;
    const note = (value: string, ifMatch: string) =>
      norway.patch(body.id, [{ op: 'add', path: '/comment', value }], { 'if-match': ifMatch });
    for (const wrong of ['W/"1", W/"2"', '"1","2"', '1, 2', '"*"', '']) {
      expect(issueIn(await note('never', wrong)), wrong).toEqual([412, 'conflict', 'version_outdated']);
    }
    const first = await note('one', `W/"1", W/"${version}"`);
    expect(first.status).toBe(200);
    const second = await note('two', `"${first.body.meta?.versionId}","1"`);
    expect(second.status).toBe(200);
    const third = await note('three', `1,${second.body.meta?.versionId}`);
    expect(third.status).toBe(200);
    expect((await note('four', ' * ')).body.comment).toBe('four');
    const known = await norway.get(`/Appointment/${body.id}`, { headers: { 'if-none-match': 'W/"1"' } });
    for (const list of [`W/"1", ${known.headers.etag}`, '*']) {
      const read = await norway.get(`/Appointment/${body.id}`, { headers: { 'if-none-match': list } });
      expect(read.status).toBe(304);
      const bare = list.replaceAll(/W\/|"|\*/g, '');
      expect((await norway.get(`/Appointment/${body.id}`, { headers: { 'if-none-match': bare } })).status).toBe(200);
      const metadata = await norway.get('/metadata');
      const ifNone = list === '*' ? list : `"1", ${metadata.headers.etag}`;
      expect((await norway.get('/metadata', { headers: { 'if-none-match': ifNone } })).status).toBe(304);
    }
  });

  test('holds for a code, too', async () => {
    const [slot] = await sweden.slots(1);
    const { body } = await sweden.post('/Appointment', bookingOf(slot));
    const confirm = (ifMatch: string) =>
      sweden.post(`/Appointment/${body.id}/$confirm`, parameters({ name: 'code', valueString: '000000' }), {
        'if-match': ifMatch,
      });
    expect(issueIn(await confirm('W/"0"'))).toEqual([412, 'conflict', 'version_outdated']);
    expect(issueIn(await confirm(`W/"0", W/"${body.meta?.versionId}"`))[2]).toBe('confirmation_code_incorrect');
  });

  test('comes before all that a body says', async () => {
    const { body } = await norway.post('/Appointment', bookingOf(take()));
    const stale = { 'if-match': 'W/"0"' };
    const json = { ...stale, 'content-type': 'application/fhir+json' };
    const responses = [
      await norway.patch(body.id, [{ op: 'test', path: '/status', value: 'cancelled' }], stale),
      await norway.patch(body.id, [{ op: 'replace', path: '/nothing', value: 1 }], stale),
      await norway.patch(body.id, [{ op: 'jump', path: '/status' }], stale),
      await norway.send('PATCH', `/Appointment/${body.id}`, parameters({ name: 'x' }), { headers: json }),
      await norway.put({ ...body, description: 'x' }, { ...stale, prefer: 'handling=strict' }),
      await norway.put({ ...body, minutesDuration: 5 }, stale),
      await norway.put({ ...body, status: 'pending' }, stale),
      await norway.send('PUT', `/Appointment/${body.id}`, { resourceType: 'Patient' }, { headers: json }),
      await norway.post(
        '/Appointment/$book',
        bookingOf(take(), 'p-2', { id: body.id ?? '', status: 'proposed' }),
        stale,
      ),
    ];
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 412));
    expect((await norway.get(`/Appointment/${body.id}`)).body).toEqual(body);
  });
});

describe("a client's own id", () => {
  test.each(['mine-1', '00000000-0000-4000-8000-000000000000', 'cw.x', 'x_y'])('%s is replaced', async (id) => {
    const ids: (string | undefined)[] = [];
    for (const [path, status] of [
      ['/Appointment/$book', 'proposed'],
      ['/Appointment', 'booked'],
    ] as const) {
      const slot = take();
      const meta = { versionId: '7', lastUpdated: '2026-01-01T00:00:00Z' };
      const { status: code, body } = await norway.post(path, bookingOf(slot, 'p-1', { id, meta, status }), {
        prefer: 'handling=strict',
      });
      expect([path, code, body.status, body.start]).toEqual([path, 201, 'booked', slot.start]);
      ids.push(body.id);
    }
    expect(ids).not.toContain(id);
    expect((await norway.get(`/Appointment/${encodeURIComponent(id)}`)).status).toBe(404);
  });

  test('that an Appointment has moves it, and one to cancel must exist', async () => {
    const { body } = await norway.post('/Appointment', bookingOf(take()));
    const slot = take();
    const moved = await norway.post(
      '/Appointment/$book',
      bookingOf(slot, 'p-1', { id: body.id ?? '', status: 'proposed' }),
    );
    expect(moved.body).toMatchObject({ id: body.id, start: slot.start });
    const resource = bookingOf(take(), 'p-1', { id: 'mine-2', status: 'proposed' });
    const unknown = await norway.post(
      '/Appointment/$book',
      parameters({ name: 'appt-resource', resource }, { name: 'cancelled-appt-id', valueUri: 'Appointment/mine-2' }),
    );
    expect(unknown.status).toBe(422);
  });
});

describe('a practitioner', () => {
  const nameOf = ({ participant }: Appointment) => participant[1]?.actor?.reference;
  const fhirPath = (...operations: readonly (readonly object[])[]) =>
    parameters(...operations.map((part) => ({ name: 'operation', part })));
  const replace = (path: string, value: object) => [
    { name: 'type', valueCode: 'replace' },
    { name: 'path', valueString: path },
    { name: 'value', ...value },
  ];
  const other = { reference: 'Practitioner/r-2' };
  const added = {
    name: 'value',
    part: [
      { name: 'actor', valueReference: other },
      { name: 'status', valueCode: 'accepted' },
    ],
  };

  test.each<[string, unknown, string]>([
    ['reference', [{ op: 'replace', path: '/participant/1/actor/reference', value: other.reference }], 'json-patch'],
    ['actor', [{ op: 'replace', path: '/participant/1/actor', value: other }], 'json-patch'],
    [
      'participant',
      [
        { op: 'remove', path: '/participant/1' },
        { op: 'add', path: '/participant/-', value: { actor: other, status: 'accepted' } },
      ],
      'json-patch',
    ],
    [
      'reference',
      fhirPath(replace('Appointment.participant[1].actor.reference', { valueString: other.reference })),
      'fhir',
    ],
    ['actor', fhirPath(replace('Appointment.participant[1].actor', { valueReference: other })), 'fhir'],
    [
      'participant',
      fhirPath(
        [
          { name: 'type', valueCode: 'delete' },
          { name: 'path', valueString: 'Appointment.participant[1]' },
        ],
        [
          { name: 'type', valueCode: 'add' },
          { name: 'path', valueString: 'Appointment' },
          { name: 'name', valueString: 'participant' },
          added,
        ],
      ),
      'fhir',
    ],
  ])('changes by a patch of the %s', async (_name, patch, media) => {
    const slot = take();
    const { body } = await norway.post('/Appointment', bookingOf(slot));
    const type = media === 'fhir' ? 'application/fhir+json' : 'application/json-patch+json';
    const headers = { 'content-type': type, prefer: 'handling=strict' };
    const changed = await norway.send('PATCH', `/Appointment/${body.id}`, patch, { headers });
    expect([changed.status, nameOf(changed.body), changed.body.start]).toEqual([200, other.reference, slot.start]);
    expect(nameOf((await norway.get(`/Appointment/${body.id}`)).body)).toBe(other.reference);
    expect(await isFree(slot)).toBe(true);
  });

  test('changes by PUT of what was read, and is not removed', async () => {
    const { body } = await norway.post('/Appointment', bookingOf(take()));
    const participant = body.participant.with(1, { actor: other, status: 'accepted' });
    const changed = await norway.put({ ...body, participant });
    expect([changed.status, nameOf(changed.body)]).toEqual([200, other.reference]);
    for (const index of [0, 1]) {
      const removed = await norway.patch(body.id, [{ op: 'remove', path: `/participant/${index}` }]);
      expect(removed.status).toBe(400);
    }
    expect((await norway.get(`/Appointment/${body.id}`)).body).toEqual(changed.body);
  });
});

test.each<[string, object, number]>([
  ['the length of a list', { op: 'replace', path: '/participant/length', value: 0 }, 422],
  ['a method of a list', { op: 'add', path: '/participant/push', value: 'x' }, 422],
  ['a prototype', { op: 'add', path: '/__proto__/x', value: 'x' }, 422],
  ['a constructor', { op: 'replace', path: '/constructor/name', value: 'x' }, 422],
  ['an index that is none', { op: 'replace', path: '/participant/01/status', value: 'accepted' }, 422],
  ['an index beyond the end', { op: 'add', path: '/participant/9', value: {} }, 422],
  ['an element of text', { op: 'replace', path: '/status/0', value: 'c' }, 422],
  ['the whole', { op: 'replace', path: '', value: {} }, 422],
  ['a path without a slash', { op: 'replace', path: 'status', value: 'cancelled' }, 400],
  ['a copy', { op: 'copy', from: '/participant', path: '/participant/0/actor' }, 422],
  ['a move', { op: 'move', from: '/participant/1', path: '/participant/0' }, 422],
])('a patch of %s is rejected', async (_name, operation, status) => {
  const { body: booked } = await norway.post('/Appointment', bookingOf(take()));
  const response = await norway.patch(booked.id, [operation]);
  expect([response.status, (response.body as unknown as OperationOutcome).resourceType]).toEqual([
    status,
    'OperationOutcome',
  ]);
  expect((await norway.get(`/Appointment/${booked.id}`)).body).toEqual(booked);
});
