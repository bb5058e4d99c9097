import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Secret } from '../config/environment/secret.ts';
import { temporaryFolder } from '../config/test-support.ts';
import type { Db } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { testCertificate } from './providers/test-certificate.ts';
import { createSenders } from './senders.ts';

const dependencies = { db: {} as Db, keys: {} as KeyRing };
const secret = new Secret('x');

it('creates exactly the configured senders', async () => {
  expect(await createSenders({}, dependencies)).toEqual({});
  expect(
    Object.keys(
      await createSenders({ email: { provider: 'smtp', host: 'h', port: 25, tls: 'none', from: 'a@b' } }, dependencies),
    ),
  ).toEqual(['email']);
  for (const sms of [
    { provider: '46elks', username: 'u', password: secret, from: 'Clinic' },
    { provider: 'twilio', account_sid: 'AC1', auth_token: secret, from: 'Clinic' },
    { provider: 'webhook', url: 'https://example.org', secret },
  ] as const) {
    expect(Object.keys(await createSenders({ sms }, dependencies))).toEqual(['sms']);
  }
});

it('reads the certificate authorities that e-mail trusts', async () => {
  const email = { provider: 'smtp', host: 'h', port: 465, tls: 'implicit', from: 'a@b' } as const;
  const file = join(await temporaryFolder(), 'ca.pem');
  const sending = () => createSenders({ email: { ...email, ca_file: file } }, dependencies);
  await expect(sending()).rejects.toThrow(`${file}: cannot be read as PEM certificates (ca_file)`);
  await writeFile(file, testCertificate.cert);
  expect(Object.keys(await sending())).toEqual(['email']);
});

it('both channels share one demo mailbox', async () => {
  const demo = { provider: 'demo_mailbox' } as const;
  const { sms, email, mailbox } = await createSenders({ sms: demo, email: demo }, dependencies);
  expect(mailbox).toBeDefined();
  expect(sms).toBe(mailbox);
  expect(email).toBe(mailbox);
});
