import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startFake } from '../../connectors/gp-connect/fake/server.ts';
import { type FaultProxy, startFaultProxy } from '../ehrs/fault-proxy.ts';
import type { Gateway, Problem } from '../gateway/gateway.ts';
import { eventually } from '../requests/codes.ts';
import { newKey } from '../requests/idempotency-keys.ts';
import { booking, isBooking, main, practiceEmr, startPracticeGateway } from './practice.ts';

const fake = await startFake({ days: 42 });
let proxy: FaultProxy;
let gateway: Gateway;
beforeAll(async () => {
  proxy = await startFaultProxy(new URL(fake.url).origin);
  gateway = await startPracticeGateway(practiceEmr(fake, proxy));
});
afterEach(() => proxy.comeUp());
afterAll(async () => {
  await gateway.close();
  await proxy.close();
  await fake.close();
});

const claire = {
  id: 'cjones',
  family_name: 'Jónsdóttir',
  given_name: 'Claire',
  title: 'Dr',
  sds_user_id: '111222333444',
};
/** As RFC 8259 escapes what a header cannot hold. */
const escaped = (user: object) =>
  JSON.stringify(user).replace(/[^ -~]/g, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`);

const patient = `/api/emrs/practice/care-units/main/patients/nhs_number:9990000018`;
const usersSince = (from: number) => new Set(fake.seen.slice(from).map(({ claims }) => claims.sub));

test('the practice is told the person whom the client names, and the one of the settings otherwise', async () => {
  let from = fake.seen.length;
  expect(await gateway.request('GET', patient, { headers: { 'x-user': escaped(claire) } })).toMatchObject({
    status: 200,
  });
  expect(fake.seen.slice(from)).toMatchObject([
    {
      claims: {
        sub: 'cjones',
        requesting_practitioner: {
          id: 'cjones',
          name: [{ family: 'Jónsdóttir', given: ['Claire'], prefix: ['Dr'] }],
          identifier: [{ value: '111222333444' }, { value: 'UNK' }, { value: 'cjones' }],
        },
      },
    },
  ]);
  from = fake.seen.length;
  await gateway.request('GET', patient);
  expect(usersSince(from)).toEqual(new Set(['booking-desk']));
});

test('a booking is that of the person, from the look-up of the patient on', async () => {
  const { id } = claire;
  const send = await booking(gateway, newKey(), { ...claire, family_name: 'Jones' });
  const from = fake.seen.length;
  expect((await send()).status).toBe(201);
  expect(fake.seen.slice(from).map(({ method }) => method)).toContain('POST');
  expect(usersSince(from)).toEqual(new Set([id]));
});

test('searches of two people are not one', async () => {
  const from = fake.seen.length;
  const query = new URLSearchParams({
    start: new Date(Date.now() + 86_400_000).toISOString(),
    end: new Date(Date.now() + 172_800_000).toISOString(),
  });
  const users = ['one', 'two', 'three'];
  await Promise.all(
    users.map((id) =>
      gateway.request('GET', `${main}/timeslots?${query}`, { headers: { 'x-user': escaped({ ...claire, id }) } }),
    ),
  );
  expect(usersSince(from)).toEqual(new Set(users));
});

test('a look-up in the background is that of the person of the settings', async () => {
  const send = await booking(gateway, newKey(), { ...claire, family_name: 'Jones' });
  proxy.deliverLate(isBooking);
  const from = fake.seen.length;
  expect(await send()).toMatchObject({ status: 504 });
  await eventually(() => expect(usersSince(from)).toContain('booking-desk'));
});

test.each([
  ['text', 'Claire Jones'],
  ['an array', '[]'],
  ['no name', JSON.stringify({ id: 'secret-person' })],
  ['an empty id', JSON.stringify({ ...claire, id: '', family_name: 'x' })],
  ['an unknown field', JSON.stringify({ id: 'secret-person', family_name: 'a', given_name: 'b', role: 'c' })],
  ['a line break', JSON.stringify({ id: 'secret-person', family_name: 'a\nb', given_name: 'b' })],
  ['a long text', JSON.stringify({ id: 'secret-person', family_name: 'a'.repeat(201), given_name: 'b' })],
])('a header with %s is a fault of the caller', async (_, value) => {
  const from = fake.seen.length;
  const { status, body, text } = await gateway.request<Problem>('GET', patient, { headers: { 'x-user': value } });
  expect([status, body]).toMatchObject([400, { reason: 'request_invalid', errors: [{ header: 'x-user' }] }]);
  expect(text).not.toContain('secret-person');
  expect(fake.seen.length).toBe(from);
});

test('the header sent twice is a fault of the caller', async () => {
  const headers = { 'x-user': [escaped(claire), escaped(claire)] };
  expect(await gateway.request('GET', patient, { headers })).toMatchObject({ status: 400 });
});

test('no log has a person', () => {
  const log = gateway.logLines.join('');
  for (const words of ['cjones', 'Jones', 'Claire', '111222333444', 'secret-person']) expect(log).not.toContain(words);
});
