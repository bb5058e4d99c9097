import { sql } from 'kysely';
import type { ConfiguredAccess } from '../../config/configuration.ts';
import { isMapping } from '../../config/mistakes/mistake.ts';
import type { Db } from '../../db/kysely.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import { textOfFacts } from '../../secrets/proofs.ts';

/** The secrets of an EHR by their names: those of `{ env: NAME }` in its definition. */
export type SecretsByName = Readonly<Record<string, string>>;

/** What a row says. */
export interface EmrFacts {
  readonly id: string;
  /** As in the configuration file, in the order of its keys. That of a draft can have any mistake. */
  readonly definition: unknown;
  /** Whether gateways connect to it. Otherwise it is a draft. */
  readonly isOpen: boolean;
}

/** An EHR that operators manage. */
export interface StoredEmr extends EmrFacts {
  /** `undefined`: its secret key is unknown here, or somebody else than a gateway has written the row. It opens nothing. */
  readonly secrets: SecretsByName | undefined;
  /** Differs after each change. */
  readonly version: string;
  readonly changedAt: Date;
}

/** The text with which the secrets of a row are authenticated: whoever can only write to the database cannot change the rest. */
function factsAsText({ id, definition, isOpen }: EmrFacts): string {
  return textOfFacts({ id, definition, isOpen });
}

export function sealSecrets(keys: KeyRing, facts: EmrFacts, secrets: SecretsByName): Buffer {
  return keys.seal('emr', JSON.stringify(secrets), factsAsText(facts));
}

export function selectStored(db: Db) {
  return db
    .selectFrom('stored_emrs')
    .select(['id', 'definition', 'is_open as isOpen', 'sealed_secrets', 'version', 'changed_at as changedAt'])
    .orderBy('id');
}
type Row = Awaited<ReturnType<ReturnType<typeof selectStored>['execute']>>[number];

export function openRow(keys: KeyRing, { sealed_secrets, ...row }: Row): StoredEmr {
  const text = keys.open('emr', sealed_secrets, factsAsText(row));
  return { ...row, secrets: text === undefined ? undefined : (JSON.parse(text) as SecretsByName) };
}

/** All of them, by id, with the revision that they have at least. */
export async function readStoredEmrs(db: Db, keys: KeyRing): Promise<StoredEmrs> {
  // Read first: with rows that are newer than it, they are only read once more.
  const { rows } = await sql<{ revision: string | null }>`SELECT ${storedRevision} AS revision`.execute(db);
  const found = await selectStored(db).execute();
  return { revision: rows[0]?.revision ?? null, emrs: found.map((row) => openRow(keys, row)) };
}

export interface StoredEmrs {
  /** `null`: none was ever stored. */
  readonly revision: string | null;
  readonly emrs: readonly StoredEmr[];
}

/** What can be granted of the stored EHRs that are open. No secret key is needed, so nothing of it is proven. */
export async function readStoredNames(db: Db): Promise<ConfiguredAccess['emrs']> {
  const rows = await selectStored(db).where('is_open', '=', true).execute();
  return rows.map(({ id, definition }) => {
    const { name, care_units: careUnits } = isMapping(definition) ? definition : {};
    const units = (Array.isArray(careUnits) ? careUnits : []).filter(isMapping);
    return {
      id,
      name: String(name),
      care_units: units.map((unit) => ({ id: String(unit.id), name: String(unit.name) })),
    };
  });
}

/** Differs after each change of a stored EHR. */
export const storedRevision = sql<string | null>`(SELECT revision FROM stored_emrs_revision)`;

/**
 * Encrypts again, with the newest secret key, what is encrypted with an older one, so that the older one can be removed. Returns the ids
 * of those that cannot be decrypted.
 */
export async function resealEmrs(db: Db, keys: KeyRing): Promise<readonly string[]> {
  const unreadable: string[] = [];
  for (const row of await selectStored(db).execute()) {
    if (keys.isUnderNewest(row.sealed_secrets)) continue;
    const { secrets } = openRow(keys, row);
    if (!secrets) {
      unreadable.push(row.id);
      continue;
    }
    // Unless somebody has changed it meanwhile: the next round takes it.
    await db
      .updateTable('stored_emrs')
      .set({ sealed_secrets: sealSecrets(keys, row, secrets) })
      .where('id', '=', row.id)
      .where('sealed_secrets', '=', row.sealed_secrets)
      .execute();
  }
  return unreadable;
}
