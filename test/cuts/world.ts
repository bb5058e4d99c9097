import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { openDatabase } from '../../server/src/db/database.ts';
import { createDb, type Db } from '../../server/src/db/kysely.ts';
import { createKeyRing } from '../../server/src/secrets/key-ring.ts';
import { insertWrite } from '../database/stuck-rows.ts';
import { type PostgresProxy, startPostgresProxy } from '../postgres-proxy/postgres-proxy.ts';
import type { Unit } from '../postgres-proxy/unit.ts';
import { isWrite, type Matches, type Way } from '../postgres-proxy/ways.ts';
import { type ChildGateway, startChild } from '../processes/child-gateway.ts';
import { writeQuickDemo } from '../processes/quick-demo.ts';
import { sessionOf } from '../requests/console.ts';
import { startReceiver } from '../requests/webhook-receiver.ts';
import { draftsEhr } from './drafts-ehr.ts';
import { mainEndpoint } from './history.ts';
import { pick, type Random } from './random.ts';

/** Milliseconds. Short, so that many cuts fit into a minute. A caller hangs up after `patience`. */
const patience = { short: 8_000, long: 60_000 };
/** In the URL of each gateway's database. */
const limits = { statement_timeout: 2_500, query_timeout: 3_500, idle_in_transaction_session_timeout: 3_000 };
/** While nothing fails. */
const quietLimits = {
  statement_timeout: 300_000,
  query_timeout: 300_000,
  lock_timeout: 300_000,
  idle_in_transaction_session_timeout: 300_000,
};
/** Of the connections to EHRs while nothing fails. */
const longLimits = { timeout_ms: 300_000, queue_timeout_ms: 60_000 };
/** The share of commits and statements that fail, if they belong to a write of a caller, and if not. */
const shares = { ofWrites: 0.08, ofOthers: 0.02 };
const ofWrites =
  /\b(?:operations|confirmations|confirmation_items|sandbox\.\w+|webhook_endpoints|clients|operator_activity|audit_\w+)\b/;
/** The statement that publishes events. */
const ofPublication = /\bevent_positions\b/;

/** Held and silent ones last longer than the limits. */
const ways: readonly [Way, ...Way[]] = [
  { kind: 'before' },
  { kind: 'after' },
  { kind: 'in request' },
  { kind: 'in answer' },
  { kind: 'silent' },
  { kind: 'late', holdMilliseconds: 1_000 },
  { kind: 'late', holdMilliseconds: 6_000 },
  { kind: 'delay', holdMilliseconds: 1_500 },
  { kind: 'delay', holdMilliseconds: 6_000 },
  { kind: 'before' },
  { kind: 'after' },
  { kind: 'after' },
  { kind: 'all', at: 'after', refuseMilliseconds: 2_000 },
];
/** Those that leave the other connections of a gateway. */
const waysOfOne = ways.filter(({ kind }) => kind !== 'all') as [Way, ...Way[]];
const startAttempts = 20;
export const consoleUrl = 'https://gateway.internal.example.org';
const publicUrl = 'https://appointments.example.org';
/** After this time, a gateway whose connections were refused, or fell silent, is back. */
const refusedMilliseconds = 3_500;
/** Every cut has done what it does after this time. */
export const cutMilliseconds = 6_000;

interface Conditions {
  /** Nothing fails: with long limits, nothing is unknown only because the machine is slow. */
  readonly isQuiet: boolean;
  /** Whether EHRs fail, too. */
  readonly hasFaultyEhrs: boolean;
}

