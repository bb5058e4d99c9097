import pg from 'pg';
import { serverUrls } from '../../db/server-urls.ts';
import { type Finding, findingsOf } from './finding.ts';

const found = findingsOf('database');
/** Milliseconds. */
const timeoutMs = 5_000;
/** Seconds. A request waits for a connection for five. */
const longestRetry = 2;

/** The settings of PgBouncer on which a promise of the gateway depends. Nothing if `DATABASE_URL` leads to PostgreSQL itself. */
export async function checkPgbouncer(databaseUrl: string): Promise<Finding[]> {
  return (await Promise.all(serverUrls(databaseUrl).map(checkServer))).flat();
}

async function checkServer(serverUrl: string): Promise<Finding[]> {
  const url = new URL(serverUrl);
  url.pathname = '/pgbouncer';
  const client = new pg.Client({
    connectionString: url.href,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ key: string; value: string }>('SHOW CONFIG');
    return [ofRetry(rows.find(({ key }) => key === 'server_login_retry')?.value)];
  } catch (error) {
    // PgBouncer has this database alone, and shows it to its administrators. PostgreSQL has none with this name.
    return error instanceof Error && /not allowed|no such user/i.test(error.message) ? [hidden] : [];
  } finally {
    await client.end().catch(() => undefined);
  }
}

const hidden = found(
  'server_login_retry',
  'unchecked',
  'PgBouncer does not show its settings: add the user to its stats_users, or see that it has server_login_retry = 1',
);

function ofRetry(value: string | undefined): Finding {
  const seconds = Number(value);
  if (seconds <= longestRetry) return found('server_login_retry', 'ok', `of PgBouncer is ${value} s`);
  const text = `of PgBouncer is ${value} s: for so long it refuses connections after a failover or restart of PostgreSQL; set 1`;
  return found('server_login_retry', 'warning', text);
}
