import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, inject, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../database/database.ts';
import { type ChildGateway, type ChildRequest, startChild } from '../processes/child-gateway.ts';
import { verifyAudit } from '../requests/audit.ts';
import { eventually } from '../requests/codes.ts';
import { readFacts, restoreDump, setupOf } from '../upgrade/kept-database.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const version = '0.1.0';

/** The sources that made the kept dump. `undefined`: this is no clone with its history. */
async function oldCommit(): Promise<string | undefined> {
  const words = ['log', '--diff-filter=A', '--format=%H', '--', `test/upgrade/${version}/dump.sql`];
  const { stdout } = await run('git', words, { cwd: root }).catch(() => ({ stdout: '' }));
  const [commit] = stdout.trim().split('\n').reverse();
  return commit || undefined;
}

/** Writes the sources of a commit into a folder, with the packages that are installed here. */
async function checkOut(commit: string, folder: string): Promise<void> {
  const archive = join(folder, 'sources.tar');
  await run('git', ['archive', '--output', archive, commit, 'server', 'connector-kit', 'connectors', 'package.json'], {
    cwd: root,
  });
  await run('tar', ['-xf', archive, '-C', folder]);
  const packages = join(folder, 'node_modules');
  await mkdir(packages);
  for (const name of await readdir(join(root, 'node_modules'))) {
    if (name !== '@crossward') await symlink(join(root, 'node_modules', name), join(packages, name));
  }
  await mkdir(join(packages, '@crossward'));
  for (const name of await readdir(join(root, 'node_modules', '@crossward'))) {
    const own = name.startsWith('connector-') && name !== 'connector-kit' ? `connectors/${name.slice(10)}` : name;
    await symlink(join(folder, own), join(packages, '@crossward', name));
  }
}

