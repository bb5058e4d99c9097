import { ConnectorError } from '@crossward/connector-kit';
import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';

/** A pause of an EHR by operators: the gateway does not call it. */
export interface Pause {
  readonly since: Date;
  /** `null`: until operators resume it. */
  readonly until: Date | null;
}

/** The pauses that are in effect, as this process knows them. No call costs a statement. */
export interface Pauses {
  of(emr: string): Pause | undefined;
  /** Reads them. Afterwards, every change committed before the call is in effect. */
  refresh(): Promise<void>;
  /** Begins a reading by somebody else, and returns what takes its result. */
  reading(): (pauses: readonly PausedEhr[]) => void;
}

export interface PausedEhr extends Pause {
  readonly emr: string;
}

/** Seconds after which a caller may ask again if the end of a pause is not known. */
const unknownEndSeconds = 60;

/** Operators have paused the EHR. The call was not made. */
export class Paused extends ConnectorError {
  readonly pause: Pause;

  /** @param now the database's time */
  constructor(pause: Pause, now: Date) {
    const { until } = pause;
    const seconds = until ? Math.ceil((until.getTime() - now.getTime()) / 1000) : unknownEndSeconds;
    super('unavailable', 'Operators have paused the EHR', { retryAfterSeconds: Math.max(1, seconds) });
    this.pause = pause;
  }
}

/** What keeps calls from an EHR: a pause by operators, or that its connection is replaced. */
export function callPauses(pauses: Pauses, emr: string, now: () => Date) {
  let refusesSince: Date | undefined;
  return {
    paused(): Paused | undefined {
      const pause = refusesSince ? { since: refusesSince, until: null } : pauses.of(emr);
      return pause && new Paused(pause, now());
    },
    refuseCalls() {
      refusesSince ??= now();
    },
  };
}

/** A condition on `ehr_pauses`. */
export const inEffect = sql<boolean>`(paused_until IS NULL OR paused_until > now())`;

/** Reads the pauses that are in effect. */
export async function readPauses(db: Db): Promise<readonly PausedEhr[]> {
  const { rows } = await sql<PausedEhr>`
    SELECT emr, paused_at AS since, paused_until AS until FROM ehr_pauses WHERE ${inEffect}`.execute(db);
  return rows;
}

/** @param now the database's time */
export function createPauses(db: Db, now: () => Date): Pauses {
  let known: ReadonlyMap<string, Pause> = new Map();
  let startedReads = 0;
  let appliedRead = 0;

  function reading() {
    const order = ++startedReads;
    return (rows: readonly PausedEhr[]) => {
      // A read that started later may have ended earlier, with newer data.
      if (order < appliedRead) return;
      appliedRead = order;
      known = new Map(rows.map(({ emr, since, until }) => [emr, { since, until }]));
    };
  }

  return {
    reading,
    of(emr) {
      const pause = known.get(emr);
      return pause && (pause.until === null || now() < pause.until) ? pause : undefined;
    },
    async refresh() {
      const apply = reading();
      apply(await readPauses(db));
    },
  };
}

/**
 * Pauses an EHR, or changes the end of its pause. Returns `false`, and changes nothing, if that end has passed.
 *
 * @param until `null`: until operators resume it
 */
export async function pauseEhr(db: Db, emr: string, until: Date | null): Promise<boolean> {
  const { rows } = await sql`
    INSERT INTO ehr_pauses AS known (emr, paused_until)
    SELECT ${emr}, it.until FROM (SELECT ${until}::timestamptz AS until) AS it WHERE it.until IS NULL OR it.until > now()
    ON CONFLICT (emr) DO UPDATE SET paused_until = excluded.paused_until,
      paused_at = CASE WHEN known.paused_until <= now() THEN excluded.paused_at ELSE known.paused_at END
    RETURNING true`.execute(db);
  return rows.length > 0;
}

/** Ends the pause of an EHR. Returns whether it was paused. */
export async function resumeEhr(db: Db, emr: string): Promise<boolean> {
  const { rows } = await sql<{ was_paused: boolean }>`
    DELETE FROM ehr_pauses WHERE emr = ${emr} RETURNING coalesce(paused_until > now(), true) AS was_paused`.execute(db);
  return rows[0]?.was_paused ?? false;
}
