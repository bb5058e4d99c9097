import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ConnectorModule } from '@crossward/connector-kit';
import { tolerance } from '../../background/watch-clock.ts';
import type { Environment } from '../../config/environment/environment.ts';
import { createDatabaseClock, longestAnswer } from '../../db/clock.ts';
import { dataDirInUse } from '../../db/data-dir-lock.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { databaseName } from '../../db/database-name.ts';
import { embeddedFiles } from '../../db/embedded-files.ts';
import { DatabaseError, errorCode, isDatabaseFailure } from '../../db/errors.ts';
import { createDb } from '../../db/kysely.ts';
import { missingMigrations } from '../../db/migrate.ts';
import { migrationSets } from '../../db/migration-sets.ts';
import { connectionFault } from '../../log/connection-fault.ts';
import { ConfigurationError } from '../../startup/configuration-error.ts';
import type { RunningGateway } from './check-gateway.ts';
import { checkPgbouncer } from './check-pgbouncer.ts';
import { checkServerSettings } from './check-server-settings.ts';
import { type Finding, findingsOf } from './finding.ts';

interface CheckedDatabase {
  readonly findings: readonly Finding[];
  /** Absent: it cannot be opened here. */
  readonly database?: Database;
  /** Whether it has every migration. */
  readonly isMigrated: boolean;
}

const found = findingsOf('database');

/** Opens the gateway's database without creating or changing one, and checks it. The caller closes it. */
export async function checkDatabase(
  environment: Environment,
  connectors: readonly ConnectorModule[],
  running: RunningGateway | undefined,
): Promise<CheckedDatabase> {
  const dataDir = resolve(environment.dataDirectory);
  const options = { databaseUrl: environment.databaseUrl?.reveal(), dataDir };
  const name = databaseName(options);
  if (options.databaseUrl === undefined && !existsSync(embeddedFiles(dataDir))) {
    const text = `${name} does not exist yet; the gateway creates it when it starts`;
    return { findings: [found('connection', 'note', text)], isMigrated: false };
  }
  let database: Database;
  try {
    database = await openDatabase({ ...options, maxConnections: 1 });
  } catch (error) {
    return { findings: [closed(error, name, running)], isMigrated: false };
  }
  const findings = [found('connection', 'ok', `${name} responds`)];
  try {
    const migrations = await checkMigrations(database, connectors);
    findings.push(
      migrations,
      ...(database.kind === 'postgresql' ? await checkServerSettings(database, environment) : [embedded]),
      ...(options.databaseUrl === undefined ? [] : await checkPgbouncer(options.databaseUrl)),
      await checkClock(database),
    );
    return { database, isMigrated: migrations.status === 'ok', findings };
  } catch (error) {
    return { database, isMigrated: false, findings: [...findings, failed(error)] };
  }
}

/**
 * The finding that a statement of a check failed, or had no answer in time.
 *
 * @throws the error, if it is none of the database
 */
export function failed(error: unknown): Finding {
  if (!isDatabaseFailure(error)) throw error;
  const code = errorCode(error);
  const cause = connectionFault(error)?.text ?? (code === undefined ? 'no answer in time' : `SQLSTATE ${code}`);
  return found('answer', 'problem', `a statement failed: ${cause}`);
}

const embedded = found(
  'durability',
  'note',
  'the embedded database can lose the last writes in a power failure; production needs PostgreSQL (DATABASE_URL)',
);

function closed(error: unknown, name: string, running: RunningGateway | undefined): Finding {
  if (error instanceof DatabaseError && error.code === dataDirInUse) {
    if (!running)
      return found(
        'connection',
        'unchecked',
        `${name} is in use by another Crossward process; if that is the gateway, set PORT to its port`,
      );
    return found(
      'connection',
      'ok',
      `${name} is in use by the running gateway${running.isReady ? ', and responds' : ''}`,
    );
  }
  if (error instanceof DatabaseError || error instanceof ConfigurationError)
    return found('connection', 'problem', error.message);
  throw error;
}

async function checkMigrations(database: Database, connectors: readonly ConnectorModule[]): Promise<Finding> {
  try {
    const missing = await missingMigrations(database, migrationSets(connectors));
    if (missing === 0) return found('migrations', 'ok', 'all are applied');
    return found('migrations', 'note', `${missing} are missing; the gateway applies them when it starts`);
  } catch (error) {
    if (error instanceof DatabaseError) return found('migrations', 'problem', error.message);
    throw error;
  }
}

async function checkClock(database: Database): Promise<Finding> {
  const clock = createDatabaseClock(createDb(database));
  await clock.measure();
  const ahead = clock.aheadMilliseconds();
  const seconds = `${Math.abs(ahead / 1000).toFixed(1)} seconds`;
  const answer = clock.answerMilliseconds();
  if (answer > longestAnswer) return found('answer', 'warning', `it takes ${(answer / 1000).toFixed(1)} s to answer`);
  if (Math.abs(ahead) <= tolerance) return found('clock', 'ok', `differs from this machine's by ${seconds}`);
  return found(
    'clock',
    'warning',
    `this machine's clock is ${seconds} ${ahead > 0 ? 'ahead of' : 'behind'} the database's: check NTP on both`,
  );
}
