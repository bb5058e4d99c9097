import { ConnectorError, type ConnectorModule } from '@crossward/connector-kit';
import type { PostgresPool } from 'kysely';
import type { Logger } from 'pino';
import type { ConfiguredEmr } from '../config/configuration.ts';
import { currentContext } from '../context/work-context.ts';
import type { Db } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { patientTokens } from '../secrets/patient-tokens.ts';
import { bindConnector } from './bind-connector.ts';
import { createCalls, type EhrCalls, type EhrConnection } from './connection.ts';
import { exclusiveTurns } from './exclusive-turns.ts';
import { watchWaits } from './guard/database-waits.ts';
import { createEhrHttp } from './guard/ehr-http.ts';
import { openTls } from './guard/ehr-tls.ts';
import { createGuard } from './guard/guard.ts';
import type { EhrMetrics, WatchedEhr } from './guard/metrics.ts';
import { createPace } from './guard/pace.ts';
import { guardSettings, httpSettings, limitRate } from './guard/settings.ts';
import { sharedRate } from './guard/shared-rate.ts';
import { sharedTurns } from './guard/shared-turns.ts';
import { startOpening } from './opening.ts';
import { openingMistake } from './opening-mistake.ts';
import { createOutageLog } from './outage-log.ts';
import { callPauses, type Pauses } from './pauses.ts';
import { sealedConnector } from './sealed-connector.ts';
import { countUnreadable } from './unreadable-records.ts';

export interface LinkDependencies {
  /** For connectors. */
  readonly database: PostgresPool;
  /** For the rates of requests that processes share. */
  readonly db: Db;
  readonly metrics: EhrMetrics;
  readonly pauses: Pauses;
  /** For the tokens of patients whose identifiers pass through. */
  readonly keys: KeyRing;
  /** The gateway's clock. */
  readonly now: () => Date;
  readonly log: Logger;
}

/** The way to one EHR: its connector, with guard, pace and HTTP connections. Names and policies are no part of it. */
export interface EhrLink {
  readonly module: ConnectorModule;
  readonly calls: EhrCalls;
  readonly facts: Pick<EhrConnection, 'patientTokens' | 'tls' | 'unreadableRecords' | 'requestFailed'>;
  readonly watched: WatchedEhr;
  /** What callers may know of why it is not open. */
  openingDetail(): string | undefined;
  /** From now on, it is opened without asking the EHR first. */
  putToUse(): void;
  /** From now on, calls are rejected as if operators had paused the EHR. */
  refuseCalls(): void;
  /** Only work that has begun goes on with it: it is not opened any more, and the log does not tell its state. */
  retire(): void;
  /** No call is made or queued. */
  isIdle(): boolean;
  /** Call it after the last call has ended. */
  close(): Promise<void>;
}

/**
 * Opens the way to an EHR. One that is unreachable is opened later.
 *
 * @param asksFirst it replaces another one: until it is put to use, it is open only when the EHR has said what it is, if the
 *   connector can ask (`describe`)
 * @param waitMs how long to wait until it is open. It goes on opening afterwards
 * @throws {ConfigurationError} if a TLS file cannot be used, or the connector throws an error other than a `ConnectorError` or
 *   returns no connector
 */
export async function openLink(
  emr: ConfiguredEmr,
  module: ConnectorModule,
  { database, db, keys, metrics, pauses, now, log }: LinkDependencies,
  asksFirst: boolean,
  waitMs?: number,
): Promise<EhrLink> {
  const pace = createPace({
    fixedRate: emr.connection.requests_per_second,
    exchange: sharedRate(db, emr.id),
    takeTurns: sharedTurns(db, emr.id),
    onThrottled: () => metrics.throttled(emr.id),
  });
  const tls = await openTls(emr);
  const http = createEhrHttp(httpSettings(emr.connection, tls), pace);
  const unreadable = countUnreadable(emr.id, log);
  const context = {
    emr: emr.id,
    settings: emr.settings,
    careUnits: emr.care_units.map(({ id, time_zone, settings }) => ({ id, timeZone: time_zone, settings })),
    http,
    now,
    user: () => currentContext().user,
    leftOut: unreadable.leftOut,
    inTurn: exclusiveTurns(db, emr.id, {
      waitMs: emr.connection.timeout_ms,
      requestMs: emr.connection.request_timeout_ms,
    }),
  };
  const watchedDatabase = watchWaits(database);
  const { open, describe } = bindConnector(module, context, watchedDatabase.pool);
  const ask = notSoonAfterRefusal(describe);
  let mustAnswer = asksFirst;
  const openSealed = async () => {
    const connector = await open();
    if (mustAnswer) await ask();
    limitRate(pace, emr.connection, connector);
    return sealedConnector(connector, keys, emr.id);
  };
  const outages = createOutageLog(emr.id, log);
  const { paused, refuseCalls } = callPauses(pauses, emr.id, now);
  const guard = createGuard(guardSettings(emr.connection), {
    emr: emr.id,
    // A connector with tables has its EHR in the database, and a plug-in may have its own transport.
    ...(module.migrations ? {} : { countsEveryCall: http.isUnused }),
    waitsForDatabase: watchedDatabase.isWaiting,
    metrics,
    paused,
    onBreakerChange: outages.breakerChanged,
  });
  const opening = await startOpening(
    emr.id,
    () => guard.run('open', openSealed),
    log,
    () => guard.paused() !== undefined,
    waitMs,
  ).catch(async (error: unknown) => {
    await http.close();
    throw openingMistake(emr, error);
  });
  const retire = () => {
    opening.stop();
    outages.stop();
  };
  return {
    module,
    calls: createCalls(opening, guard),
    facts: {
      patientTokens: patientTokens(keys, emr.id),
      tls,
      unreadableRecords: unreadable.counts,
      requestFailed: outages.requestFailed,
    },
    watched: { breaker: () => guard.health().breaker, rate: pace.rate, unreadable: unreadable.counts },
    openingDetail: opening.detail,
    putToUse() {
      mustAnswer = false;
    },
    refuseCalls,
    isIdle: guard.isIdle,
    retire,
    async close() {
      retire();
      await http.close();
    },
  };
}

/** Milliseconds. An EHR can lock a user after a few wrong passwords, also for the connection that is in use. */
const pauseAfterRefusal = 5 * 60_000;

function notSoonAfterRefusal(ask: () => Promise<unknown>): () => Promise<void> {
  let refusal: { readonly error: ConnectorError; readonly at: number } | undefined;
  return async () => {
    if (refusal && performance.now() - refusal.at < pauseAfterRefusal) throw refusal.error;
    try {
      await ask();
    } catch (error) {
      if (error instanceof ConnectorError && error.kind === 'rejected') refusal = { error, at: performance.now() };
      throw error;
    }
  };
}
