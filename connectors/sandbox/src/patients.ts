import { randomUUID } from 'node:crypto';
import {
  ConnectorError,
  emailIn,
  type Identifier,
  isSearchedFor,
  numberIn,
  type Patient,
  type PatientCreation,
  type PatientIdentifier,
  type PatientIdentifierType,
  type PatientSearch,
  patientPhones,
  spellingsOf,
  spellingsOfPhone,
  tidyName,
} from '@crossward/connector-kit';
import type { Kysely, Selectable } from 'kysely';
import type { Directory } from './directory.ts';
import type { SandboxTables } from './tables.ts';

type Db = Kysely<SandboxTables>;

/** The patient with this identifier whom somebody has created, or `null`. */
export async function findCreated(db: Db, emr: string, identifier: PatientIdentifier): Promise<Patient | null> {
  const { type, value } = identifier;
  const byId = db.selectFrom('sandbox.patients').selectAll().where('emr', '=', emr).where('id', '=', value);
  const row = await (type === 'emr_id' ? byId.executeTakeFirst() : byNumber(db, emr, { type, value }));
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
    ? all.where('phone', 'in', spellingsOfPhone(search.phone))
    : all.where('birth_date', '=', search.birthDate)
  ).execute();
  return [...directory.patients, ...created.map(patientOf)]
    .filter((patient) => isSearchedFor(patient, search))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .slice(0, search.limit);
}

/** Creates the patient, unless one with this identifier exists, and returns the one that does. */
export async function createPatient(
  db: Db,
  emr: string,
  directory: Directory,
  creation: PatientCreation,
): Promise<{ patient: Patient; isNew: boolean }> {
  const { operationId } = creation;
  const number = creation.identifier as Identifier<PatientNumberType>;
  const known = await directory.findPatient(number);
  if (!known) {
    await db
      .insertInto('sandbox.patients')
      .values({
        emr,
        id: randomUUID(),
        identifier_type: number.type,
        identifier_value: number.value,
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
  const row = await byNumber(db, emr, number);
  if (row) return { patient: patientOf(row), isNew: row.operation_id === operationId };
  // One of those that the sandbox begins with.
  if (known) return { patient: known, isNew: false };
  throw new ConnectorError('outcome_unknown', 'The patient was created and is not there');
}

type PatientNumberType = Exclude<PatientIdentifierType, 'emr_id'>;

/** The row with this number, in whatever spelling it is stored: the table can be edited as staff would. */
async function byNumber(db: Db, emr: string, number: Identifier<PatientNumberType>): Promise<Row | undefined> {
  const rows = await db
    .selectFrom('sandbox.patients')
    .selectAll()
    .where('emr', '=', emr)
    .where('identifier_type', '=', number.type)
    .where('identifier_value', 'in', spellingsOf(number))
    .execute();
  const [row, another] = rows.filter((it) => numberOf(it) === number.value);
  if (another) throw new ConnectorError('patient_ambiguous', 'The sandbox has more than one patient with this number');
  return row;
}

function numberOf({ identifier_type: type, identifier_value: value, birth_date: born }: Row): string | undefined {
  return type === 'emr_id' ? undefined : numberIn(type, value, born);
}

type Row = Selectable<SandboxTables['sandbox.patients']>;

function patientOf(row: Row): Patient {
  return {
    id: row.id,
    identifiers: [
      { type: 'emr_id', value: row.id },
      { type: row.identifier_type, value: numberOf(row) ?? row.identifier_value },
    ],
    givenName: tidyName(row.given_name) || null,
    familyName: tidyName(row.family_name) || null,
    birthDate: row.birth_date,
    gender: row.gender,
    ...patientPhones([row.phone]),
    email: emailIn(row.email),
    address: row.address,
  };
}
