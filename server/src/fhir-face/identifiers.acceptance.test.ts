/** @module-tag any-database */
import type { Connector } from '@crossward/connector-kit';
import type { Appointment, Bundle, OperationOutcome } from '@medplum/fhirtypes';
import { afterAll, describe, expect, test } from 'vitest';
import { faultyEhrs } from '../../../test/ehrs/faulty-ehr.ts';
import { rebooking, withoutHolds } from '../../../test/ehrs/limited-ehrs.ts';
import { careUnitPath, withEhr, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { newCredentials, withClient } from '../../../test/gateway/other-clients.ts';
import { withQuickRecovery } from '../../../test/gateway/recovery.ts';
import { oslo } from '../../../test/requests/bookings.ts';
import { codeFor, eventually, rowsOf, runBackgroundJobs } from '../../../test/requests/codes.ts';
import { bookingOf, fhirClient, issueIn, parameters } from './test-requests.ts';

const faults = faultyEhrs();
/** Ids that staff have deleted. */
const deleted = new Set<string>();
const limits: Readonly<Record<string, (connector: Connector, emr: string) => Connector>> = {
  rebooks: rebooking,
  'no-hold': withoutHolds,
  loses: faults.faulty,
  'sandbox-no': (connector) => ({
    ...connector,
    findAppointments: async (...query) =>
      ((await connector.findAppointments?.(...query)) ?? []).filter(({ id }) => !deleted.has(id)),
  }),
};
const otherClient = newCredentials('another');
const options: Parameters<typeof startGateway>[0] = {
  connectors: [wrapConnector((connector, emr) => limits[emr]?.(connector, emr) ?? connector)],
  configure: (demo) =>
    withQuickRecovery(
      withClient(
        [
          { id: 'rebooks', like: 'sandbox-no', policies: {} },
          { id: 'loses', like: 'sandbox-no', policies: {} },
          { id: 'no-hold', like: 'sandbox-se', policies: {} },
        ].reduce(withEhr, demo),
        otherClient,
      ),
    ),
};
const gateway = await startGateway(options);
const second = await startGateway({ ...options, beside: gateway });
afterAll(async () => {
  await second.close();
  await gateway.close();
});

const face = fhirClient(gateway, oslo);
const there = fhirClient(second, oslo);
const system = 'urn:oid:2.999.7';
const identifier = (value: string) => [{ system, value }];
const once = (value: string) => ({ 'if-none-exist': `identifier=${system}|${value}` });
const free = [...(await face.slots(60))];
const take = () => free.shift();
type Face = typeof face;
const idsFound = async (value: string, { get, send }: Face = face) => {
  const { status, body } = await get<Bundle>(`/Appointment?identifier=${system}|${value}`);
  expect(status).toBe(200);
  const form = { body: `identifier=${encodeURIComponent(`${system}|${value}`)}` };
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const posted = await send<Bundle>('POST', '/Appointment/_search', form.body, { headers });
  const ids = (it: Bundle) => (it.entry ?? []).map(({ resource }) => resource?.id);
  expect(ids(posted.body)).toEqual(ids(body));
  return ids(body);
};
/** As after 24 hours. */
const forgetKeys = () => rowsOf(gateway, 'UPDATE operations SET idempotency_key_hash = NULL, request_hash = NULL');

describe('an identifier of an Appointment', () => {
  test('is kept and found, for its client alone', async () => {
    const sent = [{ system, value: 'own', use: 'usual' as const }, { value: 'no system' }];
    const { status, body } = await face.post('/Appointment', bookingOf(take(), 'p-1', { identifier: sent }), {
      prefer: 'return=representation',
    });
    expect([status, body.identifier]).toEqual([201, identifier('own')]);
    expect((await face.get(`/Appointment/${body.id}`)).body).toEqual(body);
    expect(await idsFound('own')).toEqual([body.id]);
    const listed = await face.get<Bundle>(`/Appointment?patient=p-1&identifier=${system}|own`);
    expect(listed.body.entry?.[0]?.resource).toEqual(body);
    expect((await face.get<Bundle>(`/Appointment?patient=p-2&identifier=${system}|own`)).body.total).toBe(0);
    const asOther = { client: otherClient };
    const read = await face.get(`/Appointment/${body.id}`, asOther);
    expect([read.body.identifier, read.headers.etag]).toEqual([undefined, `W/"${body.meta?.versionId}"`]);
    const found = await face.get<Bundle>(`/Appointment?identifier=${system}|own`, asOther);
    expect([found.status, found.body.total]).toEqual([200, 0]);
  });

  test('stays in changes, which name what they do not keep', async () => {
    const { body } = await face.post('/Appointment', bookingOf(take(), 'p-1', { identifier: identifier('stays') }));
    const strict = { prefer: 'handling=strict' };
    const changed = await face.put({ ...body, comment: 'By the back door.' }, strict);
    expect([changed.status, changed.body.identifier]).toEqual([200, identifier('stays')]);
    const other = await face.put({ ...changed.body, identifier: identifier('other') }, strict);
    expect((other.body as unknown as OperationOutcome).issue?.[0]?.expression).toEqual(['Appointment.identifier[0]']);
    const cancelled = await face.patch(body.id, [
      { op: 'test', path: '/identifier/0/value', value: 'stays' },
      { op: 'replace', path: '/status', value: 'cancelled' },
    ]);
    expect([cancelled.status, cancelled.body.identifier]).toEqual([200, identifier('stays')]);
    expect(await idsFound('stays')).toEqual([body.id]);
  });

  test('stays when staff have deleted the appointment', async () => {
    const order = bookingOf(take(), 'p-1', { identifier: identifier('deleted') });
    const { body } = await face.post('/Appointment', order);
    deleted.add(body.id ?? '');
    const { body: found } = await face.get<Bundle<Appointment>>(`/Appointment?identifier=${system}|deleted`);
    expect(found.entry?.[0]?.resource).toMatchObject({
      id: body.id,
      status: 'cancelled',
      identifier: order.identifier,
    });
    const again = await face.post('/Appointment', order, once('deleted'));
    expect([again.status, again.body.id, again.body.status]).toEqual([200, body.id, 'cancelled']);
  });

  test('moves to the appointment that is booked anew', async () => {
    const rebooks = fhirClient(gateway, careUnitPath('rebooks', 'oslo-sentrum'));
    const slots = await rebooks.slots(2);
    const { body } = await rebooks.post(
      '/Appointment',
      bookingOf(slots[0], 'p-1', { identifier: identifier('moves') }),
    );
    const { start = '', end = '', id } = slots[1] ?? {};
    const moved = await rebooks.put({ ...body, start, end, slot: [{ reference: `Slot/${id}` }] });
    expect([moved.status, moved.body.identifier]).toEqual([200, identifier('moves')]);
    expect(moved.body.id).not.toBe(body.id);
    expect(await idsFound('moves', rebooks)).toEqual([moved.body.id]);
    const again = await rebooks.post(
      '/Appointment',
      bookingOf(slots[0], 'p-1', { identifier: identifier('moves') }),
      once('moves'),
    );
    expect([again.status, again.body.id]).toEqual([200, moved.body.id]);
  });

  test('is of a draft, and stays when its code is entered', async () => {
    const path = careUnitPath('no-hold', 'sodermalm');
    const drafts = fhirClient(gateway, path);
    const [slot] = await drafts.slots(1);
    const { body } = await drafts.post('/Appointment', bookingOf(slot, 'p-4', { identifier: identifier('draft') }));
    expect([body.status, body.identifier]).toEqual(['pending', identifier('draft')]);
    expect(await idsFound('draft', drafts)).toEqual([body.id]);
    const code = parameters({ name: 'code', valueString: await codeFor(gateway, body.id ?? '') });
    const booked = await drafts.post(`/Appointment/${body.id}/$confirm`, code);
    expect([booked.status, booked.body.status, booked.body.identifier]).toEqual([200, 'booked', identifier('draft')]);
    const { body: listed } = await drafts.get<Bundle<Appointment>>('/Appointment?patient=p-4&status=booked');
    expect(listed.entry?.map(({ resource }) => resource)).toContainEqual(booked.body);
    expect(await idsFound('draft', drafts)).toEqual([booked.body.id]);
  });

  test('is nowhere in plain text', async () => {
    const value = 'kept-in-secret-9371';
    expect(
      (await face.post('/Appointment', bookingOf(take(), 'p-1', { identifier: identifier(value) }), once(value)))
        .status,
    ).toBe(201);
    for (const table of ['appointment_identifiers', 'operations', 'events', 'audit_drafts', 'audit_entries']) {
      const rows = await rowsOf<{ readonly text: string }>(gateway, `SELECT it::text AS text FROM ${table} AS it`);
      expect(
        rows.filter(({ text }) => text.includes(value) || text.includes(Buffer.from(value).toString('hex'))),
      ).toEqual([]);
    }
  });

  test.each<[string, Appointment['identifier'], string]>([
    ['the number of a person', [{ system: 'urn:oid:2.16.578.1.12.4.1.4.1', value: '15859000026' }], '[0]'],
    ['a value that is too long', [...identifier('x'), ...identifier('x'.repeat(1001))], '[1]'],
    ['too many', Array.from({ length: 11 }, (_, index) => ({ system, value: `${index}` })), ''],
  ])('is refused if it is %s', async (_, sent, place) => {
    const response = await face.post('/Appointment', bookingOf(free[0], 'p-1', { identifier: sent ?? [] }));
    expect(issueIn(response)).toEqual([422, 'not-supported', 'request_invalid']);
    expect((response.body as unknown as OperationOutcome).issue?.[0]?.expression).toEqual([
      `Appointment.identifier${place}`,
    ]);
  });

  test.each(['only-a-value', 'urn:oid:2.16.578.1.12.4.1.4.1|15859000026', `${system}|`])(
    '%s is not searched for',
    async (it) => {
      expect((await face.get(`/Appointment?identifier=${it}`)).status).toBe(400);
    },
  );
});

describe('If-None-Exist', () => {
  test('finds the Appointment after a day, whatever the body says, and however it was booked', async () => {
    const { body } = await face.post('/Appointment', bookingOf(take(), 'p-1', { identifier: identifier('days') }));
    await forgetKeys();
    const slot = free[0];
    const again = await face.post(
      '/Appointment',
      bookingOf(slot, 'p-2', { identifier: identifier('days') }),
      once('days'),
    );
    expect([again.status, again.body]).toEqual([200, body]);
    expect(again.headers.location).toContain(`/Appointment/${body.id}/_history/${body.meta?.versionId}`);
    expect((await face.get(`/Slot/${slot?.id}`)).body).toMatchObject({ status: 'free' });
  });

  test('says nothing of other care units', async () => {
    const elsewhere = fhirClient(gateway, careUnitPath('rebooks', 'oslo-sentrum'));
    const order = { identifier: identifier('units') };
    const here = await face.post('/Appointment', bookingOf(take(), 'p-1', order), once('units'));
    expect(await idsFound('units', elsewhere)).toEqual([]);
    const slot = (await elsewhere.slots(5)).at(-1);
    const other = await elsewhere.post('/Appointment', bookingOf(slot, 'p-2', order), once('units'));
    expect([here.status, other.status]).toEqual([201, 201]);
    expect(await idsFound('units', elsewhere)).toEqual([other.body.id]);
    expect(await idsFound('units')).toEqual([here.body.id]);
  });

  test('does not count what nobody knows any more', async () => {
    const order = { identifier: identifier('unknown') };
    const { body: gone } = await face.post('/Appointment', bookingOf(take(), 'p-1', order), once('unknown'));
    const forgotten = 'UPDATE appointment_identifiers SET appointment_id = $2 WHERE appointment_id = $1';
    await rowsOf(gateway, forgotten, [gone.id, 'nobody-knows']);
    await forgetKeys();
    const { status, body } = await face.post('/Appointment', bookingOf(take(), 'p-1', order), once('unknown'));
    expect(status).toBe(201);
    expect(await idsFound('unknown')).toEqual([body.id]);
    const again = await face.post('/Appointment', bookingOf(free[0], 'p-1', order), once('unknown'));
    expect([again.status, again.body.id]).toEqual([200, body.id]);
  });

  test('is 412 if several have the identifier', async () => {
    for (const _ of [1, 2])
      await face.post('/Appointment', bookingOf(take(), 'p-1', { identifier: identifier('two') }));
    expect(await idsFound('two')).toHaveLength(2);
    const third = await face.post(
      '/Appointment',
      bookingOf(free[0], 'p-1', { identifier: identifier('two') }),
      once('two'),
    );
    expect(issueIn(third)).toEqual([412, 'multiple-matches', 'request_invalid']);
  });

  test('books once at two gateways at a time, for orders that differ', async () => {
    const orders = Array.from({ length: 10 }, (_, index) =>
      bookingOf(take(), 'p-1', { identifier: identifier('race'), comment: `${index}` }),
    );
    const send = (order: Appointment, index: number) =>
      (index % 2 === 0 ? face : there).post('/Appointment', order, once('race'));
    const responses = await Promise.all(orders.map(send));
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((it) => it === 201)).toHaveLength(1);
    expect(statuses.filter((it) => ![200, 201, 409].includes(it))).toEqual([]);
    const [id, ...others] = await idsFound('race');
    expect(others).toEqual([]);
    for (const [index, order] of orders.entries()) {
      const again = await send(order, index);
      expect([again.status, again.body.id]).toEqual([200, id]);
    }
  });

  test('finds a booking whose answer was lost, also if nobody asked again for a day', async () => {
    const ehr = faults.of('loses');
    const loses = fhirClient(gateway, careUnitPath('loses', 'oslo-sentrum'));
    const slots = await loses.slots(2);
    const order = bookingOf(slots[0], 'p-1', { identifier: identifier('lost') });
    ehr.goDownDuring({ isDone: true });
    expect(issueIn(await loses.post('/Appointment', order, once('lost')))).toEqual([504, 'timeout', 'outcome_unknown']);
    await rowsOf(gateway, "UPDATE operations SET created_at = created_at - interval '25 hours' WHERE emr = 'loses'");
    ehr.comeUp();
    const early = await loses.post('/Appointment', { ...order, slot: bookingOf(slots[1]).slot ?? [] }, once('lost'));
    expect([200, 409]).toContain(early.status);
    await eventually(async () => {
      await runBackgroundJobs(gateway);
      expect(await rowsOf(gateway, 'SELECT FROM appointment_identifiers WHERE emr = $1', ['loses'])).toHaveLength(1);
    });
    await forgetKeys();
    ehr.goDown();
    const other = { ...order, slot: bookingOf(slots[1]).slot ?? [] };
    expect(issueIn(await loses.post('/Appointment', other, once('lost')))[2]).toBe('ehr_unavailable');
    ehr.comeUp();
    const found = await eventually(async () => {
      const response = await loses.post('/Appointment', other, once('lost'));
      expect(response.status).toBe(200);
      return response;
    });
    expect(found.body).toMatchObject({ start: slots[0]?.start, status: 'booked', identifier: identifier('lost') });
  });
});
