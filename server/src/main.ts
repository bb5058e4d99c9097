import { join, resolve } from 'node:path';
import { type Logger, pino } from 'pino';
import type { Configuration } from './config/configuration.ts';
import { prepareDemo } from './config/demo.ts';
import { type Environment, readEnvironment } from './config/environment.ts';
import { loadConfiguration } from './config/load.ts';
import { requireLoopback } from './config/loopback.ts';
import { type Database, openDatabase } from './db/database.ts';
import { DatabaseError } from './db/errors.ts';
import { demoWelcome } from './demo-welcome.ts';
import { createDeps } from './deps.ts';
import { connectors } from './ehr/connectors.ts';
import { buildApp } from './http/app.ts';
import { describeError } from './log/describe-error.ts';
import type { SecretKeys } from './secret-keys/require-known-keys.ts';
import { ConfigurationError } from './startup/configuration-error.ts';
import { assertCanListen, listenError } from './startup/listen-error.ts';
import { makePrivateFolder } from './startup/private-file.ts';

interface Setup {
  readonly configuration: Configuration;
  readonly secretKeys: SecretKeys;
  readonly secretKeyFile?: string;
  readonly isDemo: boolean;
}

async function main(): Promise<void> {
  const environment = readEnvironment();
  const log = pino({ level: environment.logLevel });
  ignoreHangUp(log);
  const dataDir = resolve(environment.dataDirectory);
  // Report mistakes in the configuration before anything is created or changed.
  const configured = await readConfigured(environment);
  await assertCanListen(environment);
  if (!configured || !environment.databaseUrl) await prepareDataDir(dataDir, log);
  // Opening the database locks the data directory, before anything else is written there.
  const database = await openDatabase({
    databaseUrl: environment.databaseUrl?.reveal(),
    dataDir,
    maxConnections: environment.databasePoolSize,
  });
  try {
    await serve(environment, configured ?? (await readDemo(environment, dataDir)), database, dataDir, log);
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function serve(
  environment: Environment,
  setup: Setup,
  database: Database,
  dataDir: string,
  log: Logger,
): Promise<void> {
  const databaseUrl = environment.databaseUrl?.reveal();
  const deps = await createDeps({ ...setup, database, databaseUrl, log });
  const app = await buildApp(deps);
  const address = await app.listen({ host: environment.host, port: environment.port }).catch((error) => {
    throw listenError(error, environment);
  });
  onSignal(async (signal) => {
    log.info({ signal }, 'stopping after the current requests');
    await app.close();
    await deps.stop();
    await database.close();
  });
  log.info({ address, database: database.kind, demo: setup.isDemo }, 'Crossward is listening');
  if (setup.isDemo) {
    process.stdout.write(
      await demoWelcome({ address, ehrs: deps.ehrs, clientFile: join(dataDir, 'demo-client.json') }),
    );
  }
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
    secretKeys: [demo.secretKey],
    secretKeyFile: demo.secretKeyFile,
    isDemo: true,
  };
}

async function readConfigured(environment: Environment): Promise<Setup | undefined> {
  if (environment.configurationPath === undefined) {
    requireLoopback(environment.host, 'the demo');
    return undefined;
  }
  const { secretKey, previousSecretKeys } = environment;
  if (!secretKey) throw new ConfigurationError(['CROSSWARD_SECRET_KEY: is not set']);
  const configuration = await loadConfiguration({
    path: environment.configurationPath,
    connectors,
    environment: process.env,
  });
  if (usesDemoMailbox(configuration)) requireLoopback(environment.host, 'the demo mailbox');
  const secretKeys = [secretKey.reveal(), ...previousSecretKeys.map((key) => key.reveal())] as const;
  return { configuration, secretKeys, isDemo: false };
}

function usesDemoMailbox({ messages: { sms, email } }: Configuration): boolean {
  return sms?.provider === 'demo_mailbox' || email?.provider === 'demo_mailbox';
}

/** SIGHUP ends a process by default. It comes from a closed terminal, or from an operator who expects a reload. */
function ignoreHangUp(log: Logger): void {
  process.on('SIGHUP', () => {
    log.warn({ signal: 'SIGHUP' }, 'ignored: the configuration is read only at start; SIGTERM stops the gateway');
  });
}

/** The first signal stops the gateway gracefully, a second one at once. */
function onSignal(stop: (signal: string) => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      stop(signal).then(
        () => process.exit(0),
        () => process.exit(1),
      );
    });
  }
}

try {
  await main();
} catch (error) {
  const isForPeople = error instanceof ConfigurationError || error instanceof DatabaseError;
  const text = isForPeople ? error.message : JSON.stringify(describeError(error));
  process.stderr.write(`Crossward cannot start.\n${text}\n`);
  process.exit(1);
}
