import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { AuditedAccess } from '../context/work-context.ts';
import { isIdAfter } from '../db/few-rows.ts';
import type { Db, Tx } from '../db/kysely.ts';
import { statement } from '../db/statement.ts';
import type { AccessColumns, AuditTables } from '../db/tables/audit.ts';
import type { AuditKey } from './audit-keys.ts';

/** An access that is not stored yet. */
export interface NewDraft extends AccessColumns {
  readonly writer_id: string;
  readonly key_id: string;
  readonly mac: Buffer;
}

/** An access that is stored, but not linked into a chain. */
export type StoredDraft = Omit<Selectable<AuditTables['audit_drafts']>, 'writer_id' | 'written_at'>;

/** @param writerId the process */
export function newDraft(key: AuditKey, writerId: string, access: AuditedAccess): NewDraft {
  const columns = columnsOf(key, new Date(), access);
  return { ...columns, writer_id: writerId, key_id: key.id, mac: macOf(key, columns) };
}

function macOf(key: AuditKey, columns: AccessColumns): Buffer {
  return key.sign(JSON.stringify(['draft', ...contentOf(columns), columns.operation_id]));
}

/** Whether a gateway has written the draft, as it is. */
export function isGenuine(key: AuditKey, draft: StoredDraft): boolean {
  return macOf(key, draft).equals(draft.mac);
}

/** Drafts as JSON text, for `insertedDrafts`. `of`: the row whose change they belong to, if there is one. */
export function draftsText(changes: readonly { readonly id: string; readonly drafts: readonly NewDraft[] }[]): string {
  return JSON.stringify(
    changes.flatMap(({ id, drafts }) =>
      drafts.map(({ patient_hashes, mac, ...draft }) => ({
        of: id,
        ...draft,
        patient_hashes: patient_hashes.map(byteaOf),
        mac: byteaOf(mac),
      })),
    ),
  );
}

/** As PostgreSQL reads it (PostgreSQL, "bytea Hex Format"). */
function byteaOf(bytes: Buffer): string {
  return `\\x${bytes.toString('hex')}`;
}

/**
 * The INSERT of drafts, also as a part of another statement.
 *
 * @param drafts from `draftsText`
 * @param condition on `draft.of`
 */