test('a gateway of the first version and a new one share a database, from the migration on', async ({ skip }) => {
  const commit = await oldCommit();
  if (commit === undefined) skip('the history of this clone lacks the sources of the first version');
  const folder = await mkdtemp(join(inject('runFolder'), 'rolling-'));
  await checkOut(commit as string, folder);
  const facts = await readFacts(version);
  const setup = setupOf(version, facts);
  const { database, url = '', dispose } = await createTestDatabase('postgresql', 'empty');
  await restoreDump(version, url);
  const gateways: ChildGateway[] = [];
  onTestFinished(async () => {
    await Promise.all(gateways.map((it) => it.kill()));
    await dispose();
    await rm(folder, { recursive: true, force: true });
  });
  const start = async (command?: readonly [string, ...string[]]) => {
    const options = { dataDir: join(folder, 'data'), databaseUrl: url, setup, ...(command && { command }) };
    const gateway = await startChild(options);
    gateways.push(gateway);
    return gateway;
  };
  const old = await start([process.execPath, join(folder, 'server/src/main.ts')]);

  const { booking, awaiting } = facts;
  /** Half an hour of a day for which nothing is booked. */
  const bookingAt = (day: number, hour: number, { request } = booking): ChildRequest => {
    const time = (minutes: string) => `2035-03-${day}T${String(hour).padStart(2, '0')}:${minutes}:00`;
    return {
      ...request,
      headers: { 'idempotency-key': `${day} ${hour} ${request.path}` },
      // Sorted, as the new one compares it: the old one takes another order for another request.
      body: sorted({ ...request.body, start_time: time('00'), end_time: time('30') }),
    };
  };
  const sorted = (members: object) => Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));
  const send = async (gateway: ChildGateway, request: ChildRequest) => {
    const response = await gateway.send<{ id: string; attendance?: null; resource_name?: null }>(request);
    if (!response || response.status >= 300) throw new Error(`Failed: ${response?.text}`);
    return response;
  };
  // The old one serves while the new one migrates: nobody's request fails.
  let isMigrated = false;
  const untilMigrated = async (work: (n: number) => Promise<void>) => {
    for (let n = 0; !isMigrated || n < 3; n++) await work(n);
  };
  const read = async () => {
    const response = await send(old, { method: 'GET', path: `${booking.request.path}/${booking.body.id}` });
    expect(response.body.id).toBe(booking.body.id);
  };
  const bookAndCancel = async (n: number) => {
    const request = bookingAt(19 + (n % 4), 9 + (n % 3));
    const headers = { 'idempotency-key': `under load ${n}` };
    const { body } = await send(old, { ...request, headers });
    await send(old, { method: 'PATCH', path: `${request.path}/${body.id}`, body: { status: 'cancelled' } });
  };
  const served = Promise.all([untilMigrated(read), untilMigrated(read), untilMigrated(bookAndCancel)]);
  const next = await start();
  isMigrated = true;
  await served;

  // What one has written, the other one knows, and repeats.
  for (const [index, [one, other]] of [
    [old, next],
    [next, old],
  ].entries()) {
    const request = bookingAt(16, 9 + index);
    const { body, status } = await send(one as ChildGateway, request);
    const repeated = await send(other as ChildGateway, request);
    // Only the new one shows these fields.
    const { attendance: _, resource_name: __, ...known } = body;
    expect(repeated).toMatchObject({ status, body: known });
    expect(repeated.headers.get('idempotency-replayed')).toBe('true');
    const path = `${request.path}/${body.id}`;
    expect((await send(other as ChildGateway, { method: 'GET', path })).body).toMatchObject(known);
  }

  // Codes of both are sent once, also those that the old one has queued and can no longer send.
  const query = async <Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> => {
    const client = await database.pool.connect();
    try {
      return (await client.query<Row>(text, values)).rows;
    } finally {
      client.release();
    }
  };
  const codes: string[] = [];
  const bookWithCode = async (gateway: ChildGateway, day: number, hour: number) => {
    const request = bookingAt(day, hour, awaiting);
    // A patient is sent a few codes only.
    const patient_id = gateway === old ? 'p-3' : 'p-4';
    const { body } = await send(gateway, { ...request, body: { ...request.body, patient_id } });
    codes.push(body.id);
  };
  const sendings = async () => {
    const messages = await query<{ id: string }>('SELECT id FROM messages WHERE first_appointment_id = ANY ($1)', [
      codes,
    ]);
    const lines = gateways.flatMap(({ logLines }) => logLines).filter((line) => line.includes('"message sent"'));
    return messages.map(({ id }) => lines.filter((line) => line.includes(id)).length);
  };
  for (const day of [19, 20]) {
    await bookWithCode(old, day, 9);
    await bookWithCode(next, day, 10);
  }
  await eventually(async () => expect(await sendings()).toEqual(codes.map(() => 1)));
  // Due in a moment, so that the old one does not send it at once.
  await query(`CREATE FUNCTION later() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN NEW.start_after = now() + interval ''2 seconds''; RETURN NEW; END'`);
  await query('CREATE TRIGGER later BEFORE INSERT ON pgboss.job FOR EACH ROW EXECUTE FUNCTION later()');
  await bookWithCode(old, 22, 9);
  process.kill(old.pid, 'SIGSTOP');
  await eventually(async () => expect(await sendings()).toEqual(codes.map(() => 1)));
  process.kill(old.pid, 'SIGCONT');
  await query('DROP FUNCTION later CASCADE');

  for (const gateway of [old, next]) {
    expect((await send(gateway, booking.request)).body).toEqual(booking.body);
    expect((await fetch(`${gateway.address}/health/ready`)).status).toBe(200);
  }
  await old.kill();
  // What the old one has left is linked, and has its places in exports.
  await eventually(async () => {
    const found = await verifyAudit(database, setup);
    expect(found.map(({ fault }) => fault)).toEqual(found.map(() => null));
    const linked = await query(
      `SELECT (SELECT count(*) FROM audit_drafts)::int AS drafts,
         (SELECT count(DISTINCT export_position) = max(export_position) FROM audit_entries) AS "hasNoGap"`,
    );
    expect(linked).toEqual([{ drafts: 0, hasNoGap: true }]);
  });
  expect(await sendings()).toEqual(codes.map(() => 1));
});
