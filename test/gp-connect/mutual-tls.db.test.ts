import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gpConnectConnector } from '@crossward/connector-gp-connect';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type MutualTls, startFake } from '../../connectors/gp-connect/fake/server.ts';
import { formatCheck } from '../../server/src/cli/emr-check-report.ts';
import { checkConnection } from '../../server/src/ehr/check-connection.ts';
import type { Problem } from '../gateway/gateway.ts';
import { careUnitOf } from '../requests/codes.ts';
import { newKey } from '../requests/idempotency-keys.ts';
import { type Certificate, createAuthority } from '../tls/certificates.ts';
import { booking, main, practiceEmr, startPracticeGateway } from './practice.ts';

/* As the Spine, the practice takes requests over mutual TLS alone. */

const authority = createAuthority();
const patient = `${main}/patients/nhs_number:9990000018`;
const wrong: Readonly<Record<string, Certificate>> = {
  'one of another authority': createAuthority('another').issue(),
  'one that has expired': authority.issue({ to: new Date('2021-01-01') }),
};

/** A practice with TLS, and the connection of a gateway with this certificate. */
async function openPractice(refusal: MutualTls['refusal'], own: Certificate | undefined) {
  const folder = await mkdtemp(join(tmpdir(), 'crossward-mutual-tls-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const ca = join(folder, 'ca.pem');
  const client = join(folder, 'client.pem');
  /** As tools do that renew certificates: beside the former one, then renamed. */
  const replace = async ({ cert, key }: Certificate) => {
    await writeFile(`${client}.new`, cert + key);
    await rename(`${client}.new`, client);
  };
  await writeFile(ca, authority.cert);
  if (own) await replace(own);
  const fake = await startFake({ days: 42, tls: { ...authority.issue(), ca: authority.cert, refusal } });
  onTestFinished(() => fake.close());
  const tls = own && { tls: { client_certificate: client, client_key: client } };
  return { fake, replace, emr: practiceEmr(fake, undefined, { ca_file: ca, retries: 0, ...tls }) };
}

async function startGateway(emr: ReturnType<typeof practiceEmr>) {
  const gateway = await startPracticeGateway(emr);
  onTestFinished(() => gateway.close());
  return gateway;
}

async function check(emr: ReturnType<typeof practiceEmr>): Promise<string> {
  return formatCheck(await checkConnection({ emr, module: gpConnectConnector }, undefined));
}

describe.each(['close', 'status'] as const)('a practice that refuses others by %s', (refusal) => {
  test('takes the certificate of its authority: books and cancels', async () => {
    const { fake, emr } = await openPractice(refusal, authority.issue());
    expect(fake.url).toMatch(/^https:/);
    const gateway = await startGateway(emr);
    const careUnit = careUnitOf(gateway, main);
    const { status, body, text } = await (await booking(gateway, newKey()))();
    expect(status, text).toBe(201);
    expect(await careUnit.cancel(body.id)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    expect(fake.appointments.all().map(({ content }) => content.status)).toEqual(['cancelled']);
    const report = await check(emr);
    expect(report).toMatch(/ok +client certificate +valid until 2049-12-31/);
    expect(report).not.toContain('problem');
  });

  test.each(Object.entries(wrong))('does not take %s, and takes a right one at once', async (_, own) => {
    const { fake, emr, replace } = await openPractice(refusal, own);
    const gateway = await startGateway(emr);
    const found = await gateway.request<Problem>('GET', patient);
    // The TLS server of Node.js ends the connection without an alert, so nobody knows why.
    expect([found.status, found.body.reason]).toEqual(
      refusal === 'close' ? [504, 'ehr_timeout'] : [502, 'ehr_rejected'],
    );
    expect(JSON.stringify(found.body)).not.toMatch(/9990000018|CERTIFICATE/);
    expect(fake.seen).toEqual([]);
    await replace(authority.issue());
    expect(await gateway.request('GET', patient)).toMatchObject({ status: 200 });
  });
});

const refused = /problem +practice +The EHR responded with 495 .*: it does not accept the client certificate\./;
test.each([
  ['status', 'none', undefined, /problem +practice +The EHR responded with 496 .*: it requires a client certificate\./],
  ['status', 'one of another authority', wrong['one of another authority'], refused],
  ['status', 'one that has expired', wrong['one that has expired'], refused],
  ['close', 'none', undefined, /problem +practice +.*127\.0\.0\.1/],
  ['close', 'one of another authority', wrong['one of another authority'], /problem +practice +.*127\.0\.0\.1/],
] as const)('emr check, if the practice answers by %s to %s', async (refusal, _, own, expected) => {
  const { emr } = await openPractice(refusal, own);
  expect(await check(emr)).toMatch(expected);
});

test('emr check says that the certificate has expired', async () => {
  const { emr } = await openPractice('status', wrong['one that has expired']);
  expect(await check(emr)).toMatch(/problem +client certificate +expired on 2021-01-01/);
});
