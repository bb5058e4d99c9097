import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, expect, test } from 'vitest';
import { hashSecret } from '../server/src/config/configuration.ts';
import { createTestDatabase } from './database/database.ts';
import { createRunFolder } from './database/embedded-postgres.ts';
import { startChild } from './processes/child-gateway.ts';
import { oslo } from './requests/bookings.ts';
import { type DocumentBody, form, pdfOf } from './requests/documents.ts';

/*
 * Twenty documents of 10 MiB are 200 MiB. Uploads and downloads are streams, so that the gateway's
 * process needs less than that. In front of the sandbox on PostgreSQL.
 */

const atOnce = 20;
const size = 10 * 1024 * 1024;
/** Megabytes of resident memory in all. Bodies that are kept whole would need 400 and more. */
const bound = 300;

const folder = await createRunFolder();
const testDatabase = await createTestDatabase('postgresql');
/** Each client may send only some contents of the maximum size at once. */
const clients = ['a', 'b', 'c', 'd'].map((id) => ({ id, secret: randomBytes(32).toString('base64url') })) as [
  Client,
  ...Client[],
];
interface Client {
  readonly id: string;
  readonly secret: string;
}
await writeFile(
  join(folder, 'crossward.yaml'),
  // JSON is valid YAML. The time-outs are the default ones: a busy machine takes longer for the transfers.
  JSON.stringify({
    emrs: [
      {
        id: 'sandbox-no',
        name: 'Sandbox',
        connector: 'sandbox',
        settings: { country: 'NO' },
        care_units: [{ id: 'oslo-sentrum', name: 'Oslo', time_zone: 'Europe/Oslo', language: 'nb' }],
      },
    ],
    clients: clients.map(({ id, secret }) => ({
      id,
      secrets: [{ sha256: hashSecret(secret) }],
      scopes: ['documents:read', 'documents:write'],
      grants: [{ emr: 'sandbox-no' }],
    })),
    http: { request_timeout_seconds: 600 },
  }),
);
const gateway = await startChild({
  dataDir: join(folder, 'data'),
  databaseUrl: testDatabase.url,
  setup: {
    client: clients[0],
    variables: {
      CROSSWARD_CONFIG: join(folder, 'crossward.yaml'),
      CROSSWARD_SECRET_KEY: randomBytes(32).toString('base64'),
    },
  },
});
afterAll(async () => {
  await gateway.kill();
  await testDatabase.dispose();
  await rm(folder, { recursive: true, force: true });
});

const bytes = pdfOf(size);
const path = `${oslo}/patients/p-3/documents`;

/** The highest resident set size of the gateway's process since `work` began, in megabytes. */
async function peakOf(work: () => Promise<void>): Promise<number> {
  // Resets the peak: https://docs.kernel.org/filesystems/proc.html
  await writeFile(`/proc/${gateway.pid}/clear_refs`, '5');
  await work();
  const status = await readFile(`/proc/${gateway.pid}/status`, 'utf8');
  return Math.round((Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024) / 1e6);
}

function open(
  method: string,
  to: string,
  headers: Readonly<Record<string, string | readonly string[]>>,
): ClientRequest {
  return httpRequest(gateway.address + to, { method, headers: { ...gateway.credentials, ...headers } });
}

async function upload(index: number, body: Buffer, headers: Readonly<Record<string, string>>): Promise<DocumentBody> {
  const { id, secret } = clients[index % clients.length] ?? clients[0];
  const credentials = { 'x-service-client-id': id, 'x-service-client-secret': secret };
  const request = open('POST', path, { ...headers, ...credentials, 'content-length': String(body.length) });
  const responded = once(request, 'response') as Promise<[IncomingMessage]>;
  await pipeline(Readable.from(pieces(body)), request);
  const [response] = await responded;
  expect(response.statusCode).toBe(201);
  return JSON.parse(Buffer.concat(await response.toArray()).toString('utf8'));
}

function* pieces(body: Buffer): Generator<Buffer> {
  for (let from = 0; from < body.length; from += 65_536) yield body.subarray(from, from + 65_536);
}

async function download(id: string): Promise<void> {
  const request = open('GET', `${path}/${id}/content`, {}).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let read = 0;
  for await (const chunk of response) {
    expect(bytes.subarray(read, read + chunk.length).equals(chunk)).toBe(true);
    read += chunk.length;
  }
  expect(read).toBe(size);
}

const all = <Result>(work: (index: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: atOnce }, (_, index) => work(index)));

test('a gateway with twenty documents of 10 MiB at once needs less than 300 MB', { timeout: 900_000 }, async () => {
  const part = form([{ name: 'content', value: bytes, fileName: 'x.pdf', type: 'application/pdf' }]);
  const documents: DocumentBody[] = [];
  const figures = {
    idle: await peakOf(async () => undefined),
    uploads: await peakOf(async () => {
      documents.push(
        ...(await all((index) => upload(index, part.body as Buffer, part.headers as Record<string, string>))),
      );
    }),
    downloads: await peakOf(async () => {
      await all((index) => download(documents[index]?.id ?? ''));
    }),
  };
  process.stdout.write(`Peak resident set size in MB: ${JSON.stringify(figures)}\n`);
  for (const peak of Object.values(figures)) expect(peak).toBeLessThan(bound);
});
