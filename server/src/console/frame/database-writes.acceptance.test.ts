/** @module-tag any-database */
import { randomBytes, randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { browserWith, consoleBrowser, newOperator, withConsole } from '../../../../test/requests/console.ts';
import { bookWithPage, browserOf, withPages } from '../../../../test/requests/patient-page.ts';
import { hashOfSecret } from '../../clients/client-registry.ts';
import { findUnaccepted } from '../../clients/list-clients.ts';
import { createDb } from '../../db/kysely.ts';
import { createKeyRing } from '../../secrets/key-ring.ts';
import { hashOfToken, newLinkToken } from '../../secrets/link-token.ts';
import {
  acceptEndpoint,
  endpointsWithDue,
  findEndpoint,
  insertEndpoint,
  listEndpoints,
} from '../../webhooks/endpoint-store.ts';
import { changeRole, disableOperator, resetOperator, UnprovenAccount } from '../accounts/operators.ts';
import { listUnproven, renewProofs } from '../accounts/renew-proofs.ts';
import {
  acceptAsOperator,
  createClient,
  revokeAsOperator,
  rotateClient,
  updateAsOperator,
} from '../clients/client-actions.ts';
import { hashPassword } from '../sign-in/password.ts';
import { hashOfSession, startSession } from '../sign-in/sessions.ts';
import { makeSignInLink } from '../sign-in/sign-in-links.ts';

// What somebody does who can write to every table, and has no secret key.
const gateway = await startGateway({ logLevel: 'trace', configure: (it) => withPages(withConsole(it)) });
afterAll(() => gateway.close());
const { keys } = gateway.deps.services;
const db = createDb(gateway.database);
const configured = gateway.deps.console?.configuration().configured ?? { emrs: [], clients: [] };
const administration = { db, keys, configured };
const own = 'a secret of the attacker';
const cookie = '__Host-crossward-console';

async function newClient(id: string): Promise<string> {
  const facts = { id, scopes: ['appointments:read' as const], grants: [{ emr: 'sandbox-no' }] };
  const created = await createClient(administration, facts);
  if (!('secret' in created) || !created.secret) throw new Error(JSON.stringify(created));
  return created.secret;
}

/** Executes a statement, and lets the gateway read the clients as after a change of its own. */
async function write(statement: RawBuilder<unknown>): Promise<void> {
  await statement.execute(db);
  await sql`UPDATE clients_revision SET revision = gen_random_uuid()`.execute(db);
  await gateway.deps.clients.refresh();
}

async function answer(id: string, secret: string) {
  await gateway.deps.clients.refresh();
  const { status, body } = await gateway.request<{ reason?: string }>('GET', '/api/emrs', { client: { id, secret } });
  return [status, body.reason];
}
const refused = [401, 'credentials_invalid'];

describe('a client', () => {
  test('that was inserted opens nothing, also with the proof of another one', async () => {
    const secret = await newClient('genuine');
    expect(await answer('genuine', secret)).toEqual([200, undefined]);
    expect(await answer('genuine', own)).toEqual(refused);
    await write(sql`
      INSERT INTO clients (id, name, scopes, grants, return_urls, secret_hash)
      VALUES ('inserted', 'Inserted', '{appointments:read}', '[{"emr": "sandbox-no"}]', '{}', ${hashOfSecret(own)})`);
    expect(await answer('inserted', own)).toEqual(refused);
    await write(sql`UPDATE clients SET sealed_proof = (SELECT sealed_proof FROM clients WHERE id = 'genuine')
      WHERE id = 'inserted'`);
    expect(await answer('inserted', own)).toEqual(refused);
    expect(await answer('genuine', secret)).toEqual([200, undefined]);
    expect(await revokeAsOperator(administration, { id: 'inserted' })).toBe('done');
  });

  const key = JSON.stringify({ keys: [{ kty: 'EC', kid: 'mine' }] });
  test.each<[string, RawBuilder<unknown>]>([
    ['its secret', sql`secret_hash = ${hashOfSecret(own)}`],
    [
      'a previous secret',
      sql`previous_secret_hash = ${hashOfSecret(own)}, previous_secret_created_at = now(),
        previous_secret_expires_at = now() + interval '1 day'`,
    ],
    ['its scopes', sql`scopes = '{appointments:read,appointments:write,patients:read}'`],
    ['its grants', sql`grants = '[{"emr": "sandbox-no"}, {"emr": "sandbox-se"}]'`],
    ['its keys', sql`jwks = ${key}::jsonb`],
    ['the URL of its keys', sql`jwks_uri = 'https://attacker.example.org/jwks'`],
    ['where its pages lead', sql`return_urls = '{https://attacker.example.org}'`],
    ['its budgets', sql`budgets = '{"sms_per_day": 100000}'`],
    ['its id', sql`id = 'everything-else'`],
  ])('of which somebody has changed %s opens nothing', async (what, change) => {
    const id = `changed-${what.replaceAll(' ', '-')}`.toLowerCase().slice(0, 40);
    const secret = await newClient(id);
    expect(await answer(id, secret)).toEqual([200, undefined]);
    await write(sql`UPDATE clients SET ${change} WHERE id = ${id}`);
    for (const given of [secret, own]) {
      expect(await answer(id, given)).toEqual(refused);
      expect(await answer('everything-else', given)).toEqual(refused);
    }
    expect((await listUnproven(db, keys)).clients).toHaveLength(1);
    await sql`DELETE FROM clients WHERE sealed_proof IS NOT NULL AND id IN (${id}, 'everything-else')`.execute(db);
  });

  test('that was revoked cannot be brought back', async () => {
    await newClient('revoked');
    await revokeAsOperator(administration, { id: 'revoked' });
    await write(sql`UPDATE clients SET revoked_at = NULL, secret_hash = ${hashOfSecret(own)} WHERE id = 'revoked'`);
    expect(await answer('revoked', own)).toEqual(refused);
    await revokeAsOperator(administration, { id: 'revoked' });
  });

  test('that somebody has changed stays closed until an operator accepts what was shown', async () => {
    const secret = await newClient('old-gateway');
    await write(sql`UPDATE clients SET name = 'Renamed', version = 2 WHERE id = 'old-gateway'`);
    expect(await answer('old-gateway', secret)).toEqual(refused);
    const rejection = 'unproven';
    expect(await rotateClient(administration, { id: 'old-gateway' }, 0)).toEqual({ rejection });
    expect(await updateAsOperator(administration, { id: 'old-gateway' }, { name: 'X' })).toEqual({ rejection });
    const { browser } = await browserWith(gateway, 'looks', 'view');
    expect((await browser.open('/console')).text).toContain('crossward clients accept old-gateway');

    const state = (await findUnaccepted(db, configured, 'old-gateway'))?.state ?? '';
    await write(sql`UPDATE clients SET scopes = '{patients:read}' WHERE id = 'old-gateway'`);
    expect(await acceptAsOperator(administration, { id: 'old-gateway', state })).toEqual({ rejection: 'outdated' });
    const seen = (await findUnaccepted(db, configured, 'old-gateway'))?.state ?? '';
    expect(await acceptAsOperator(administration, { id: 'old-gateway', state: seen })).toBe('done');
    expect(await answer('old-gateway', secret)).toEqual([200, undefined]);
    const rotated = await rotateClient(administration, { id: 'old-gateway' }, 1);
    expect(await answer('old-gateway', 'secret' in rotated ? rotated.secret : '')).toEqual([200, undefined]);
    expect(await answer('old-gateway', secret)).toEqual([200, undefined]);
    expect((await browser.open('/console')).text).not.toContain('clients accept');
  });
});

/** Where the console leads with this token. */
async function startPageOf(token: string): Promise<string> {
  const browser = consoleBrowser(gateway);
  browser.cookies.set(cookie, token);
  return (await browser.open('/console')).path;
}
const signInPage = '/console/sign-in';
const accountId = async (name: string) =>
  (await db.selectFrom('operators').select('id').where('name', '=', name).executeTakeFirstOrThrow()).id;

describe('a session', () => {
  test('that was inserted is none, also with the proof of another one', async () => {
    const { browser, operator } = await browserWith(gateway, 'genuine', 'admin');
    expect((await browser.open('/console')).path).toBe('/console');
    const operator_id = await accountId(operator.name);
    const proofs = await db.selectFrom('operator_sessions').select('sealed_proof').execute();
    for (const sealed_proof of [null, randomBytes(36), ...proofs.map((it) => it.sealed_proof)]) {
      const token = randomBytes(32).toString('base64url');
      const expires_at = new Date(Date.now() + 3_600_000);
      const row = { token_hash: hashOfSession(token), name: operator.name, role: 'admin' as const, expires_at };
      await db
        .insertInto('operator_sessions')
        .values({ ...row, operator_id, sealed_proof })
        .execute();
      expect(await startPageOf(token)).toMatch(signInPage);
      await db.deleteFrom('operator_sessions').where('token_hash', '=', row.token_hash).execute();
    }
  });

  test.each<[string, RawBuilder<unknown>]>([
    ['its role', sql`role = 'operate'`],
    ['its end', sql`expires_at = expires_at + interval '1 day'`],
    ['its operator', sql`operator_id = (SELECT id FROM operators WHERE role = 'admin' LIMIT 1)`],
    ['its token', sql`token_hash = ${hashOfSession('mine')}`],
  ])('of which somebody has changed %s is none', async (_, change) => {
    await browserWith(gateway, `admin-${randomUUID().slice(0, 8)}`, 'admin');
    const id = await accountId((await browserWith(gateway, `view-${randomUUID().slice(0, 8)}`, 'view')).operator.name);
    const session = { operatorId: id, name: 'view', role: 'view' as const, hours: 12 };
    const { token } = await startSession(db, keys, session);
    expect(await startPageOf(token)).toBe('/console');
    await sql`UPDATE operator_sessions SET ${change} WHERE token_hash = ${hashOfSession(token)}`.execute(db);
    for (const it of [token, 'mine']) expect(await startPageOf(it)).toMatch(signInPage);
    await sql`DELETE FROM operator_sessions WHERE name = 'view'`.execute(db);
  });
});

describe('an account', () => {
  test.each<[string, (hash: string) => RawBuilder<unknown>]>([
    ['its role', () => sql`role = 'admin'`],
    ['its password', (hash) => sql`password_hash = ${hash}`],
    [
      'its one-time codes',
      () => sql`sealed_totp_secret = (SELECT sealed_totp_secret FROM operators WHERE name = 'other')`,
    ],
    ['its name', () => sql`name = name || '.x'`],
  ])('of which somebody has changed %s lets nobody in, and its sessions have ended', async (what, change) => {
    const name = `of.${what.replaceAll(/[^a-z]/g, '-')}`;
    await newOperator(gateway, 'other', 'view').catch(() => undefined);
    const operator = await newOperator(gateway, name, 'view');
    const browser = consoleBrowser(gateway);
    expect((await browser.signIn(operator)).path).toBe('/console');
    await sql`UPDATE operators SET ${change(await hashPassword(own))}, last_totp_step = 0 WHERE name = ${name}`.execute(
      db,
    );
    expect((await browser.open('/console')).path).toMatch(signInPage);
    const attempts = [operator.password, own].flatMap((password) => [name, `${name}.x`].map((it) => [it, password]));
    for (const [as = '', password = ''] of attempts) {
      const shown = await consoleBrowser(gateway).signIn({ ...operator, name: as, password });
      expect([shown.status, shown.path]).toEqual([401, signInPage]);
    }
    await sql`DELETE FROM operators WHERE name LIKE ${`${name}%`}`.execute(db);
  });

  test('that was disabled cannot be enabled, and one that was inserted lets nobody in', async () => {
    const operator = await newOperator(gateway, 'left.us', 'admin');
    await disableOperator(db, keys, { name: operator.name });
    await sql`UPDATE operators SET disabled_at = NULL WHERE name = ${operator.name}`.execute(db);
    expect((await consoleBrowser(gateway).signIn(operator)).status).toBe(401);
    await disableOperator(db, keys, { name: operator.name });
    await sql`
      INSERT INTO operators (id, name, role, password_hash)
      VALUES (${randomUUID()}, 'inserted', 'admin', ${await hashPassword(own)})`.execute(db);
    const shown = await consoleBrowser(gateway).signIn({ ...operator, name: 'inserted', password: own });
    expect(shown.status).toBe(401);
    expect(await makeSignInLink(db, keys, { name: 'inserted' })).toBe('unproven');
  });

  test('that somebody has changed is let in again only by a reset that decides its role', async () => {
    const name = 'raised';
    const operator = await newOperator(gateway, name, 'view');
    await sql`UPDATE operators SET role = 'admin' WHERE name = ${name}`.execute(db);
    expect((await listUnproven(db, keys)).operators).toContain(name);
    expect(await changeRole(db, keys, { name, role: 'view' })).toBe('unproven');
    const reset = { name, password: operator.password };
    await expect(resetOperator(db, keys, reset)).rejects.toThrow(UnprovenAccount);
    await resetOperator(db, keys, { ...reset, role: 'operate' });
    expect((await listUnproven(db, keys)).operators).not.toContain(name);
    expect(await changeRole(db, keys, { name, role: 'view' })).toBe('done');
  });
});

test('a link that was inserted or moved to another account signs nobody in', async () => {
  await newOperator(gateway, 'the.admin', 'admin');
  await newOperator(gateway, 'the.viewer', 'view');
  const follow = async (token: string) => {
    const browser = consoleBrowser(gateway);
    await browser.open(`/console/sign-in/link/${token}`);
    return (await browser.submit('/console/sign-in/link')).status;
  };
  const link = await makeSignInLink(db, keys, { name: 'the.viewer' });
  const { token } = typeof link === 'string' ? { token: '' } : link;
  const operator_id = await accountId('the.admin');
  await db.updateTable('operator_sign_in_links').set({ operator_id }).execute();
  expect(await follow(token)).toBe(401);
  const mine = randomBytes(32).toString('base64url');
  const row = { token_hash: hashOfSession(mine), operator_id, expires_at: new Date(Date.now() + 60_000) };
  await db.insertInto('operator_sign_in_links').values(row).execute();
  expect(await follow(mine)).toBe(401);
  const right = await makeSignInLink(db, keys, { name: 'the.admin' });
  expect(await follow(typeof right === 'string' ? '' : right.token)).toBe(200);
});

describe('a webhook endpoint', () => {
  const newEndpoint = async (clientId: string) => {
    const made = { clientId, url: 'https://attacker.example.org/hook', secret: own, eventTypes: null };
    return (await db.transaction().execute((tx) => insertEndpoint(tx, keys, made, 100)))?.id ?? expect.unreachable();
  };
  /** Which of its client's and of all endpoints the gateway sees. */
  const seen = async (id: string, clientId: string) => [
    (await findEndpoint(db, keys, undefined, id))?.clientId,
    (await listEndpoints(db, keys, clientId, undefined, 100)).length,
    (await endpointsWithDue(db, keys, id)).length,
  ];
  const queue = (id: string) =>
    sql`
    WITH event AS (INSERT INTO events (type, emr, data) VALUES ('emr.available', 'sandbox-no', '{}') RETURNING id)
    INSERT INTO webhook_deliveries (endpoint_id, event_id, event_position) SELECT ${id}, id, 1 FROM event`.execute(db);

  test.each<[string, RawBuilder<unknown>]>([
    ['with its own proof', sql`sealed_proof`],
    [
      'with the proof of another one',
      sql`(SELECT sealed_proof FROM webhook_endpoints WHERE client_id = 'victim' LIMIT 1)`,
    ],
    ['without one', sql`NULL`],
  ])('that was given to another client gets none of its events, %s', async (_, proof) => {
    const theirs = await newEndpoint('victim');
    const id = await newEndpoint('attacker');
    await queue(id);
    expect(await seen(id, 'attacker')).toEqual(['attacker', 1, 1]);
    await sql`UPDATE webhook_endpoints SET client_id = 'victim', sealed_proof = ${proof} WHERE id = ${id}`.execute(db);
    expect(await seen(id, 'victim')).toEqual([undefined, 1, 0]);
    expect((await listUnproven(db, keys)).endpoints).toEqual([{ id, clientId: 'victim' }]);
    await sql`DELETE FROM webhook_endpoints WHERE id IN (${id}, ${theirs})`.execute(db);
  });

  test('of an old gateway gets its events once an operator accepts it for the client that was shown', async () => {
    const id = await newEndpoint('genuine');
    await queue(id);
    await sql`UPDATE webhook_endpoints SET sealed_proof = NULL WHERE id = ${id}`.execute(db);
    expect(await seen(id, 'genuine')).toEqual([undefined, 0, 0]);
    const { browser } = await browserWith(gateway, 'accepts', 'view');
    expect((await browser.open('/console')).text).toContain(`crossward webhooks accept ${id} --client genuine`);
    const accept = (clientId: string) => db.transaction().execute((tx) => acceptEndpoint(tx, keys, id, clientId));
    expect(await accept('another')).toBe(false);
    expect(await seen(id, 'genuine')).toEqual([undefined, 0, 0]);
    expect(await accept('genuine')).toBe(true);
    expect(await seen(id, 'genuine')).toEqual(['genuine', 1, 1]);
    expect((await listUnproven(db, keys)).endpoints).toEqual([]);
  });
});

test('a page for a patient opens with its own link alone', async () => {
  const { path } = await bookWithPage(gateway);
  expect((await browserOf(gateway).open(path)).status).toBe(200);
  const mine = newLinkToken();
  await db
    .updateTable('confirmations')
    .set({ page_token_hash: hashOfToken(mine) })
    .execute();
  expect((await browserOf(gateway).open(`/c/${mine}`)).status).toBe(404);
});

test('what is proven is proven again under a new secret key, and nothing else', async () => {
  const before = await listUnproven(db, keys);
  const { rows } = await sql<{
    key: Buffer;
  }>`SELECT DISTINCT substring(sealed_proof FROM 1 FOR 4) AS key FROM operators`.execute(db);
  expect(rows.length).toBeGreaterThan(0);
  const [key] = gateway.ground.secretKeys;
  const next = randomBytes(32);
  await renewProofs(db, createKeyRing([next, key]));
  expect(await listUnproven(db, createKeyRing([next]))).toEqual(before);
});
