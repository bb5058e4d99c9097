import type { Environment } from '../../config/environment/environment.ts';
import { type Database, gatewayConnections, serverTimeouts } from '../../db/database.ts';
import { type Finding, findingsOf } from './finding.ts';

const found = findingsOf('database');

/** Settings of PostgreSQL on which a promise of the gateway depends. */
export async function checkServerSettings(database: Database, environment: Environment): Promise<Finding[]> {
  const client = await database.pool.connect();
  try {
    const { rows } = await client.query<{ name: string; setting: string }>(
      `SELECT name, setting FROM pg_settings WHERE name IN
        ('fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names', 'transaction_read_only',
         'server_encoding', 'max_connections', 'superuser_reserved_connections', 'reserved_connections',
         'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout')`,
    );
    const settings = new Map(rows.map(({ name, setting }) => [name, setting]));
    const mistakes = [
      ...mistakesIn(settings),
      ...missingTimeouts(settings),
      ...tooFewConnections(settings, environment),
    ];
    return mistakes.length > 0 ? mistakes : [found('settings', 'ok', 'the server keeps what it commits')];
  } finally {
    client.release();
  }
}

function mistakesIn(settings: ReadonlyMap<string, string>): Finding[] {
  const is = (name: string, value: string) => settings.get(name) === value;
  const hasStandby = (settings.get('synchronous_standby_names') ?? '') !== '';
  return [
    ...(is('transaction_read_only', 'on')
      ? [found('transaction_read_only', 'problem', 'is on: the server accepts no writes. Is it a standby?')]
      : []),
    ...(is('server_encoding', 'UTF8')
      ? []
      : [found('server_encoding', 'problem', `is ${settings.get('server_encoding')}; the database must be in UTF8`)]),
    ...(is('fsync', 'off')
      ? [found('fsync', 'problem', 'is off: a power failure can destroy the database, and bookings with it')]
      : []),
    ...(is('full_page_writes', 'off')
      ? [found('full_page_writes', 'problem', 'is off: a power failure can damage the database')]
      : []),
    ...(is('synchronous_commit', 'off')
      ? [found('synchronous_commit', 'problem', 'is off: a crash loses bookings and codes that were acknowledged')]
      : []),
    ...(hasStandby && is('synchronous_commit', 'local')
      ? [found('synchronous_commit', 'warning', 'is local: a failover loses what was acknowledged last')]
      : []),
  ];
}

/** The gateway asks for them when it connects. A pooler in between can ignore that. */
function missingTimeouts(settings: ReadonlyMap<string, string>): Finding[] {
  return Object.entries(serverTimeouts)
    .filter(([name, wanted]) => !(Number(settings.get(name)) > 0 && Number(settings.get(name)) <= wanted))
    .map(([name, wanted]) => {
      const value = Number(settings.get(name)) > 0 ? `${Number(settings.get(name)) / 1000} s` : 'off';
      const text = `is ${value} instead of ${wanted / 1000} s: behind PgBouncer, ALTER ROLE … SET ${name} = '${wanted / 1000}s'`;
      return found(name, 'warning', text);
    });
}

function tooFewConnections(settings: ReadonlyMap<string, string>, environment: Environment): Finding[] {
  const number = (name: string) => Number(settings.get(name) ?? 0);
  const free = number('max_connections') - number('superuser_reserved_connections') - number('reserved_connections');
  const needed = environment.workers * gatewayConnections(environment.databasePoolSize);
  if (needed <= free) return [];
  const text = `leaves ${free} connections, and this gateway alone can use ${needed}: raise it, or lower DATABASE_POOL_SIZE`;
  return [found('max_connections', 'warning', text)];
}
