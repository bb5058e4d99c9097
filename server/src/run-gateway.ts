import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ConnectorModule } from '@crossward/connector-kit';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Configuration } from './config/configuration.ts';
import type { Environment } from './config/environment/environment.ts';
import { type DemoClient, prepareDemo } from './config/file/demo.ts';
import { loadWithConnectors } from './config/file/load.ts';
import { requireLoopback } from './config/rules/loopback.ts';
import type { ConfigurationFile } from './config/schema/schema.ts';
import { type Database, openDatabase } from './db/database.ts';
import { embeddedFiles } from './db/embedded-files.ts';
import { demoWelcome } from './demo-welcome.ts';
import { createDeps, type Deps } from './deps.ts';
import { connectors } from './ehr/connectors.ts';
import { type AppDeps, buildApp } from './http/app.ts';
import { buildOperationsApp } from './http/operations-app.ts';
import { print } from './log/print.ts';
import { type Reloading, startReloading, warnPlainText } from './reloading.ts';
import type { SecretKeys } from './secret-keys/require-known-keys.ts';
import { ConfigurationError } from './startup/configuration-error.ts';
import { createDrain } from './startup/drain.ts';
import { limitHeapGrowth } from './startup/limit-heap-growth.ts';
import { listenError } from './startup/listen-error.ts';
import { makePrivateFolder } from './startup/private-file.ts';
import { onHangUp } from './workers/hang-up.ts';
import { endBy, onStopSignals } from './workers/stop-signals.ts';
import type { Supervisor } from './workers/supervisor.ts';

interface Setup {
  readonly configuration: Configuration;
  readonly connectors: readonly ConnectorModule[];
  readonly secretKeys: SecretKeys;
  readonly secretKeyFile?: string;
  /** Set in the demo. */
  readonly demoClient?: DemoClient;
  /** The configuration file. Absent in the demo. */
  readonly file?: ConfigurationFile;
}

/**
 * Runs a gateway in this process until a signal stops it.
 *
 * @param supervisor set if this process is one of several workers
 * @throws {ConfigurationError | DatabaseError} when it cannot start
 */
export async function runGateway(environment: Environment, log: Logger, supervisor?: Supervisor): Promise<void> {
  limitHeapGrowth();
  const dataDir = resolve(environment.dataDirectory);
  // Report mistakes in the configuration before anything is created or changed.
  const configured = await readConfigured(environment);
  if (configured) assertPortsDiffer(environment, configured.configuration.http.operations_port);
  log.info(
    environment.databaseUrl || existsSync(embeddedFiles(dataDir))
      ? 'Crossward is starting'
      : 'Crossward is starting and creates its embedded database, which takes a few seconds',
  );
  if (!configured || !environment.databaseUrl) await prepareDataDir(dataDir, log);
  if (configured) warnPlainText(configured.configuration, log);
  // Opening the database locks the data directory, before anything else is written there.
  const database = await openDatabase({
    databaseUrl: environment.databaseUrl?.reveal(),
    dataDir,
    maxConnections: environment.databasePoolSize,
  });
  try {
    const setup = configured ?? (await readDemo(environment, dataDir));
    await serve({ environment, setup, database, dataDir, log, supervisor });
  } catch (error) {
    await database.close();
    throw error;
  }
}

interface Service {
  readonly environment: Environment;
  readonly setup: Setup;
  readonly database: Database;
  readonly dataDir: string;
  readonly log: Logger;
  readonly supervisor: Supervisor | undefined;
}

async function serve({ environment, setup, database, dataDir, log, supervisor }: Service): Promise<void> {
  // Before the application is built. Loaded only if it is used.
  const telemetry =
    environment.telemetry && (await (await import('./telemetry/start.ts')).startTelemetry(environment.telemetry, log));
  const deps = await createDeps({ ...setup, database, log });
  const drain = createDrain();
  const reloading = reloadingOf(environment, setup, deps, supervisor);
  const served = { ...deps, drain, reload: reloading?.reload };
  const operations = await serveOperations(served, environment, supervisor);
  const app = await buildApp(served);
  // `reusePort` is for `listen` of Node.js. Fastify passes it on, but its types do not have it.
  const listening = { host: environment.host, port: environment.port, reusePort: supervisor !== undefined };
  const address = await app.listen(listening).catch((error) => {
    throw listenError(error, environment);
  });
  const stop = stopOnce(async (signal) => {
    const { drain_seconds: seconds } = deps.http;
    if (signal === 'SIGTERM' && seconds > 0) {
      log.info(
        { signal, drain_seconds: seconds },
        'not ready any more, and serves requests until proxies have noticed',
      );
      await drain.wait(seconds);
    }
    log.info({ signal }, 'stopping after the current requests');
    await app.close();
    await operations?.close();
    await reloading?.stop();
    await deps.stop();
    await telemetry?.stop();
    await database.close();
  });
  supervisor?.onStop(() => {
    drain.end();
    stop('disconnect');
  });
  onStopSignals((signal, before) => {
    if (before > 0 && !drain.end()) endBy(signal);
    stop(signal);
  });
  const welcome = () => (setup.demoClient ? demoWelcome({ address, ehrs: deps.ehrs, dataDir }) : '');
  if (supervisor) {
    supervisor.ready({ address, welcome: await welcome() });
    return;
  }
  log.info(
    // Milliseconds since the process began.
    { address, database: database.kind, demo: setup.demoClient !== undefined, start_ms: Math.round(performance.now()) },
    'Crossward is listening',
  );
  print(log, await welcome());
}

