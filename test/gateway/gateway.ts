import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { ConnectorModule } from '@crossward/connector-kit';
import type { FastifyInstance } from 'fastify';
import { type LevelWithSilent, pino } from 'pino';
import { inject } from 'vitest';
import type { Intervals } from '../../server/src/background/intervals.ts';
import { type Configuration, type ConfiguredClient, hashSecret } from '../../server/src/config/configuration.ts';
import { demoConfigurationPath } from '../../server/src/config/file/demo.ts';
import { loadConfiguration } from '../../server/src/config/file/load.ts';
import { type Scope, scopes } from '../../server/src/config/schema/schema.ts';
import { type Database, openDatabase } from '../../server/src/db/database.ts';
import { createDeps, type Deps } from '../../server/src/deps.ts';
import { connectors } from '../../server/src/ehr/connectors.ts';
import { buildApp } from '../../server/src/http/app.ts';
import { connectTimeout, createTestDatabase, type TestDatabase } from '../database/database.ts';
import type { Ehr } from '../ehrs/ehr.ts';
import { startEhrs } from '../ehrs/under-test.ts';
import { shareCompilers } from './shared-compilers.ts';

shareCompilers();

import { checkResponse } from './response-check.ts';

/**
 * - `everything`: every EHR and every scope
 * - `narrowed`: every scope, but only `oslo-sentrum` of `sandbox-no`
 * - a scope: every EHR, and that scope alone
 */
export type TestClient = 'everything' | 'narrowed' | Scope;

export interface Credentials {
  readonly id: string;
  readonly secret: string;
}

export interface RequestOptions {
  /** Sent as JSON. A string or buffer is sent unchanged. */
  readonly body?: unknown;
  /** `undefined` removes a default header. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The client whose credentials are sent. `null`: none. Default: `everything`. */
  readonly client?: TestClient | Credentials | null;
}

export interface Problem {
  readonly reason: string;
  readonly detail: string;
  readonly errors: readonly {
    readonly pointer?: string;
    readonly parameter?: string;
    readonly header?: string;
    readonly id?: string;
    readonly reason: string;
    readonly detail: string;
  }[];
}

/** A response. The caller names the type of its body. */
export interface GatewayResponse<Body = unknown> {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Body;
  readonly text: string;
  /** The body as it was sent. */
  readonly bytes: Buffer;
}

export interface GatewayOptions {
  /** Changes the configuration: the demo's, with the test clients. */
  readonly configure?: (configuration: Configuration) => Configuration;
  readonly logLevel?: LevelWithSilent;
  /** Default: the database of the current Vitest project. */
  readonly databaseKind?: Database['kind'];
  /** Default: all connectors of the gateway. Every EHR uses the connector under test. */
  readonly connectors?: readonly ConnectorModule[];
  /** Whether its pages show the credentials of the client `everything`, as in the demo. */
  readonly isDemo?: boolean;
  /** Milliseconds between the rounds of background jobs: shorter ones, so that a test need not wait. */
  readonly intervals?: Partial<Intervals>;
  /** Another gateway whose database, secret keys and clients to share. PostgreSQL and sandboxes only. */
  readonly beside?: Gateway;
  /**
   * Returns the URL that the gateway uses instead of this one of its database. PostgreSQL only. `gateway.database`, which tests
   * use, is connected directly.
   */
  readonly through?: (databaseUrl: string) => Promise<string>;
}

interface Ground {
  readonly testDatabase: TestDatabase;
  readonly secretKeys: readonly [Buffer, ...Buffer[]];
  /** Client secrets by test client. */
  readonly secrets: ReadonlyMap<string, string>;
}

export interface Gateway {
  /** Database, secret keys and client secrets, which a second gateway can share. */
  readonly ground: Ground;
  readonly app: FastifyInstance;
  readonly database: Database;
  readonly deps: Deps;
  readonly port: number;
  /** Direct access to the EHR of a connection. */
  ehr(emr: string): Ehr;
  /** The log lines so far. */
  readonly logLines: readonly string[];
  /**
   * Sends a request over a socket with the path unchanged. Throws if the response does not match the OpenAPI document.
   */
  request<Body = unknown>(method: string, path: string, options?: RequestOptions): Promise<GatewayResponse<Body>>;
  credentials(client: TestClient): Credentials;
  close(): Promise<void>;
}

/** Loaded once. Every gateway changes a copy. */
let demoConfiguration: Promise<Configuration> | undefined;

