/** @module-tag any-database */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { eventually } from '../../../test/requests/codes.ts';
import { browserWith, withConsole } from '../../../test/requests/console.ts';
import { createAuthority } from '../../../test/tls/certificates.ts';
import type { Configuration } from '../config/configuration.ts';

const authority = createAuthority();
const folder = await mkdtemp(join(tmpdir(), 'crossward-certificates-'));
const file = join(folder, 'client.pem');
const inDays = (days: number) => new Date(Math.floor(Date.now() / 1000) * 1000 + days * 24 * 60 * 60 * 1000 + 60_000);

async function replaceFile(text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}
async function renew(to: Date): Promise<Date> {
  const { cert, key } = authority.issue({ to });
  await replaceFile(cert + key);
  return to;
}

const first = await renew(inDays(10));
const tls = { client_certificate: file, client_key: file };
const gateway = await startGateway({
  intervals: { certificates: 100 },
  configure(configuration): Configuration {
    const emrs = configuration.emrs.map((emr) =>
      emr.id === 'sandbox-no' ? { ...emr, connection: { ...emr.connection, tls } } : emr,
    );
    return withConsole({ ...configuration, emrs });
  },
});
afterAll(async () => {
  await gateway.close();
  await rm(folder, { recursive: true });
});

test('operators see when the certificate for an EHR expires, and that it was replaced', async () => {
  const { browser } = await browserWith(gateway, 'operator-certificates', 'operate');
  const metric = async () =>
    /client_certificate_expiry_timestamp_seconds\{emr="sandbox-no"\} (\d+)/.exec(
      await gateway.deps.metrics.metrics(),
    )?.[1];
  const overview = async () => (await browser.open('/console')).text;
  expect(await metric()).toBe(String(first.getTime() / 1000));
  expect(await overview()).toContain('The client certificate of the gateway expires in 10 days, on');
  expect((await browser.open('/console/connections/sandbox-no')).text).toContain(
    'Client certificate expires in 10 days',
  );
  expect((await browser.submit('/console/connections/sandbox-no')).text).toContain(
    'client certificate expires in 10 days',
  );

  await replaceFile('nothing');
  await eventually(async () =>
    expect(await overview()).toContain(`New TLS files are not used: ${file}: cannot be read as a PEM certificate`),
  );

  const second = await renew(inDays(400));
  await eventually(async () => expect(await metric()).toBe(String(second.getTime() / 1000)));
  expect(await overview()).not.toContain('client certificate');
  expect(await overview()).not.toContain('TLS files');
});