/** Reads the configuration file again when an operator or a signal asks for it, and when it changes. The demo has none. */
function reloadingOf(
  { configurationPath: path }: Environment,
  { file, ...configured }: Setup,
  { reconfigure, storedIds, watch, log }: Deps,
  supervisor: Supervisor | undefined,
): Reloading | undefined {
  if (path === undefined || !file) {
    onHangUp(() => log.warn({ signal: 'SIGHUP' }, 'ignored: the demo has no configuration file; SIGTERM stops it'));
    return undefined;
  }
  const { reload, stop } = startReloading({
    path,
    loaded: { ...configured, file },
    reconfigure,
    storedIds,
    watch,
    log,
  });
  onHangUp(() => {
    log.info({ signal: 'SIGHUP' }, 'reading the configuration file again');
    void reload(false);
  });
  supervisor?.onReload((isForced) => void reload(isForced));
  return {
    stop,
    reload(isForced) {
      supervisor?.reloadOthers(isForced);
      return reload(isForced);
    },
  };
}

/** Serves `/health` and `/metrics` of this process at a port of its own, if one is set. */
async function serveOperations(
  deps: Deps & Pick<AppDeps, 'drain'>,
  { host, workers }: Environment,
  supervisor: Supervisor | undefined,
): Promise<FastifyInstance | undefined> {
  const first = deps.http.operations_port;
  if (first === undefined) {
    if (supervisor?.worker === 0) {
      deps.log.warn(
        { workers },
        'any of the workers responds to /health and /metrics; http.operations_port gives each a port of its own',
      );
    }
    return undefined;
  }
  const app = await buildOperationsApp(deps);
  const port = first + (supervisor?.worker ?? 0);
  await app.listen({ host, port }).catch((error) => {
    throw listenError(error, { host, port }, 'http.operations_port');
  });
  return app;
}

/** @throws {ConfigurationError} if a worker would have no port for operations, or that of the interface */
function assertPortsDiffer({ port, workers }: Environment, first: number | undefined): void {
  if (first === undefined) return;
  const last = first + workers - 1;
  const mistake = `http.operations_port: ${workers} workers use the ports ${first} to ${last}`;
  if (last > 65_535) throw new ConfigurationError([`${mistake}, but the last port is 65535`]);
  if (port >= first && port <= last) throw new ConfigurationError([`${mistake}, but PORT is ${port}`]);
}

/** Restricts the directory to its owner: it holds the demo's secrets or the embedded database. */
async function prepareDataDir(dataDir: string, log: Logger): Promise<void> {
  if (await makePrivateFolder(dataDir)) {
    log.warn(
      { data_dir: dataDir },
      'data directory was accessible to other users of this machine; now restricted to its owner',
    );
  }
}

async function readDemo({ host, port }: Environment, dataDir: string): Promise<Setup> {
  const demo = await prepareDemo({ dataDir, connectors, host, port });
  return {
    configuration: demo.configuration,
    connectors,
    secretKeys: [demo.secretKey],
    secretKeyFile: demo.secretKeyFile,
    demoClient: demo.client,
  };
}

async function readConfigured(environment: Environment): Promise<Setup | undefined> {
  if (environment.configurationPath === undefined) {
    requireLoopback(environment.host, 'the demo');
    return undefined;
  }
  const { secretKey, previousSecretKeys } = environment;
  if (!secretKey) throw new ConfigurationError(['CROSSWARD_SECRET_KEY: is not set']);
  const loaded = await loadWithConnectors({
    path: environment.configurationPath,
    connectors,
    environment: process.env,
  });
  if (usesDemoMailbox(loaded.configuration)) requireLoopback(environment.host, 'the demo mailbox');
  const secretKeys = [secretKey.reveal(), ...previousSecretKeys.map((key) => key.reveal())] as const;
  return { ...loaded, secretKeys };
}

function usesDemoMailbox({ messages: { sms, email } }: Configuration): boolean {
  return sms?.provider === 'demo_mailbox' || email?.provider === 'demo_mailbox';
}

/** The first call stops the gateway gracefully, later ones do nothing. */
function stopOnce(stop: (signal: string) => Promise<void>): (signal: string) => void {
  let isStopping = false;
  return (signal) => {
    if (isStopping) return;
    isStopping = true;
    stop(signal).then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
}
