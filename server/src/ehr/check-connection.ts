import {
  type Connector,
  ConnectorError,
  type EhrHttp,
  type ProbeFinding,
  type ProbeReport,
  turnsInProcess,
} from '@crossward/connector-kit';
import { watchedHttp } from '@crossward/connector-kit/conformance';
import type { PostgresPool } from 'kysely';
import type { LoadedEmr } from '../config/file/load.ts';
import { createDb } from '../db/kysely.ts';
import { type BoundConnector, bindConnector } from './bind-connector.ts';
import { certificateFinding } from './certificates.ts';
import { causeOf } from './guard/cause-of.ts';
import { createEhrHttp } from './guard/ehr-http.ts';
import { openTls } from './guard/ehr-tls.ts';
import { createPace } from './guard/pace.ts';
import { httpSettings, limitRate } from './guard/settings.ts';
import { sharedRate } from './guard/shared-rate.ts';
import { sharedTurns } from './guard/shared-turns.ts';
import { openingMistake } from './opening-mistake.ts';
import { countUnreadable, type UnreadableRecords } from './unreadable-records.ts';

/** The result of a check of one connection. */
export interface EmrCheck {
  readonly emr: string;
  readonly connector: string;
  /** Absent if the gateway has no certificate for the EHR. */
  readonly certificate?: ProbeFinding;
  /** Absent if the connector has no probe. */
  readonly probe?: ProbeReport;
  /** Records that the probe or the opening came across and could not read. */
  readonly unreadable?: readonly UnreadableRecords[];
  /** `null` if the connection could not be opened; see `error`. */
  readonly claims: (Connector['capabilities'] & { readonly operations: readonly string[] }) | null;
  readonly error?: string;
}

/** An EHR of the configuration, and its connector. */
export type ChosenEmr = LoadedEmr;

/** Its connector, and the HTTP connections that it uses. */
export interface BoundEmr extends BoundConnector {
  /** The records that the connector has left out so far. */
  unreadableRecords(): readonly UnreadableRecords[];
  readonly certificate: ProbeFinding | undefined;
  close(): Promise<void>;
}

/** Whether the connection opened, and nothing is a problem. */
export function isConnectionWell(check: EmrCheck): boolean {
  return check.claims !== null && !connectionFindings(check).some(({ status }) => status === 'problem');
}

/** What was found about the gateway's certificate, then by the probe, then about records that cannot be read. */
export function connectionFindings({ certificate, probe, unreadable = [] }: EmrCheck): readonly ProbeFinding[] {
  return [...(certificate ? [certificate] : []), ...(probe?.findings ?? []), ...unreadable.map(unreadableFinding)];
}

function unreadableFinding({ type, count, path }: UnreadableRecords): ProbeFinding {
  const detail = `${count} ${count === 1 ? 'record' : 'records'} left out, the first because of ${path}`;
  return { name: `unreadable ${type}`, status: 'warning', detail };
}

/**
 * Binds a connector to an EHR with HTTP connections of its own, apart from those of the gateway. Opening it throws a
 * ConfigurationError if the connector throws an error other than a `ConnectorError`.
 *
 * @param database with it, the requests keep to the EHR's rate together with those of the gateways
 * @param requestMade gets each request of the connector
 */
export async function bindEmr(
  { emr, module }: ChosenEmr,
  database: PostgresPool | undefined,
  requestMade?: (methodAndPath: string) => void,
): Promise<BoundEmr> {
  const tls = await openTls(emr);
  const db = database && createDb({ pool: database });
  const pace = createPace({
    fixedRate: emr.connection.requests_per_second,
    ...(db && { exchange: sharedRate(db, emr.id), takeTurns: sharedTurns(db, emr.id) }),
  });
  const http = createEhrHttp(httpSettings(emr.connection, tls), pace);
  const unreadable = countUnreadable(emr.id, undefined);
  const context = {
    emr: emr.id,
    settings: emr.settings,
    careUnits: emr.care_units.map(({ id, time_zone, settings }) => ({ id, timeZone: time_zone, settings })),
    // The conformance kit lets requests fail. Otherwise it does nothing.
    http: watchedHttp(requestMade ? toldHttp(http, requestMade) : http),
    now: () => new Date(),
    leftOut: unreadable.leftOut,
    inTurn: turnsInProcess(),
  };
  const bound = bindConnector(module, context, database);
  return {
    ...bound,
    unreadableRecords: unreadable.counts,
    certificate: certificateFinding(tls, new Date()),
    async open() {
      const connector = await bound.open().catch((error: unknown) => {
        throw error instanceof ConnectorError ? error : openingMistake(emr, error);
      });
      limitRate(pace, emr.connection, connector);
      return connector;
    },
    close: () => http.close(),
  };
}

/** Tells the method and the path of each request, without its query. */
function toldHttp(http: EhrHttp, requestMade: (methodAndPath: string) => void): EhrHttp {
  const tell = ({ method, url }: Parameters<EhrHttp['send']>[0]) => requestMade(`${method} ${new URL(url).pathname}`);
  return {
    send(request) {
      tell(request);
      return http.send(request);
    },
    stream(request) {
      tell(request);
      return http.stream(request);
    },
  };
}

/** Checks the server of an EHR and opens the connection. Changes nothing in the EHR. */
export async function checkConnection(chosen: ChosenEmr, database: PostgresPool | undefined): Promise<EmrCheck> {
  const { certificate, probe: runProbe, open, unreadableRecords, close } = await bindEmr(chosen, database);
  try {
    // Probe before opening, so that a rejected connection is reported as a finding.
    const probe = await runProbe();
    const found = {
      emr: chosen.emr.id,
      connector: chosen.module.name,
      ...(certificate && { certificate }),
      ...(probe && { probe }),
    };
    try {
      const { capabilities, ...operations } = await open();
      const unreadable = unreadableRecords();
      return { ...found, unreadable, claims: { ...capabilities, operations: Object.keys(operations) } };
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error;
      return { ...found, claims: null, error: `${error.kind}: ${causeOf(error)}` };
    }
  } finally {
    await close();
  }
}
