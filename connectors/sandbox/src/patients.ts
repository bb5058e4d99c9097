import { randomUUID } from 'node:crypto';
import {
  ConnectorError,
  type Patient,
  type PatientCreation,
  type PatientIdentifier,
  type PatientSearch,
} from '@crossward/connector-kit';
import type { Kysely, Selectable } from 'kysely';
import type { Directory } from './directory.ts';
import type { SandboxTables } from './tables.ts';

type Db = Kysely<SandboxTables>;

/** The patient with this identifier whom somebody has created, or `null`. */
export async function findCreated(db: Db, emr: string, identifier: PatientIdentifier): Promise<Patient | null> {
  const { type, value } = identifier;
  const byId = db.selectFrom('sandbox.patients').selectAll().where('emr', '=', emr).where('id', '=', value);
  const row = await (type === 'emr_id' ? byId.executeTakeFirst() : byIdentifier(db, emr, identifier));
  return row ? patientOf(row) : null;
}

export async function searchPatients(
  db: Db,
  emr: string,
  directory: Directory,
  search: PatientSearch,
): Promise<readonly Patient[]> {
  const all = db.selectFrom('sandbox.patients').selectAll().where('emr', '=', emr);
  const created = await ('phone' in search
    ? all.where('phone', '=', search.phone)
    : all.where('birth_date', '=', search.birthDate)
  ).execute();
  return [...directory.patients, ...created.map(patientOf)]
    .filter((patient) => matches(patient, search))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .slice(0, search.limit);
}

function matches({ familyName, birthDate, phone }: Patient, search: PatientSearch): boolean {
  if ('phone' in search) return phone === search.phone;
  return birthDate === search.birthDate && lower(familyName ?? '') === lower(search.familyName);
}

function lower(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** Creates the patient, unless one with this identifier exists, and returns the one that does. */
export async function createPatient(
  db: Db,
  emr: string,
  directory: Directory,
  creation: PatientCreation,
): Promise<{ patient: Patient; isNew: boolean }> {
  const { identifier, operationId } = creation;
  const known = await directory.findPatient(identifier);
  if (!known) {
    await db
      .insertInto('sandbox.patients')
      .values({
        emr,
        id: randomUUID(),
        identifier_type: identifier.type,
        identifier_value: identifier.value,
        given_name: creation.givenName,
        family_name: creation.familyName,
        birth_date: creation.birthDate,
        gender: creation.gender,
        phone: creation.phone,
        email: creation.email,
        address: creation.address && JSON.stringify(creation.address),
        operation_id: operationId,
      })
      // Another call has created the patient meanwhile.
      .onConflict((conflict) => conflict.columns(['emr', 'identifier_type', 'identifier_value']).doNothing())
      .execute();
  }
  const row = await byIdentifier(db, emr, identifier);
  if (row) return { patient: patientOf(row), isNew: row.operation_id === operationId };
  // One of those that the sandbox begins with.
  if (known) return { patient: known, isNew: false };
  throw new ConnectorError('outcome_unknown', 'The patient was created and is not there');
}

function byIdentifier(db: Db, emr: string, { type, value }: PatientIdentifier): Promise<Row | undefined> {
  return db
    .selectFrom('sandbox.patients')
    .selectAll()
    .where('emr', '=', emr)
    .where('identifier_type', '=', type)
    .where('identifier_value', '=', value)
    .executeTakeFirst();
}

type Row = Selectable<SandboxTables['sandbox.patients']>;

function patientOf(row: Row): Patient {
  return {
    id: row.id,
    identifiers: [
      { type: 'emr_id', value: row.id },
      { type: row.identifier_type, value: row.identifier_value },
    ],
    givenName: row.given_name,
    familyName: row.family_name,
    birthDate: row.birth_date,
    gender: row.gender,
    phone: row.phone,
    email: row.email,
    address: row.address,
  };
}