/** Two gateways on one database, each behind a proxy of its own, and a receiver of their events. */
export async function createWorld(
  folderOfRun: string,
  postgresUrl: string,
  random: Random,
  { isQuiet, hasFaultyEhrs }: Conditions,
) {
  const folder = await mkdtemp(join(folderOfRun, 'cuts-'));
  const name = `cuts_${randomUUID().replaceAll('-', '')}`;
  await withClient(postgresUrl, (client) => client.query(`CREATE DATABASE ${name}`));
  const databaseUrl = new URL(postgresUrl);
  databaseUrl.pathname = name;
  const receiver = await startReceiver();
  const retry_seconds = Array.from({ length: 50 }, () => 1);
  const webhooks = { allow_private_addresses: true, allow_http: true, retry_seconds };
  const more = {
    webhooks,
    http: { public_url: publicUrl },
    console: { url: consoleUrl, local_accounts: true },
    limits: { page_requests_per_minute: 1_000_000 },
  };
  const setup = await writeQuickDemo(
    folder,
    more,
    (ehrs) => ehrs.filter(({ id }) => id === 'sandbox-se').map((ehr) => ({ ...ehr, id: draftsEhr })),
    isQuiet ? { ...longLimits, changes_seconds: 1 } : undefined,
  );
  const proxies: PostgresProxy[] = [];
  const gateways: (ChildGateway | undefined)[] = [];
  const start = async (index: number): Promise<void> => {
    const url = new URL(proxies[index]?.url ?? '');
    for (const [limit, milliseconds] of Object.entries(isQuiet ? quietLimits : limits))
      url.searchParams.set(limit, String(milliseconds));
    const preload = hasFaultyEhrs ? 'faulty-ehrs' : 'drafts-ehr';
    const options = { dataDir: join(folder, 'data'), databaseUrl: url.href, setup, preload } as const;
    // A cut can prevent a start.
    gateways[index] = await retried(startAttempts, () => startChild(options));
  };
  for (const _ of [0, 1]) proxies.push(await startPostgresProxy(databaseUrl.href));
  await Promise.all([start(0), start(1)]);
  const keys = createKeyRing([Buffer.from(setup.variables.CROSSWARD_SECRET_KEY ?? '', 'base64')]);
  const session = await withDb(databaseUrl.href, (db) => sessionOf({ db, keys }, 'operator', 'admin'));
  const database = new pg.Pool({ connectionString: databaseUrl.href, max: 4 });
  // The end of a round drops the database, perhaps before the server knows that its connections have ended.
  database.on('error', () => undefined);
  /** One of the two gateways always reaches the database, so events must keep coming. */
  let isOneAway = false;
  const isOneRefused = () =>
    proxies.some(({ cuts }) => {
      const refused = cuts.findLast(({ way }) => way === 'all');
      return refused !== undefined && performance.now() < refused.at + refusedMilliseconds;
    });
  const isAlone = () => isOneAway || isOneRefused();
  const leaveOne = async () => {
    isOneAway = true;
    await sleep(refusedMilliseconds);
  };
  /** Kills and freezes. */
  const events: { readonly at: number; readonly what: string }[] = [];
  const note = (what: string) => events.push({ at: performance.now(), what });
  const world = {
    databaseUrl: databaseUrl.href,
    database,
    receiver,
    patienceMilliseconds: isQuiet ? patience.long : patience.short,
    clientId: setup.client.id,
    secretKey: Buffer.from(setup.variables.CROSSWARD_SECRET_KEY ?? '', 'base64'),
    /** Of an operator of the console. */
    session,
    suspendedOperation: () => insertSuspended(databaseUrl.href),
    endpointUrl: (endpoint: string) => `${receiver.url}&name=${endpoint}`,
    endpointName: (url: string) => new URLSearchParams(url.split('?')[1]).get('name') ?? mainEndpoint,
    cuts: () => proxies.reduce((sum, { cuts }) => sum + cuts.length, 0),
    /**
     * What kept events from being published in a time, in milliseconds of `performance.now()`: kills, freezes, refused connections,
     * and publications that failed.
     */
    disturbances(from: number, to: number): readonly string[] {
      const cuts = proxies.flatMap((proxy, index) =>
        proxy.cuts
          .filter(({ way, unit }) => way === 'all' || unit.statements.some((text) => ofPublication.test(text)))
          .map(({ at, way }) => ({ at, what: `cut (${way}) of ${index}` })),
      );
      return [...events, ...cuts]
        .filter(({ at }) => at >= from - cutMilliseconds && at <= to)
        .toSorted((a, b) => a.at - b.at)
        .map(({ at, what }) => `${((at - from) / 1_000).toFixed(1)} s ${what}`);
    },
    cutsByWay: () => proxies.flatMap(({ cuts }) => cuts.map(({ way }) => way)),
    /** A gateway that runs, or `undefined`. */
    gateway: (): ChildGateway | undefined =>
      pick(
        random,
        gateways.filter((it) => it && !it.hasEnded()),
      ),
    beginCuts(): void {
      const has = ({ statements }: Unit, words: RegExp) => statements.some((text) => words.test(text));
      const isOfWrite: Matches = (unit) => isWrite(unit) && has(unit, ofWrites) && !has(unit, ofPublication);
      for (const proxy of proxies) {
        proxy.cutAtRandom({ random, share: shares.ofWrites, ways, matches: (unit) => !isAlone() && isOfWrite(unit) });
        proxy.cutAtRandom({
          random,
          share: shares.ofWrites,
          ways: waysOfOne,
          matches: (unit) => isAlone() && isOfWrite(unit),
        });
        proxy.cutAtRandom({
          random,
          share: shares.ofOthers,
          ways,
          matches: (unit) => !isAlone() && isWrite(unit) && !isOfWrite(unit),
        });
      }
    },
    async kill(): Promise<void> {
      await leaveOne();
      const index = random() < 0.5 ? 0 : 1;
      note(`kill of ${index}`);
      await gateways[index]?.kill();
      await start(index);
      note(`start of ${index}`);
      isOneAway = false;
    },
    /** Stops one gateway for a while. */
    async freeze(milliseconds: number): Promise<void> {
      await leaveOne();
      const gateway = pick(random, gateways);
      if (!gateway) return;
      const index = gateways.indexOf(gateway);
      note(`freeze of ${index}`);
      process.kill(gateway.pid, 'SIGSTOP');
      await sleep(milliseconds);
      process.kill(gateway.pid, 'SIGCONT');
      note(`end of the freeze of ${index}`);
      isOneAway = false;
    },
    async heal(): Promise<void> {
      for (const proxy of proxies) await proxy.heal();
    },
    async dispose(): Promise<void> {
      for (const gateway of gateways) await gateway?.kill();
      for (const proxy of proxies) await proxy.close();
      await database.end();
      await receiver.close();
      await withClient(postgresUrl, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
      await rm(folder, { recursive: true, force: true });
    },
  };
  return world;
}

export type World = Awaited<ReturnType<typeof createWorld>>;

/** Milliseconds. PostgreSQL on a busy machine answers late. */
const connectTimeout = 60_000;

/** Uses the gateway's database beside the proxies. */
export async function withDb<Result>(databaseUrl: string, use: (db: Db) => Promise<Result>): Promise<Result> {
  const opened = await openDatabase({ databaseUrl, dataDir: '', connectTimeout });
  return use(createDb(opened)).finally(() => opened.close());
}

/** An operation that no gateway goes on with. Returns its id. */
async function insertSuspended(databaseUrl: string): Promise<string> {
  const opened = await openDatabase({ databaseUrl, dataDir: '', connectTimeout });
  return insertWrite(opened, 'suspended').finally(() => opened.close());
}

async function withClient(connectionString: string, use: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await use(client).finally(() => client.end());
}

async function retried<Result>(attempts: number, run: () => Promise<Result>): Promise<Result> {
  return run().catch((error) => {
    if (attempts === 1) throw error;
    return retried(attempts - 1, run);
  });
}
