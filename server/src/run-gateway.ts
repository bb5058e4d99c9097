import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ConnectorModule } from '@crossward/connector-kit';
import type { Logger } from 'pino';
import type { Configuration } from './config/configuration.ts';
import { type DemoClient, prepareDemo } from './config/demo.ts';
import type { Environment } from './config/environment.ts';
import { loadWithConnectors } from './config/load.ts';
import { requireLoopback } from './config/loopback.ts';
import { formatPath } from './config/mistake.ts';
import { allowedPlainText } from './config/plain-text.ts';
import { type Database, openDatabase } from './db/database.ts';
import { embeddedFiles } from './db/embedded-files.ts';
import { demoWelcome } from './demo-welcome.ts';
import { createDeps } from './deps.ts';
import { connectors } from './ehr/connectors.ts';
import type { GatewayFigures, ProcessFigures } from './ehr/figures.ts';
import { buildApp } from './http/app.ts';
import { print } from './log/print.ts';
import type { SecretKeys } from './secret-keys/require-known-keys.ts';
import { ConfigurationError } from './startup/configuration-error.ts';
import { limitHeapGrowth } from './startup/limit-heap-growth.ts';
import { listenError } from './startup/listen-error.ts';
import { makePrivateFolder } from './startup/private-file.ts';
import type { PrimaryProcess } from './workers/connect-to-primary.ts';

interface Setup {
  readonly configuration: Configuration;
  readonly connectors: readonly ConnectorModule[];
  readonly secretKeys: SecretKeys;
  readonly secretKeyFile?: string;
  /** Set in the demo. */
  readonly demoClient?: DemoClient;
}

/**
 * Runs a gateway in this process until a signal stops it.
 *
 * @param primary set if this process is one of several workers
 * @throws {ConfigurationError | DatabaseError} when it cannot start
 */
export async function runGateway(environment: Environment, log: Logger, primary?: PrimaryProcess): Promise<void> {
  limitHeapGrowth();
  const dataDir = resolve(environment.dataDirectory);
  // Report mistakes in the configuration before anything is created or changed.
  const configured = await readConfigured(environment);
  log.info(
    environment.databaseUrl || existsSync(embeddedFiles(dataDir))
      ? 'Crossward is starting'
      : 'Crossward is starting and creates its embedded database, which takes a few seconds',
  );
  if (!configured || !environment.databaseUrl) await prepareDataDir(dataDir, log);
  for (const path of allowedPlainText(configured?.configuration ?? {})) {
    log.warn(
      { setting: formatPath(path) },
      'plain text: data of patients and credentials go to another machine without TLS',
    );
  }
  // Opening the database locks the data directory, before anything else is written there.
  const database = await openDatabase({
    databaseUrl: environment.databaseUrl?.reveal(),
    dataDir,
    maxConnections: environment.databasePoolSize,
  });
  try {
    const setup = configured ?? (await readDemo(environment, dataDir));
    await serve({ environment, setup, database, dataDir, log, primary });
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
  readonly primary: PrimaryProcess | undefined;
}

async function serve({ environment, setup, database, dataDir, log, primary }: Service): Promise<void> {
  const deps = await createDeps({ ...setup, database, log });
  primary?.share(deps.metrics);
  primary?.shareFigures(deps.ownFigures);
  const app = await buildApp({
    ...deps,
    readMetrics: primary?.allMetrics,
    console: deps.console && primary ? { ...deps.console, figures: { read: () => figuresOf(primary) } } : deps.console,
  });
  const address = await app.listen({ host: environment.host, port: environment.port }).catch((error) => {
    throw listenError(error, environment);
  });
  const stop = stopOnce(async (signal) => {
    log.info({ signal }, 'stopping after the current requests');
    await app.close();
    await deps.stop();
    await database.close();
  });
  primary?.onStop(stop);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  const welcome = () => (setup.demoClient ? demoWelcome({ address, ehrs: deps.ehrs, dataDir }) : '');
  if (primary) {
    primary.ready({ address, welcome: await welcome() });
    return;
  }
  log.info(
    // Milliseconds since the process began.
    { address, database: database.kind, demo: setup.demoClient !== undefined, start_ms: Math.round(performance.now()) },
    'Crossward is listening',
  );
  print(log, await welcome());
}

/** The figures of all workers. */
async function figuresOf(primary: PrimaryProcess): Promise<GatewayFigures> {
  const { workers, figures } = await primary.allFigures();
  // The workers run the same code.
  return { workers, processes: figures as readonly ProcessFigures[] };
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

/** The first signal stops the gateway gracefully. Node.js ends it at once when the same signal comes again. */
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