export function insertedDrafts(drafts: string, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    INSERT INTO audit_drafts (writer_id, key_id, mac, at, actor_kind, client_id, operation, emr, care_unit_id, patient_hashes,
      record_ids, outcome, request_id, operation_id)
    SELECT writer_id, key_id, mac, at, actor_kind, client_id, operation, emr, care_unit_id, patient_hashes, record_ids,
      outcome, request_id, operation_id
    FROM json_to_recordset(${drafts}::json) AS draft (
      of text, writer_id uuid, key_id uuid, mac bytea, at timestamptz, actor_kind text, client_id text, operation text, emr text,
      care_unit_id text, patient_hashes bytea[], record_ids text[], outcome text, request_id text, operation_id uuid)
    WHERE ${condition}`;
}

interface Insertion {
  readonly drafts: string;
}

const insert = statement((_db, { drafts }: Insertion) => sql`${insertedDrafts(drafts, sql`true`)}`);
const insertRelaxed = statement(
  (_db, { drafts }: Insertion) => sql`
    WITH relaxed AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
    ${insertedDrafts(drafts, sql`(SELECT true FROM relaxed)`)}`,
);

/** Stores drafts by a statement of their own. */
export async function insertDrafts(db: Db | Tx, drafts: readonly NewDraft[]): Promise<void> {
  if (drafts.length > 0) await insert(db, { drafts: draftsText([{ id: '', drafts }]) });
}

/**
 * Like `insertDrafts`, but the commit does not wait for the disk. A gateway that is killed loses nothing; a database server
 * that crashes can lose the last moments.
 */
export async function insertDraftsWithoutSync(db: Db, drafts: readonly NewDraft[]): Promise<void> {
  await insertRelaxed(db, { drafts: draftsText([{ id: '', drafts }]) });
}

interface Selection {
  readonly keyId: string;
  readonly writerId: string;
  /** Drafts that are not genuine. */
  readonly except: readonly number[];
  /** Drafts up to this id are not read. */
  readonly after: number;
  readonly limit: number;
}

/** Seconds after which a process links the drafts of another one, which was killed or is frozen. */
const adoptionSeconds = 5;

/** Drafts of this process in the order of writing, and those that others have not linked. */
export async function readUnlinkedDrafts(db: Db, selection: Selection): Promise<StoredDraft[]> {
  const { rows } = await selectUnlinked(db, selection);
  return (rows[0]?.drafts ?? []).map(({ at, mac, patient_hashes, ...draft }) => ({
    ...draft,
    at: new Date(at),
    mac: Buffer.from(mac, 'hex'),
    patient_hashes: patient_hashes.map((hash) => Buffer.from(hash, 'hex')),
  }));
}

type DraftInJson = Omit<StoredDraft, 'at' | 'mac' | 'patient_hashes'> & {
  readonly at: string;
  /** Hexadecimal, as the hashes. */
  readonly mac: string;
  readonly patient_hashes: readonly string[];
};

// As one JSON text, which takes less time to read than rows with dates and arrays.
const selectUnlinked = statement(
  (_db, { keyId, writerId, except, after, limit }: Selection) => sql<{ drafts: readonly DraftInJson[] | null }>`
    SELECT json_agg(draft) AS drafts FROM (
      SELECT id, key_id, encode(mac, 'hex') AS mac, at, actor_kind, client_id, operation, emr, care_unit_id,
        ARRAY(SELECT encode(it, 'hex') FROM unnest(patient_hashes) AS it) AS patient_hashes, record_ids, outcome, request_id,
        operation_id
      FROM audit_drafts
      WHERE key_id = ${keyId}::uuid AND ${isIdAfter('id', after)} AND NOT id = ANY(${except}::bigint[])
        AND (writer_id = ${writerId}::uuid OR written_at < now() - ${sql.lit(`${adoptionSeconds} seconds`)}::interval)
      ORDER BY id LIMIT ${limit}::int) AS draft`,
);

/**
 * What a background job did with a write, besides completing it (`success`).
 *
 * - `not_done`: the EHR has not made the write
 * - `undone`: the gateway has reverted it
 * - `looked_up`: the outcome is not known yet
 */
export type BackgroundOutcome = 'not_done' | 'undone' | 'looked_up';

/**
 * What the entry of an access contains.
 *
 * @internal for the tests
 */
export function columnsOf(key: AuditKey, at: Date, access: AuditedAccess): AccessColumns {
  const { emr } = access;
  return {
    at,
    actor_kind: access.actor,
    client_id: access.clientId,
    operation: access.operation,
    emr,
    care_unit_id: access.careUnitId,
    patient_hashes: [...new Set(access.patients)]
      .sort(ownIdFirst)
      .map((identifier) => key.hashPatient(emr, identifier)),
    record_ids: [...new Set(access.records)].map(storable),
    outcome: access.outcome,
    request_id: access.requestId,
    operation_id: access.writeId ?? null,
  };
}

/** The EHR's own id stands for the patient in exports. */
function ownIdFirst(one: string, other: string): number {
  return Number(other.startsWith('emr_id:')) - Number(one.startsWith('emr_id:'));
}

/** PostgreSQL stores neither NUL nor half a surrogate pair. An EHR's id has none of these, unless its connector is wrong. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** The content of an access as a list that can be hashed. */
export function contentOf(access: Omit<AccessColumns, 'operation_id'>): unknown[] {
  return [
    access.at.getTime(),
    access.actor_kind,
    access.client_id,
    access.operation,
    access.emr,
    access.care_unit_id,
    access.patient_hashes.map((hash) => hash.toString('hex')),
    access.record_ids,
    access.outcome,
    access.request_id,
  ];
}
