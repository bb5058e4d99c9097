import { expect, it } from 'vitest';
import { Secret } from '../config/secret.ts';
import type { Db } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { createSenders } from './senders.ts';

const means = { db: {} as Db, keys: {} as KeyRing };
const secret = new Secret('x');

it('makes what is configured, and nothing else', () => {
  expect(createSenders({}, means)).toEqual({});
  expect(
    Object.keys(createSenders({ email: { provider: 'smtp', host: 'h', port: 25, tls: 'none', from: 'a@b' } }, means)),
  ).toEqual(['email']);
  for (const sms of [
    { provider: '46elks', username: 'u', password: secret, from: 'Clinic' },
    { provider: 'twilio', account_sid: 'AC1', auth_token: secret, from: 'Clinic' },
    { provider: 'webhook', url: 'https://example.org', secret },
  ] as const) {
    expect(Object.keys(createSenders({ sms }, means))).toEqual(['sms']);
  }
});

it('shares one demo mailbox between the channels', () => {
  const demo = { provider: 'demo_mailbox' } as const;
  const { sms, email, mailbox } = createSenders({ sms: demo, email: demo }, means);
  expect(mailbox).toBeDefined();
  expect(sms).toBe(mailbox);
  expect(email).toBe(mailbox);
});
