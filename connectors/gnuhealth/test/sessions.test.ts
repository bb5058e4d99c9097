import { expect, test } from 'vitest';
import { open } from './bookings.ts';
import { north } from './subject.ts';

const logins = ({ seen }: { readonly seen: readonly { readonly method: string }[] }) =>
  seen.filter(({ method }) => method === 'common.db.login').length;

test('many calls share one login', async () => {
  const { fake, connector } = await open();
  await Promise.all(Array.from({ length: 20 }, () => connector.findPatient?.({ type: 'emr_id', value: '1' })));
  expect(logins(fake)).toBe(1);
});

test('calls whose session has ended share one new login', async () => {
  const { fake, connector } = await open();
  await connector.listResources?.(north);
  fake.endSessions();
  const found = await Promise.all(
    Array.from({ length: 20 }, () => connector.findPatient?.({ type: 'emr_id', value: '1' })),
  );
  expect(found.every((it) => it?.id === '1')).toBe(true);
  expect(logins(fake)).toBe(2);
});

test('a wrong password is sent once, and again after five minutes', async () => {
  let now = Date.now();
  const { fake, connector } = await open({ password: { reveal: () => 'wrong' } }, { now: () => new Date(now) });
  const find = () => connector.findPatient?.({ type: 'emr_id', value: '1' });
  await expect(find()).rejects.toMatchObject({ kind: 'rejected' });
  for (let call = 1; call <= 10; call++) {
    await expect(find()).rejects.toMatchObject({ kind: 'unavailable', retryAfterSeconds: 300 });
  }
  expect(logins(fake)).toBe(1);
  now += 5 * 60_000;
  await expect(find()).rejects.toMatchObject({ kind: 'rejected' });
  expect(logins(fake)).toBe(2);
});

test('an EHR that is away at the login is asked again with the next call', async () => {
  const { fake, connector } = await open();
  const find = () => connector.findPatient?.({ type: 'emr_id', value: '1' });
  fake.misbehave = () => 'cut_before';
  await expect(find()).rejects.toMatchObject({ kind: 'unavailable' });
  fake.misbehave = () => undefined;
  expect(await find()).toMatchObject({ id: '1' });
});
