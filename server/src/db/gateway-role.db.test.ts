import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { book, oslo, sodermalm } from '../../../test/requests/bookings.ts';
import { codeFor, runBackgroundJobs } from '../../../test/requests/codes.ts';
import { prepareAuditKey, readAuditKeys } from '../audit/audit-keys.ts';
import { createMonths, dropMonths } from '../audit/months.ts';
import { auditEntries, tamper } from '../audit/test-audit.ts';
import { verifyChains } from '../audit/verify.ts';
import { recordActivity } from '../console/audit/activity.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { openDatabase } from './database.ts';
import { createDb, type Db } from './kysely.ts';
import { migrate } from './migrate.ts';
import { migrationSets } from './migration-sets.ts';

// Roles belong to the server, which other tests use too.
const role = `crossward_gateway_${randomBytes(6).toString('hex')}`;
const password = randomBytes(12).toString('hex');
const owning = await startGateway({ databaseKind: 'postgresql' });
const owner = createDb(owning.database);
const grants = await readFile(new URL('gateway-role.sql', import.meta.url), 'utf8');
await sql`CREATE ROLE ${sql.id(role)} LOGIN PASSWORD ${sql.lit(password)}`.execute(owner);
await sql.raw(grants.replaceAll('crossward_gateway', role)).execute(owner);
const gateway = await startGateway({
  beside: owning,
  through: async (databaseUrl) => withRole(databaseUrl, role),
});
const { db, audit, keys } = gateway.deps.services;
afterAll(async () => {
  await gateway.close();
  await sql`DROP OWNED BY ${sql.id(role)}`.execute(owner);
  await sql`DROP ROLE ${sql.id(role)}`.execute(owner);
  await owning.close();
});

async function faults() {
  const found: unknown[] = [];
  for await (const { fault } of verifyChains(owner, await readAuditKeys(owner, keys))) found.push(fault);
  return [...new Set(found)];
}

test('a gateway whose role owns nothing books, confirms by code, links its entries and deletes expired ones', async () => {
  const { rows } = await sql<{ current_user: string }>`SELECT current_user`.execute(db);
  expect(rows[0]?.current_user).toBe(role);
  await book(gateway);
  const held = await book(gateway, { careUnit: sodermalm });
  const code = await codeFor(gateway, held.id);
  const confirmed = await gateway.request('PATCH', `${sodermalm}/appointments/${held.id}`, {
    body: { confirmation: { code } },
  });
  expect(confirmed.status).toBe(200);
  await recordActivity(db, { operator: 'kari', action: 'sign_out', outcome: 'done' });
  await runBackgroundJobs(gateway);
  await audit.linkAccesses();
  await audit.linkActivity();
  const entries = await auditEntries(owner);
  expect(entries.length).toBeGreaterThan(2);
  expect(await faults()).toEqual([null]);

  await tamper(owner, (tx) => sql`UPDATE audit_entries SET at = at - interval '100 days'`.execute(tx));
  await sql`UPDATE audit_retention SET least_days = 200`.execute(owner);
  await dropMonths(db, keys, 10);
  expect(await auditEntries(owner)).toHaveLength(entries.length);
  await sql`UPDATE audit_retention SET least_days = 10`.execute(owner);
  await dropMonths(db, keys, 10);
  expect(await auditEntries(owner)).toEqual([]);
});

test('it creates the months of the audit trail, which it cannot write to itself', async () => {
  const { rows } = await sql<{ name: string }>`SELECT part::text AS name FROM audit_months ORDER BY month`.execute(
    owner,
  );
  const last = sql.table(rows.at(-1)?.name ?? '');
  await sql`DROP TABLE ${last}`.execute(owner);
  await createMonths(db);
  for (const { name } of [...rows, { name: 'audit_entries_default' }]) {
    const table = sql.table(name);
    for (const statement of [sql`INSERT INTO ${table} SELECT * FROM audit_entries`, sql`DELETE FROM ${table}`]) {
      await expect(statement.execute(db)).rejects.toMatchObject({ code: '42501' });
    }
  }
});

