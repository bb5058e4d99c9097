import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { prepareAuditKey } from '../audit/audit-keys.ts';
import { createAuditMetrics } from '../audit/metrics.ts';
import { tamper } from '../audit/test-audit.ts';
import { Trail } from '../audit/trail.ts';
import { createDb } from '../db/kysely.ts';
import { requireKnownKeys } from '../secret-keys/require-known-keys.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { crossward } from './test-support.ts';

const { database, url, dispose } = await createTestDatabase('postgresql');
const db = createDb(database);
const secretKey = randomBytes(32);
await requireKnownKeys(db, [secretKey]);
const folder = await mkdtemp(join(tmpdir(), 'audit-'));
const logFile = join(folder, 'log');

const logLines: string[] = [];
const log = pino({}, { write: (line: string) => void logLines.push(line) });
const trail = new Trail(db, {
  key: await prepareAuditKey(db, createKeyRing([secretKey])),
  background: db,
  log,
  metrics: createAuditMetrics(new Registry()),
});
const number = 'no_personal_number:15859000026';
const accesses = [
  { clientId: 'app', patients: ['emr_id:p-1', number], operation: 'get_patient', outcome: 'success' },
  { clientId: 'portal', patients: ['emr_id:p-1'], operation: 'create_appointment', outcome: 'dry_run' },
  { clientId: 'app', patients: ['emr_id:p-2'], operation: 'list_documents', outcome: 'document_not_found' },
];
for (const [index, access] of accesses.entries()) {
  await trail.record({
    actor: 'client',
    emr: 'north',
    careUnitId: 'ward',
    records: [],
    requestId: `request-${index}`,
    writeId: undefined,
    ...access,
  });
}
await trail.close();
await writeFile(logFile, logLines.join(''));

afterAll(async () => {
  await dispose();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  vi.stubEnv('DATABASE_URL', url);
  vi.stubEnv('CROSSWARD_SECRET_KEY', secretKey.toString('base64'));
});
afterEach(() => {
  vi.unstubAllEnvs();
});

describe('search', () => {
  const operations = (stdout: string) => stdout.split('\n').flatMap((line) => line.split('  ')[2] ?? []);

  test.each([
    ['', ['list_documents', 'create_appointment', 'get_patient']],
    ['--emr north --patient emr_id:p-1', ['create_appointment', 'get_patient']],
    ['--emr north --patient p-2', ['list_documents']],
    ['--emr south --patient emr_id:p-1', []],
    ['--client app', ['list_documents', 'get_patient']],
    ['--client app --emr north --patient emr_id:p-1', ['get_patient']],
    ['--request-id request-1', ['create_appointment']],
    ['--from 2020-01-01', ['list_documents', 'create_appointment', 'get_patient']],
    ['--to 2020-01-01T00:00:00+01:00', []],
    ['--limit 1', ['list_documents']],
  ])('finds accesses with %s', async (options, expected) => {
    const { code, stdout } = await crossward(`audit search ${options}`.trim());
    expect(code).toBe(0);
    expect(operations(stdout)).toEqual(expected);
  });

  test('by request id goes back some days only, and says so', async () => {
    const { stdout, stderr } = await crossward('audit search --request-id request-1');
    expect([operations(stdout), stderr]).toEqual([['create_appointment'], expect.stringContaining('say from when')]);
    expect((await crossward('audit search --request-id request-1 --from 2020-01-01')).stderr).not.toContain('Searched');
  });

  test('reads the identifier from standard input, and shows and stores it nowhere', async () => {
    const found = await crossward('audit search --emr north --patient - --json', `${number}\n`);
    expect(JSON.parse(found.stdout)).toMatchObject([{ operation: 'get_patient', client_id: 'app', patients: 2 }]);
    expect(found.stdout + found.stderr).not.toContain('15859');
    const activity = await db.selectFrom('operator_activity').selectAll().orderBy('id', 'desc').execute();
    expect(activity[0]).toMatchObject({ operator_name: 'command line', action: 'audit_search', target: null });
    expect(JSON.stringify(activity)).not.toContain('15859');
  });

  test.each([
    ['--patient emr_id:p-1', 'needs an EHR'],
    ['--emr north --patient no_personal_number:1', 'fødselsnummer'],
    ['--from yesterday', '2030-03-15'],
    ['--from 2030-01-02 --to 2030-01-01', 'must be before its end'],
    ['--limit 0', 'whole number'],
  ])('rejects %s', async (options, explanation) => {
    const { code, stderr } = await crossward(`audit search ${options}`);
    expect([code, stderr]).toEqual([2, expect.stringContaining(explanation)]);
  });
});

