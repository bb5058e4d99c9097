import { ConnectorError, type ServerDescription } from '@crossward/connector-kit';
import { sql } from 'kysely';
import packageJson from '../../package.json' with { type: 'json' };
import type { Database } from '../db/database.ts';
import type { Db } from '../db/kysely.ts';
import { writeEvents } from '../events/write-events.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { bindEmr, type ChosenEmr } from './check-connection.ts';
import type { EhrConnection } from './connection.ts';
import { type Offer, type OfferChange, offerChanges, offerOf } from './offer.ts';
import type { EhrRegistry } from './registry.ts';

interface DailyCheck {
  readonly db: Db;
  readonly keys: KeyRing;
  /** For connectors with tables of their own. */
  readonly database: Database;
  /** The EHRs of the configuration. */
  readonly emrs: () => readonly ChosenEmr[];
  readonly ehrs: EhrRegistry;
}

interface Row {
  readonly emr: string;
  readonly configured: Buffer | null;
  readonly seen: Offer | null;
  readonly unproven: Offer | null;
}

/**
 * Looks at an EHR whose daily check is due, if there is one. Writes `emr.changed` if the EHR offers something else than before, in
 * two checks that follow each other. It only reads, and asks little. Returns whether there was one.
 */
export async function checkDueEhr({ db, keys, database, emrs, ehrs }: DailyCheck): Promise<boolean> {
  const usable = emrs().filter(({ emr }) => canBeAsked(ehrs.get(emr.id)));
  const row = await claimDue(
    db,
    usable.map(({ emr }) => emr.id),
  );
  const chosen = usable.find(({ emr }) => emr.id === row?.emr);
  const ehr = row && ehrs.get(row.emr);
  if (!row || !chosen || !ehr) return false;
  const described = await describe(chosen, database);
  if (!described) return true;
  const now = offerOf(described, ehr);
  const { connector, settings } = chosen.emr;
  const hashes = keys.hashes('ehr-configuration', JSON.stringify([packageJson.version, connector, settings]));
  const isSame = hashes.some((hash) => row.configured?.equals(hash));
  const isAs = (offer: Offer | null) => offer !== null && offerChanges(offer, now).length === 0;
  if (!row.seen || !isSame) await begin(db, row.emr, hashes[0], now);
  else if (isAs(row.seen)) await keep(db, row.emr, null);
  else if (isAs(row.unproven)) await change(db, row.emr, row.seen, now);
  else await keep(db, row.emr, now);
  return true;
}

function canBeAsked(ehr: EhrConnection | undefined): boolean {
  return ehr?.isOpen === true && ehr.health().pause === undefined;
}

/** `undefined`: it cannot say so now, and is due again in an hour. */
async function describe(chosen: ChosenEmr, database: Database): Promise<ServerDescription | undefined> {
  if (!chosen.module.describe) return {};
  const bound = await bindEmr(chosen, database.pool);
  try {
    return await bound.describe();
  } catch (error) {
    if (error instanceof ConnectorError) return undefined;
    throw error;
  } finally {
    await bound.close();
  }
}

/** Another gateway, or one that was killed, takes it again in an hour. A new EHR is due at a time of the next day. */
async function claimDue(db: Db, emrs: readonly string[]): Promise<Row | undefined> {
  const { rows } = await sql<Row>`
    WITH new AS (
      INSERT INTO ehr_checks (emr, due_at)
      SELECT id, now() + random() * interval '1 day' FROM unnest(${[...emrs]}::text[]) AS ehr (id)
      WHERE NOT EXISTS (SELECT FROM ehr_checks WHERE emr = id)
      ON CONFLICT DO NOTHING)
    UPDATE ehr_checks SET due_at = now() + interval '1 hour'
    WHERE emr = (
      SELECT emr FROM ehr_checks WHERE emr = ANY(${[...emrs]}::text[]) AND due_at <= now()
      ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING emr, configured, seen, unproven`.execute(db);
  return rows[0];
}

/** Changes that nobody has noted stay. */
async function begin(db: Db, emr: string, configured: Buffer, now: Offer): Promise<void> {
  const seen = JSON.stringify(now);
  await sql`
    UPDATE ehr_checks SET due_at = now() + interval '1 day', configured = ${configured}, seen = ${seen}::jsonb,
      noted = CASE WHEN changed_at IS NULL THEN ${seen}::jsonb ELSE noted END, unproven = NULL
    WHERE emr = ${emr}`.execute(db);
}

/** @param unproven looked at again soon. `null`: nothing has changed */
async function keep(db: Db, emr: string, unproven: Offer | null): Promise<void> {
  const next = unproven ? sql`interval '15 minutes'` : sql`interval '1 day'`;
  await sql`
    UPDATE ehr_checks SET due_at = now() + ${next}, unproven = ${unproven && JSON.stringify(unproven)}::jsonb
    WHERE emr = ${emr}`.execute(db);
}

async function change(db: Db, emr: string, before: Offer, now: Offer): Promise<void> {
  const changed = offerChanges(before, now).map(({ subject }) => subject);
  await db.transaction().execute(async (tx) => {
    // Another gateway that was slow may have told it already.
    const { numAffectedRows } = await sql`
      UPDATE ehr_checks SET due_at = now() + interval '1 day', seen = ${JSON.stringify(now)}::jsonb, unproven = NULL,
        changed_at = CASE WHEN noted = ${JSON.stringify(now)}::jsonb THEN NULL ELSE coalesce(changed_at, now()) END
      WHERE emr = ${emr} AND seen = ${JSON.stringify(before)}::jsonb`.execute(tx);
    if (numAffectedRows === 0n) return;
    const data = { status: 'available' as const, changed };
    await writeEvents(tx, [{ type: 'emr.changed', emr, careUnitId: null, subject: null, data }]);
  });
}

/** An EHR that has changed since an operator last noted it. */
export interface ChangedEhr {
  readonly emr: string;
  readonly since: Date;
  readonly changes: readonly OfferChange[];
}

/** Those that no operator has noted. */
export async function readChangedEhrs(db: Db): Promise<readonly ChangedEhr[]> {
  const { rows } = await sql<{ emr: string; since: Date; noted: Offer; seen: Offer }>`
    SELECT emr, changed_at AS since, noted, seen FROM ehr_checks WHERE changed_at IS NOT NULL ORDER BY emr`.execute(db);
  return rows.flatMap(({ emr, since, noted, seen }) => {
    const changes = offerChanges(noted, seen);
    // None if everything is again as it was.
    return changes.length > 0 ? [{ emr, since, changes }] : [];
  });
}

/** Notes what has changed. Returns `false` if nothing has. */
export async function noteChanges(db: Db, emr: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    UPDATE ehr_checks SET noted = seen, changed_at = NULL WHERE emr = ${emr} AND changed_at IS NOT NULL`.execute(db);
  return numAffectedRows === 1n;
}
