import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import { errorCode } from './errors.ts';

/** What keeps a database that is there from working. An operator must mend each; most do not end by themselves. */
export const databaseTroubles = ['disk_full', 'read_only', 'too_many_connections', 'pooler'] as const;
export type DatabaseTrouble = (typeof databaseTroubles)[number];

/**
 * By SQLSTATE: disk_full, read_only_sql_transaction, too_many_connections, and protocol_violation, which PgBouncer gives to all
 * errors of its own (https://www.pgbouncer.org/config.html: `query_wait_timeout`, `server_login_retry`, `max_client_conn`).
 */
const byCode: Readonly<Record<string, DatabaseTrouble>> = {
  '53100': 'disk_full',
  '25006': 'read_only',
  '53300': 'too_many_connections',
  '08P01': 'pooler',
};

/** In words, without a full stop. */
export const troubleWords: Readonly<Record<DatabaseTrouble, string>> = {
  disk_full: 'the disk of the database is full: nothing can be written until it has room',
  read_only: 'the database accepts no writes: it is a standby or read-only, or was demoted',
  too_many_connections: 'the database refuses connections: max_connections of PostgreSQL is reached',
  pooler: 'the pooler in front of the database (PgBouncer) refuses work: its log has the reason',
};

/** What fails meanwhile, in words. Reading a patient's data writes to the audit trail. */
const everything = ['bookings and other writes', 'reads of patient data', 'messages', 'events', 'audit trail'] as const;

/** What cannot be written, or cannot be relied on to be written. */
export function notWritten(trouble: DatabaseTrouble | undefined): readonly string[] {
  return trouble === 'disk_full' || trouble === 'read_only' ? everything : [];
}

/** `undefined` for any other error. */
export function troubleOf(error: unknown): DatabaseTrouble | undefined {
  const code = errorCode(error);
  return code === undefined ? undefined : byCode[code];
}

/** Milliseconds without the failure after which the trouble counts as over. A gateway writes every minute, even if nobody calls. */
const quietMs = 120_000;
const lookMs = 5_000;

export interface TroubleWatch {
  /** An error of the gateway's database. Ignores other ones than troubles. */
  failed(error: unknown): void;
  /** The latest trouble that lasts. */
  current(): DatabaseTrouble | undefined;
  since(trouble: DatabaseTrouble): Date | undefined;
  stop(): void;
}

/** Watches the errors of one database. The log has a line when a trouble begins, and one when it is over. */
export function watchTroubles(log: Pick<Logger, 'info' | 'error'>, registry: Registry): TroubleWatch {
  const lasting = new Map<DatabaseTrouble, { readonly since: number; last: number }>();
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    for (const [trouble, { since, last }] of lasting) {
      if (Date.now() - last < quietMs) continue;
      lasting.delete(trouble);
      log.info({ trouble, seconds: Math.round((last - since) / 1000) }, 'the database works again');
    }
    if (lasting.size === 0) stop();
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  new Gauge({
    name: 'crossward_database_trouble',
    help: 'Whether the database has failed in this way within two minutes: 1 or 0.',
    labelNames: ['trouble'],
    registers: [registry],
    aggregator: 'max',
    collect() {
      for (const trouble of databaseTroubles) this.set({ trouble }, lasting.has(trouble) ? 1 : 0);
    },
  });
  return {
    failed(error) {
      const trouble = troubleOf(error);
      if (!trouble) return;
      const now = Date.now();
      const known = lasting.get(trouble);
      if (known) {
        known.last = now;
        return;
      }
      lasting.set(trouble, { since: now, last: now });
      timer ??= setInterval(look, lookMs).unref();
      log.error({ trouble, code: errorCode(error), fault: troubleWords[trouble] }, 'the database fails');
    },
    current: () => [...lasting].reduce<DatabaseTrouble | undefined>((_last, [trouble]) => trouble, undefined),
    since(trouble) {
      const known = lasting.get(trouble);
      return known && new Date(known.since);
    },
    stop,
  };
}