describe('export', () => {
  const objects = (stdout: string) =>
    stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));

  test.each([
    ['', ['get_patient', 'create_appointment', 'list_documents']],
    ['--after 1', ['create_appointment', 'list_documents']],
    ['--client app', ['get_patient', 'list_documents']],
    ['--to 2020-01-01', []],
    ['--emr north --patient p-2', ['list_documents']],
  ])('prints entries with %s, in their order', async (options, expected) => {
    const { code, stdout, stderr } = await crossward(`audit export ${options}`.trim());
    expect([code, objects(stdout).map(({ operation }) => operation)]).toEqual([0, expected]);
    expect(stderr).toContain('continue with --after 3.');
  });

  test('shows the own id of a patient whom the operator names, and no number', async () => {
    const plain = await crossward('audit export --emr north --patient -', `${number} emr_id:p-1\n`);
    expect(objects(plain.stdout).map(({ patient }) => patient)).toEqual(['emr_id:p-1', 'emr_id:p-1']);
    const events = await crossward('audit export --format balp --emr north --patient -', 'emr_id:p-1\n');
    expect(objects(events.stdout)[0].entity[0].what.identifier.value).toBe('p-1');
    expect(plain.stdout + events.stdout).not.toContain('15859');
    const all = await crossward('audit export');
    expect(all.stdout).not.toMatch(/p-[12]/);
  });

  test.each([
    ['--after -1', 'whole number'],
    ['--format xml', 'ndjson'],
    ['--patient p-1', 'needs an EHR'],
  ])('rejects %s', async (options, explanation) => {
    const { code, stderr } = await crossward(`audit export ${options}`);
    expect([code, stderr]).toEqual([2, expect.stringContaining(explanation)]);
  });
});

describe('verify', () => {
  test('says that the trail is intact', async () => {
    const { code, stdout } = await crossward(`audit verify --anchors ${logFile}`);
    expect(stdout).toMatch(/^\S{36} {2}intact {2}3 entries {2}anchored up to 3 {2}\S+ to \S+\nNot linked/);
    expect(stdout).toContain('What the database has of the audit trail is intact.');
    expect(stdout).toContain('written after the last anchor');
    expect(code).toBe(0);
  });

  test('says what it cannot exclude without anchors', async () => {
    const { code, stdout } = await crossward('audit verify');
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('the newest entries of a chain, or whole chains, may have'),
    ]);
    expect(stdout).not.toContain('anchored up to');
    expect(JSON.parse((await crossward('audit verify --json')).stdout)).toMatchObject({
      chains: [{ subject: 'accesses', fault: null, entries: 3, anchoredUpTo: 0 }],
      unlinked: { accesses: 0, overdue: 0, falsified: 0 },
    });
  });

  test('needs a file with anchors that it can read', async () => {
    expect(await crossward('audit verify --anchors /nowhere')).toMatchObject({ code: 2 });
    const broken = join(folder, 'broken');
    await writeFile(broken, '{"msg":"audit anchor","chain":1}\n');
    expect(await crossward(`audit verify --anchors ${broken}`)).toMatchObject({ code: 2 });
  });

  test('shows what was removed, with exit code 1', async () => {
    await tamper(db, (tx) => sql`DELETE FROM audit_entries WHERE position = 2`.execute(tx));
    const missing = await crossward('audit verify');
    expect(missing.stdout).toContain('entry missing at position 2');
    expect(missing.stdout).toContain('The audit trail is not intact.');
    expect(missing.code).toBe(1);
    await tamper(db, async (tx) => {
      await sql`DELETE FROM audit_entries`.execute(tx);
      await sql`DELETE FROM audit_chains`.execute(tx);
    });
    expect((await crossward('audit verify')).code).toBe(0);
    const removed = await crossward(`audit verify --json --anchors ${logFile}`);
    expect(JSON.parse(removed.stdout)).toMatchObject({ chains: [{ fault: 'removed' }] });
    expect(removed.code).toBe(1);
  });
});
