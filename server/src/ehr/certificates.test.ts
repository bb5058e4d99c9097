import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { beforeEach, describe, expect, test } from 'vitest';
import { createAuthority } from '../../../test/tls/certificates.ts';
import { resolveConnection } from '../config/schema/connection.ts';
import { temporaryFolder } from '../config/test-support.ts';
import { certificateFinding, measureCertificates, watchCertificates } from './certificates.ts';
import { type EhrTls, openTls } from './guard/ehr-tls.ts';

const authority = createAuthority();
const expiresAt = new Date('2040-06-30T12:00:00Z');
const day = 24 * 60 * 60 * 1000;

let folder: string;
let tls: EhrTls;
let lines: Record<string, unknown>[] = [];
let now = new Date();
const log = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line)) });
const taken = () => lines.splice(0);

/** Replaces the file at once, as a tool that renews certificates does. */
async function write(text: string): Promise<void> {
  await writeFile(join(folder, 'new.pem'), text);
  await rename(join(folder, 'new.pem'), join(folder, 'both.pem'));
}
const both = ({ cert, key }: { cert: string; key: string }) => cert + key;

beforeEach(async () => {
  folder = await temporaryFolder();
  lines = [];
  await write(both(authority.issue({ to: expiresAt })));
  const file = join(folder, 'both.pem');
  const connection = { ...resolveConnection(), tls: { client_certificate: file, client_key: file } };
  const opened = await openTls({ id: 'spine', connection });
  if (!opened) throw new Error('no TLS settings');
  tls = opened;
});

test.each([
  ['2040-05-31T11:59:59Z', 'ok', 'valid until 2040-06-30'],
  ['2040-05-31T12:00:01Z', 'warning', 'expires in 29 days, on 2040-06-30'],
  ['2040-06-29T12:00:00Z', 'warning', 'expires in 1 day, on 2040-06-30'],
  ['2040-06-30T12:00:00Z', 'problem', 'expired on 2040-06-30'],
])('at %s the certificate is %s: %s', (at, status, detail) => {
  expect(certificateFinding(tls, new Date(at))).toEqual({ name: 'client certificate', status, detail });
});

test('an EHR without a certificate has no finding and no metric', async () => {
  expect(certificateFinding(undefined, now)).toBeUndefined();
  const registry = new Registry();
  measureCertificates(registry, () => [{ id: 'other' }, { id: 'spine', tls }]);
  const values = (await registry.metrics()).split('\n').filter((line) => !line.startsWith('#') && line !== '');
  const seconds = expiresAt.getTime() / 1000;
  expect(values).toEqual([`crossward_ehr_client_certificate_expiry_timestamp_seconds{emr="spine"} ${seconds}`]);
});

describe('the log', () => {
  test('has one line a day from 30 days before the certificate expires', async () => {
    const look = watchCertificates(
      () => [{ id: 'spine', tls }],
      () => now,
      log,
    );
    now = new Date(expiresAt.getTime() - 31 * day);
    await look();
    expect(taken()).toEqual([]);
    now = new Date(expiresAt.getTime() - 20 * day);
    await look();
    await look();
    const about = { level: 40, emr: 'spine', expires_at: expiresAt.toISOString() };
    expect(taken()).toEqual([{ ...about, msg: 'client certificate expires in 20 days, on 2040-06-30' }]);
    now = new Date(now.getTime() + day);
    await look();
    expect(taken()).toEqual([{ ...about, msg: 'client certificate expires in 19 days, on 2040-06-30' }]);
  });

  test('says once that new files cannot be used, and when they are', async () => {
    now = new Date('2030-01-01T00:00:00Z');
    const look = watchCertificates(
      () => [{ id: 'spine', tls }],
      () => now,
      log,
    );
    await look();
    await write('nothing');
    await look();
    await look();
    const fault = `${join(folder, 'both.pem')}: cannot be read as a PEM certificate (tls.client_certificate)`;
    expect(taken()).toEqual([
      { level: 40, emr: 'spine', fault, msg: 'TLS files cannot be used: the former ones stay in use' },
    ]);
    expect(tls.expiresAt()).toEqual(expiresAt);
    await write(both(authority.issue({ to: new Date('2041-01-01T00:00:00Z') })));
    await look();
    await look();
    expect(taken()).toEqual([
      {
        level: 30,
        emr: 'spine',
        expires_at: '2041-01-01T00:00:00.000Z',
        msg: 'TLS files have changed: new connections use them',
      },
    ]);
  });
});
