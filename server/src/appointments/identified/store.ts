import { sql } from 'kysely';
import type { Db, Tx } from '../../db/kysely.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import type { Work } from '../../writes/write-kind.ts';

/** What a client calls an appointment: https://hl7.org/fhir/R4/datatypes.html#Identifier */
export interface ClientIdentifier {
  readonly system: string;
  readonly value: string;
}

/** An appointment by the id by which callers know it. */
export interface NamedAppointment {
  readonly emr: string;
  readonly careUnitId: string;
  readonly id: string;
}

/** Of one client: another one does not find it. */
function textOf(clientId: string, { system, value }: ClientIdentifier): string {
  return JSON.stringify([clientId, system, value]);
}

function contextOf(clientId: string, emr: string): string {
  return `identifier of an appointment of ${emr} by ${clientId}`;
}

/** Keeps the identifiers of an appointment, each once. */
export async function keepIdentifiers(
  tx: Tx,
  { services: { keys }, clientId, ehr, careUnit }: Work,
  id: string,
  identifiers: readonly ClientIdentifier[],
): Promise<void> {
  for (const it of identifiers) {
    const [hash] = keys.hashes('identifier-hash', textOf(clientId, it));
    const sealed = keys.seal('identifier', JSON.stringify(it), contextOf(clientId, ehr.id));
    await sql`
      INSERT INTO appointment_identifiers (client_id, emr, care_unit_id, appointment_id, identifier_hash, sealed_identifier)
      VALUES (${clientId}, ${ehr.id}, ${careUnit.id}, ${id}, ${hash}, ${sealed}) ON CONFLICT DO NOTHING`.execute(tx);
  }
}

/** The identifiers that a client has given appointments of an EHR, by their ids. */
export async function identifiersOf(
  { db, keys }: { readonly db: Db; readonly keys: KeyRing },
  clientId: string,
  emr: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly ClientIdentifier[]>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{ appointment_id: string; sealed_identifier: Buffer }>`
    SELECT appointment_id, sealed_identifier FROM appointment_identifiers
    WHERE emr = ${emr} AND appointment_id = ANY(${ids}::text[]) AND client_id = ${clientId}
    ORDER BY created_at, identifier_hash`.execute(db);
  const found = rows.flatMap(({ appointment_id: id, sealed_identifier: sealed }) => {
    const text = keys.open('identifier', sealed, contextOf(clientId, emr));
    return text === undefined ? [] : [{ id, identifier: JSON.parse(text) as ClientIdentifier }];
  });
  const byId = Map.groupBy(found, ({ id }) => id);
  return new Map([...byId].map(([id, entries]) => [id, entries.map(({ identifier }) => identifier)]));
}

/** The appointments that a client has given one of these identifiers. Under keys that were replaced, too. */
export async function appointmentsNamed(
  { db, keys }: { readonly db: Db; readonly keys: KeyRing },
  clientId: string,
  identifiers: readonly ClientIdentifier[],
): Promise<readonly NamedAppointment[]> {
  const hashes = identifiers.flatMap((it) => keys.hashes('identifier-hash', textOf(clientId, it)));
  const { rows } = await sql<NamedAppointment>`
    SELECT DISTINCT emr, care_unit_id AS "careUnitId", appointment_id AS id FROM appointment_identifiers
    WHERE identifier_hash = ANY(${hashes}::bytea[]) AND client_id = ${clientId} ORDER BY id`.execute(db);
  return rows;
}

/** The identifiers of an appointment that was moved are those of the one that was booked for it. */
export async function moveIdentifiers(tx: Tx, emr: string, formerId: string, id: string): Promise<void> {
  await sql`UPDATE appointment_identifiers SET appointment_id = ${id}
    WHERE emr = ${emr} AND appointment_id = ${formerId}`.execute(tx);
}

/** Deletes those of appointments of which no event is kept, at most `limit`. @param days that events are kept */
export async function deleteOldIdentifiers(db: Db, days: number, limit: number): Promise<void> {
  await sql`
    DELETE FROM appointment_identifiers WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM appointment_identifiers AS old
      WHERE created_at < now() - make_interval(days => ${days})
        AND NOT EXISTS (SELECT FROM events WHERE emr = old.emr AND subject = old.appointment_id)
      ORDER BY created_at LIMIT ${limit}))`.execute(db);
}