test('an owner that is no superuser grants the rights without a warning', async () => {
  const { url = '', dispose } = await createTestDatabase('postgresql', 'empty');
  const own = `owner_${randomBytes(6).toString('hex')}`;
  const [admin, client] = [new pg.Client(url), new pg.Client(withRole(url, own))];
  await admin.connect();
  await admin.query(`CREATE ROLE ${own} LOGIN PASSWORD '${password}'`);
  await admin.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} OWNER TO ${own}`);
  const database = await openDatabase({ databaseUrl: withRole(url, own), dataDir: '' });
  await migrate(database, migrationSets([]));
  await database.close();
  const notices: unknown[] = [];
  client.on('notice', ({ message }) => notices.push(message));
  await client.connect();
  await client.query(grants.replaceAll('crossward_gateway', role));
  await client.query(grants.replaceAll('crossward_gateway', role));
  expect(notices).toEqual([]);
  await client.end();
  await admin.query(`DROP OWNED BY ${role}`);
  await admin.end();
  await dispose();
  await sql`DROP ROLE ${sql.id(own)}`.execute(owner);
});

function withRole(databaseUrl: string, name: string): string {
  const url = new URL(databaseUrl);
  [url.username, url.password] = [name, password];
  return url.href;
}

test('a key of the trail stays under the older secret key until the owner encrypts it again', async () => {
  const rotated = createKeyRing([randomBytes(32), ...gateway.ground.secretKeys]);
  const sealed = async () =>
    (await owner.selectFrom('audit_keys').select('sealed_key').executeTakeFirstOrThrow()).sealed_key;
  const before = await sealed();
  expect((await prepareAuditKey(db, rotated)).id).toBe(audit.key.id);
  expect(await sealed()).toEqual(before);
  expect((await prepareAuditKey(owner, rotated)).id).toBe(audit.key.id);
  expect(rotated.isUnderNewest(await sealed())).toBe(true);
  await owner.updateTable('audit_keys').set({ sealed_key: before }).execute();
});

test('the role can delete and change no entry, whatever it sets or is granted', async () => {
  const before = (await auditEntries(owner)).length;
  await gateway.request('GET', `${oslo}/patients/p-1`);
  await audit.linkAccesses();
  await gateway.request('GET', `${oslo}/patients/p-2`);
  const attempt = (work: (tx: Db) => Promise<unknown>) =>
    db.transaction().execute(async (tx) => {
      await sql`SELECT set_config('crossward.audit_deletion', 'on', true)`.execute(tx);
      await work(tx);
    });
  const statements = [
    sql`DELETE FROM audit_entries`,
    sql`UPDATE audit_entries SET outcome = 'dry_run'`,
    sql`TRUNCATE audit_entries`,
    sql`DELETE FROM audit_drafts`,
    sql`UPDATE audit_keys SET sealed_key = '\\x00'`,
    sql`DELETE FROM audit_keys`,
    sql`UPDATE audit_retention SET least_days = 0`,
    sql`UPDATE operator_activity SET operator_name = 'ola'`,
    sql`ALTER TABLE audit_entries DISABLE TRIGGER USER`,
    sql`CREATE OR REPLACE FUNCTION reject_audit_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END'`,
  ];
  for (const statement of statements) {
    await expect(attempt((tx) => statement.execute(tx))).rejects.toMatchObject({ code: '42501' });
  }
  // The functions do not use what the role puts in the way.
  await attempt(async (tx) => {
    await sql`CREATE TEMPORARY TABLE audit_retention (is_only boolean, least_days integer)`.execute(tx);
    await sql`SELECT delete_expired_links(id, 1000, 0) FROM public.audit_chains`.execute(tx);
    await sql`SELECT drop_audit_months(0)`.execute(tx);
  });
  await sql`GRANT DELETE, UPDATE, TRUNCATE ON audit_entries TO ${sql.id(role)}`.execute(owner);
  for (const statement of statements.slice(0, 3)) {
    await expect(attempt((tx) => statement.execute(tx))).rejects.toThrow('append-only');
  }
  expect(await auditEntries(owner)).toHaveLength(before + 2);
});
