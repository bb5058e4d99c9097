import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Logger, pino } from 'pino';
import { buildApp } from './app.ts';
import type { Configuration } from './config/configuration.ts';
import { ConfigurationError } from './config/configuration-error.ts';
import { prepareDemo } from './config/demo.ts';
import { type Environment, readEnvironment } from './config/environment.ts';
import { loadConfiguration } from './config/load.ts';
import { requireLoopback } from './config/loopback.ts';
import { type Database, openDatabase } from './db/database.ts';
import { DatabaseError } from './db/errors.ts';
import { demoWelcome } from './demo-welcome.ts';
import { createDeps } from './deps.ts';
import { connectors } from './ehr/connectors.ts';
import { describeError } from './http/describe-error.ts';

interface Setup {
  readonly configuration: Configuration;
  readonly secretKeys: readonly [Buffer, ...Buffer[]];
  readonly isDemo: boolean;
}

async function main(): Promise<void> {
  const environment = readEnvironment();
  const log = pino({ level: environment.logLevel });
  const dataDir = resolve(environment.dataDirectory);
  // A mistake in the configuration is told before anything is made or changed.
  const configured = await readConfigured(environment);
  // The lock on the data directory comes with the database, before anything else is written there.
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
  const address = await app.listen({ host: environment.host, port: environment.port });
  onSignal(async (signal) => {
    log.info({ signal }, 'stopping: requests under way are finished first');
    await app.close();
    await deps.stop();
    await database.close();
  });
  log.info({ address, database: database.kind, demo: setup.isDemo }, 'Crossward listens');
  if (setup.isDemo) {
    process.stdout.write(
      await demoWelcome({ address, ehrs: deps.ehrs, clientFile: join(dataDir, 'demo-client.json') }),
    );
  }
}

async function readDemo({ host }: Environment, dataDir: string): Promise<Setup> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const demo = await prepareDemo({ dataDir, connectors, host });
  return { configuration: demo.configuration, secretKeys: [demo.secretKey], isDemo: true };
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

/** The first signal stops in good order, a second one at once. */
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
  const isForPeople = error instanceof ConfigurationError || error instanceof DatabaseError || isListenError(error);
  const text = isForPeople ? error.message : JSON.stringify(describeError(error));
  process.stderr.write(`Crossward cannot start.\n${text}\n`);
  process.exit(1);
}

/** Its message names the address and nothing else. */
function isListenError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error && error.syscall === 'listen';
}