/** Starts a complete gateway with its own database on a free port. */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const {
    configure = (it: Configuration) => it,
    logLevel = 'info',
    databaseKind,
    connectors: modules = connectors,
    isDemo = false,
    beside,
    intervals,
    through,
  } = options;
  const ground = beside ? await sharedGround(beside.ground) : await newGround(databaseKind);
  const { testDatabase, secretKeys, secrets } = ground;
  const { database } = testDatabase;
  demoConfiguration ??= loadConfiguration({ path: demoConfigurationPath, connectors, environment: {} });
  const demo = await demoConfiguration;
  const withClients = withTestConnections({
    ...demo,
    clients: testClients(demo, secrets),
    // The access tests send many wrong secrets, so the limit is higher.
    limits: { ...demo.limits, failed_credentials: 1_000_000 },
  });
  const ehrs = await startEhrs(inject('ehrKind'), { demo: withClients, configure, database });
  const { configuration } = ehrs;
  const logLines: string[] = [];
  const log = pino({ level: logLevel }, { write: (line: string) => void logLines.push(line) });

  const own = through ? await openThrough(testDatabase, through) : database;
  const deps = await createDeps({
    configuration,
    database: own,
    secretKeys,
    log,
    connectors: modules,
    intervals,
    ...(isDemo
      ? { demoClient: { client_id: clientId('everything'), client_secret: secrets.get('everything') ?? '' } }
      : {}),
  });
  const app = await buildApp(deps);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 100 });

  const credentials = (client: TestClient): Credentials => ({
    id: clientId(client),
    secret: secrets.get(client) ?? '',
  });

  return {
    ground,
    app,
    database,
    deps,
    port,
    logLines,
    credentials,
    ehr(emr) {
      const found = ehrs.byId.get(emr);
      if (!found) throw new Error(`No EHR has the id ${emr}`);
      return found;
    },
    async request<Body>(method: string, path: string, { body, headers, client = 'everything' }: RequestOptions = {}) {
      const who = typeof client === 'string' ? credentials(client) : client;
      const payload =
        typeof body === 'string' || Buffer.isBuffer(body) || body === undefined ? body : JSON.stringify(body);
      const ask = () =>
        send({
          port,
          agent,
          method,
          path,
          payload,
          headers: {
            ...(who ? { 'x-service-client-id': who.id, 'x-service-client-secret': who.secret } : {}),
            ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
            ...headers,
          },
        });
      let result = await ask();
      // On a loaded machine the process that runs the tests stands still for seconds. What is overloaded has begun nothing.
      while (result.status === 503 && result.text.includes('"reason":"overloaded"')) {
        await setTimeout(100);
        result = await ask();
      }
      await checkResponse(method, path, result);
      const isJson = /\bjson\b/.test(result.headers['content-type'] ?? '') && result.text !== '';
      return { ...result, body: (isJson ? JSON.parse(result.text) : undefined) as Body };
    },
    async close() {
      agent.destroy();
      await app.close();
      await deps.stop();
      await ehrs.close();
      if (own !== database) await own.close();
      await testDatabase.dispose();
    },
  };
}

/**
 * Shortens `settling_seconds`: an EHR in this process never finishes a write late. Changes in the EHR are not read: the calls
 * would take turns that tests count.
 */
function withTestConnections(configuration: Configuration): Configuration {
  const settings = { settling_seconds: 1, changes_seconds: 0 };
  const emrs = configuration.emrs.map((emr) => ({ ...emr, connection: { ...emr.connection, ...settings } }));
  return { ...configuration, emrs };
}

async function newGround(databaseKind: Database['kind'] | undefined): Promise<Ground> {
  return {
    testDatabase: await createTestDatabase(databaseKind),
    secretKeys: [randomBytes(32)],
    secrets: new Map(
      (['everything', 'narrowed', ...scopes] as const).map((name) => [name, randomBytes(32).toString('base64url')]),
    ),
  };
}

/** Opens the other gateway's database. The other gateway deletes it. */
async function sharedGround(ground: Ground): Promise<Ground> {
  const { url } = ground.testDatabase;
  if (url === undefined) throw new Error('Only one gateway can open the embedded database');
  const database = await openDatabase({ databaseUrl: url, dataDir: '', connectTimeout });
  return { ...ground, testDatabase: { database, url, dispose: () => database.close() } };
}

async function openThrough({ url }: TestDatabase, through: (url: string) => Promise<string>): Promise<Database> {
  if (url === undefined) throw new Error('The embedded database has no URL');
  return openDatabase({ databaseUrl: await through(url), dataDir: '', connectTimeout });
}

function clientId(client: TestClient): string {
  return client.replace(':', '-');
}

function testClients(configuration: Configuration, secrets: ReadonlyMap<string, string>): ConfiguredClient[] {
  const every = configuration.emrs.map(({ id, care_units }) => ({
    emr: id,
    care_units: care_units.map((it) => it.id),
  }));
  const client = (
    name: TestClient,
    allowed: readonly Scope[],
    grants: ConfiguredClient['grants'] = every,
  ): ConfiguredClient => ({
    id: clientId(name),
    name,
    secrets: [{ sha256: hashSecret(secrets.get(name) ?? '') }],
    scopes: allowed,
    grants,
  });
  return [
    client('everything', scopes),
    client('narrowed', scopes, [{ emr: 'sandbox-no', care_units: ['oslo-sentrum'] }]),
    ...scopes.map((scope) => client(scope, [scope])),
  ];
}

interface Sent {
  readonly port: number;
  readonly agent: Agent;
  readonly method: string;
  readonly path: string;
  readonly payload: string | Buffer | undefined;
  readonly headers: RequestOptions['headers'];
}

/**
 * Sends again if the gateway closed an idle connection at the very moment that the request used it.
 *
 * @see https://nodejs.org/api/http.html#requestreusedsocket
 */
async function send(sent: Sent): Promise<Awaited<ReturnType<typeof sendOnce>>> {
  try {
    return await sendOnce(sent);
  } catch (error) {
    if (error instanceof ClosedWhileIdle) return send(sent);
    throw error;
  }
}

class ClosedWhileIdle extends Error {}

async function sendOnce({ port, agent, method, path, payload, headers = {} }: Sent) {
  const request = httpRequest({ host: '127.0.0.1', port, agent, method, path });
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) request.setHeader(name, value);
  if (payload !== undefined) request.setHeader('content-length', Buffer.byteLength(payload));
  // Send the body as a buffer: Node.js would encode headers as UTF-8 if it were a string.
  request.end(payload === undefined ? undefined : Buffer.from(payload));
  const [response] = (await once(request, 'response').catch((error: NodeJS.ErrnoException) => {
    if (request.reusedSocket && error.code === 'ECONNRESET') throw new ClosedWhileIdle();
    throw error;
  })) as [IncomingMessage];
  const bytes = Buffer.concat(await response.toArray());
  return { status: response.statusCode ?? 0, headers: response.headers, text: bytes.toString('utf8'), bytes };
}
