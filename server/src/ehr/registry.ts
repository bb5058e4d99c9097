import type { ConnectorModule } from '@crossward/connector-kit';
import type { PostgresPool } from 'kysely';
import type { Logger } from 'pino';
import type { Configuration, ConfiguredCareUnit, ConfiguredEmr } from '../config/configuration.ts';
import { currentContext } from '../context/work-context.ts';
import type { Db } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { patientTokens } from '../secrets/patient-tokens.ts';
import { bindConnector } from './bind-connector.ts';
import { type CareUnitConnection, createConnection, type EhrConnection } from './connection.ts';
import { exclusiveTurns } from './exclusive-turns.ts';
import { watchWaits } from './guard/database-waits.ts';
import { createEhrHttp } from './guard/ehr-http.ts';
import { openTls } from './guard/ehr-tls.ts';
import { createGuard } from './guard/guard.ts';
import type { EhrMetrics } from './guard/metrics.ts';
import { createPace } from './guard/pace.ts';
import { Paused } from './guard/paused.ts';
import { guardSettings, httpSettings, limitRate } from './guard/settings.ts';
import { sharedRate } from './guard/shared-rate.ts';
import { sharedTurns } from './guard/shared-turns.ts';
import { startOpening } from './opening.ts';
import { openingMistake } from './opening-mistake.ts';
import { createOutageLog } from './outage-log.ts';
import type { Pauses } from './pauses.ts';
import { sealedConnector } from './sealed-connector.ts';
import { countUnreadable } from './unreadable-records.ts';

/** All configured EHRs by id, in the order of the configuration. */
export type EhrRegistry = ReadonlyMap<string, EhrConnection>;

interface Dependencies {
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

/**
 * Opens a connection to every configured EHR. One that is unreachable is opened later.
 *
 * @throws {ConfigurationError} if a connector throws an error other than a `ConnectorError`, or returns no connector
 */
export async function openEhrRegistry(
  configuration: Pick<Configuration, 'emrs'>,
  connectors: readonly ConnectorModule[],
  dependencies: Dependencies,
): Promise<EhrRegistry> {
  const connections = await Promise.all(configuration.emrs.map((emr) => openConnection(emr, connectors, dependencies)));
  return new Map(connections.map((connection) => [connection.id, connection]));
}

async function openConnection(
  emr: ConfiguredEmr,
  connectors: readonly ConnectorModule[],
  { database, db, keys, metrics, pauses, now, log }: Dependencies,
): Promise<EhrConnection> {
  const module = connectors.find(({ name }) => name === emr.connector);
  if (!module) throw new Error(`No connector is named ${emr.connector}`);
  const pace = createPace({
    fixedRate: emr.connection.requests_per_second,
    exchange: sharedRate(db, emr.id),
    takeTurns: sharedTurns(db, emr.id),
    onThrottled: () => metrics.throttled(emr.id),
  });
  metrics.watchRate(emr.id, pace.rate);
  const tls = await openTls(emr);
  const http = createEhrHttp(httpSettings(emr.connection, tls), pace);
  const unreadable = countUnreadable(emr.id, log);
  metrics.watchUnreadable(emr.id, unreadable.counts);
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
  const watched = watchWaits(database);
  const { open } = bindConnector(module, context, watched.pool);
  const tokens = patientTokens(keys, emr.id);
  const openSealed = async () => {
    const connector = await open();
    limitRate(pace, emr.connection, connector);
    return sealedConnector(connector, keys, emr.id);
  };
  const outages = createOutageLog(emr.id, log);
  const guard = createGuard(guardSettings(emr.connection), {
    emr: emr.id,
    // A connector with tables has its EHR in the database, and a plug-in may have its own transport.
    countsEveryCall: () => module.migrations !== undefined || !http.isUsed(),
    waitsForDatabase: watched.isWaiting,
    metrics,
    paused() {
      const pause = pauses.of(emr.id);
      return pause && new Paused(pause, now());
    },
    onBreakerChange: outages.breakerChanged,
  });
  const opening = await startOpening(
    emr.id,
    () => guard.run('open', openSealed),
    log,
    () => guard.paused() !== undefined,
  ).catch((error: unknown) => {
    throw openingMistake(emr, error);
  });
  const careUnits = emr.care_units.map(careUnitConnection);
  return createConnection(
    {
      id: emr.id,
      name: emr.name,
      connector: emr.connector,
      syntheticIdentifiers: emr.synthetic_identifiers,
      reserveNumbers: emr.reserve_numbers,
      userHeader: emr.connection.user_header?.toLowerCase(),
      patientTokens: tokens,
      careUnits: new Map(careUnits.map((careUnit) => [careUnit.id, careUnit])),
      times: {
        callSeconds: (emr.connection.timeout_ms + emr.connection.queue_timeout_ms) / 1000,
        settlingSeconds: emr.connection.settling_seconds,
        giveUpSeconds: emr.connection.give_up_seconds,
      },
      changesSeconds: emr.connection.changes_seconds,
      tls,
      unreadableRecords: unreadable.counts,
      requestFailed: outages.requestFailed,
      async close() {
        opening.stop();
        outages.stop();
        await http.close();
      },
    },
    opening,
    guard,
    emr.connection.stale_time_slots_ms,
  );
}

function careUnitConnection({
  id,
  name,
  time_zone,
  language,
  default_country,
  policies,
  patient_page,
}: ConfiguredCareUnit): CareUnitConnection {
  return {
    id,
    name,
    timeZone: time_zone,
    language,
    defaultCountry: default_country,
    bookingConfirmation: policies.booking_confirmation,
    cancellationConfirmation: policies.cancellation_confirmation,
    cancellationCodeByEmail: policies.cancellation_code_by_email,
    code: {
      length: policies.code.length,
      lifetimeSeconds: policies.code.lifetime_seconds,
      attempts: policies.code.attempts,
    },
    limitsPerPatient: {
      pending: policies.limits_per_patient.pending,
      codesPerHour: policies.limits_per_patient.codes_per_hour,
    },
    patientPage: patient_page,
  };
}
