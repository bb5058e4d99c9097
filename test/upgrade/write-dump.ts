// Writes the dump of a version that is kept for tests of upgrades:
//   npm install crossward-<version>.tgz    in a folder of its own
//   DATABASE_URL=… npm run write-dump -- <path of that folder> <version>
// The database is empty, on the oldest PostgreSQL that the gateway supports, and pg_dump is of the same version.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { type ChildGateway, type ChildRequest, startChild } from '../processes/child-gateway.ts';
import { type AnsweredWrite, dumpPath, factsPath, type KnownFacts, setupOf } from './kept-database.ts';

const run = promisify(execFile);
const [installed = '', version = ''] = process.argv.slice(2);
const databaseUrl = process.env.DATABASE_URL ?? '';
const clinic = '/api/emrs/clinic/care-units/ward/appointments';
const hospital = '/api/emrs/hospital/care-units/ward/appointments';

const client = { id: 'booking-app', secret: randomBytes(32).toString('base64') };
const secret_key = randomBytes(32).toString('base64');
const setup = setupOf(version, { client, secret_key });
const dataDir = await mkdtemp(join(tmpdir(), 'crossward-dump-'));
const database = new pg.Client({ connectionString: databaseUrl });
await database.connect();
const gateway = await startChild({
  command: ['npx', 'crossward', 'start'],
  cwd: installed,
  dataDir,
  databaseUrl,
  setup,
});
try {
  const facts = await leaveTraces(gateway);
  await writeFile(factsPath(version), `${JSON.stringify(facts, null, 2)}\n`);
} finally {
  process.kill(-gateway.pid, 'SIGKILL');
  await gateway.ended;
  await rm(dataDir, { recursive: true, force: true });
}
const { rowCount } = await database.query(`SELECT FROM operations WHERE state = 'pending' AND sealed_plan IS NOT NULL`);
if (rowCount !== 1) throw new Error('The write was finished before the gateway was killed. Try again.');
await database.end();
const options = ['--inserts', '--rows-per-insert=1000', '--no-owner', '--no-privileges', '--dbname', databaseUrl];
const { stdout } = await run('pg_dump', options, { maxBuffer: 100_000_000 });
// Commands of psql, which is not needed to restore it.
await writeFile(dumpPath(version), stdout.replaceAll(/^\\.*\n/gm, ''));

interface Mailbox {
  readonly messages: readonly { readonly appointment_id: string; readonly text: string }[];
}

/** Leaves something of each kind in the database that a gateway must still understand after an upgrade. */
async function leaveTraces({ send }: ChildGateway): Promise<KnownFacts> {
  const stored_client = { id: 'ward-screen', secret: await createClient('ward-screen') };
  const { body: endpoint } = await answered<{ id: string; secret: string }>(
    // Nobody listens there: its deliveries are waiting when the dump is made.
    { method: 'POST', path: '/api/webhook-endpoints', body: { url: 'http://127.0.0.1:9/hooks' } },
  );
  const booking = await answered(bookingAt(clinic, 9));
  const cancelled = await answered(bookingAt(clinic, 10));
  const moved = at(11);
  await answered(changeOf(clinic, cancelled, { start: moved.start_time, end: moved.end_time }));
  const cancellation = await answered(changeOf(clinic, cancelled, { status: 'cancelled' }));
  const held = await answered(bookingAt(hospital, 9));
  const confirmation = await answered(changeOf(hospital, held, { confirmation: { code: await codeFor(held) } }));
  const awaiting = await answered(bookingAt(hospital, 10));
  const code = await codeFor(awaiting);
  // The EHR makes this patient's booking, and its answer is lost.
  const unfinished = bookingAt(clinic, 14, 'p-lost');
  const unknown = await send<{ reason: string }>(unfinished);
  if (unknown?.body.reason !== 'outcome_unknown') throw new Error(`Not lost: ${unknown?.text}`);
  const { id, secret } = endpoint;
  const webhook_endpoint = { id, secret };
  return {
    secret_key,
    client,
    stored_client,
    booking,
    cancellation,
    confirmation,
    awaiting: { ...awaiting, code },
    unfinished,
    webhook_endpoint,
  };

  async function answered<Body extends { id: string }>(request: ChildRequest): Promise<AnsweredWrite & { body: Body }> {
    const response = await send<Body>(request);
    if (!response || response.status >= 300) throw new Error(`Failed: ${response?.text}`);
    return { request, status: response.status, body: response.body };
  }

  async function codeFor({ body: { id } }: AnsweredWrite): Promise<string> {
    for (;;) {
      const mailbox = await send<Mailbox>({
        method: 'GET',
        path: '/demo/messages',
        headers: { accept: 'application/json' },
      });
      const message = mailbox?.body.messages.find(({ appointment_id }) => appointment_id === id);
      const code = /\b\d{6}\b/.exec(message?.text ?? '')?.[0];
      if (code) return code;
      await sleep(50);
    }
  }
}

async function createClient(id: string): Promise<string> {
  const words = [
    'crossward',
    'clients',
    'create',
    id,
    '--name',
    id,
    '--scope',
    'appointments:read',
    '--grant',
    'clinic',
  ];
  const env = { ...process.env, ...setup.variables, DATABASE_URL: databaseUrl };
  return (await run('npx', words, { cwd: installed, env })).stdout.trim();
}

function at(hour: number) {
  const time = (minute: string) => `2035-03-15T${String(hour).padStart(2, '0')}:${minute}:00`;
  return { start_time: time('00'), end_time: time('30') };
}

function bookingAt(path: string, hour: number, patient_id = 'p-3'): ChildRequest {
  const body = { patient_id, resource_id: 'r-1', healthcare_service_id: 'consultation', ...at(hour) };
  return { method: 'POST', path, headers: { 'idempotency-key': `${path} ${hour}` }, body };
}

function changeOf(path: string, { body: { id } }: AnsweredWrite, body: object): ChildRequest {
  const headers = { 'idempotency-key': `${id} ${JSON.stringify(body)}`.replaceAll('"', "'") };
  return { method: 'PATCH', path: `${path}/${id}`, headers, body };
}
