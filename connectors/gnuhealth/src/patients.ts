import {
  type Address,
  ConnectorError,
  emailIn,
  type NumberType,
  numberIn,
  type Patient,
  type PatientIdentifier,
  patientPhones,
  spellingsOf,
  tidyName,
} from '@crossward/connector-kit';
import { identifiersOf, required } from '@crossward/connector-kit/rest';
import Type, { type Static } from 'typebox';
import { type Domain, equal, type RpcClient } from './rpc/client.ts';
import { idSchema, nullable, textSchema } from './rpc/rows.ts';
import { dateSchema, dateText, recordId } from './rpc/values.ts';
import type { GnuHealthSettings } from './settings.ts';

const model = 'gnuhealth.patient';
/** People whose record is out of use are found too. */
const context = { active_test: false };

const standing = { active: nullable(Type.Boolean()), deceased: nullable(Type.Boolean()) };

const patientSchema = Type.Object({
  id: idSchema,
  ...standing,
  'party.': Type.Object({
    id: idSchema,
    name: textSchema,
    lastname: textSchema,
    ref: textSchema,
    dob: nullable(dateSchema),
    gender: textSchema,
    active: standing.active,
    mobile: textSchema,
    phone: textSchema,
    email: textSchema,
  }),
});
type PatientRow = Readonly<Static<typeof patientSchema>>;

const standingSchema = Type.Object({ id: idSchema, ...standing, 'party.': Type.Object({ active: standing.active }) });

const addressSchema = Type.Object({
  id: idSchema,
  street: textSchema,
  postal_code: textSchema,
  city: textSchema,
  'country.': nullable(Type.Object({ code: textSchema })),
});

/** The patient with this identifier. */
export async function findPatient(
  rpc: RpcClient,
  { national_number }: GnuHealthSettings,
  { type, value }: PatientIdentifier,
): Promise<Patient | null> {
  const domain = type === 'emr_id' ? byId(value) : [['party.ref', 'in', spellingsOf({ type, value })]];
  if (!domain || (type !== 'emr_id' && type !== national_number)) return null;
  const rows = await rpc.searchAll({ model, row: patientSchema, domain, context });
  const row = type === 'emr_id' ? rows[0] : onlyOne(rows.filter((it) => numberOf(it, type) === value));
  return row ? toPatient(row, national_number, await addressOf(rpc, row['party.'].id)) : null;
}

/** The field is unique, but its spellings are not. A record that is out of use may be a copy of the one in use. */
function onlyOne(rows: readonly PatientRow[]): PatientRow | undefined {
  const inUse = rows.filter((it) => it.active && it['party.'].active);
  const [row, another] = inUse.length > 0 ? inUse : rows;
  if (another) throw new ConnectorError('patient_ambiguous', 'The EHR has more than one patient with this number');
  return row;
}

function numberOf({ 'party.': { ref, dob } }: PatientRow, type: NumberType): string | undefined {
  return numberIn(type, ref, dob && dateText(dob));
}

/** The record with this id, and whether something can be booked. @throws ConnectorError `patient_not_found` */
export async function requirePatient(rpc: RpcClient, patientId: string) {
  const domain = byId(patientId);
  const [row] = domain ? await rpc.searchAll({ model, row: standingSchema, domain, context }) : [];
  const found = required(row, 'patient_not_found');
  return { patient: found.id, isInactive: isInactive(found) };
}

function byId(value: string): Domain | undefined {
  const id = recordId(value);
  return id === undefined ? undefined : equal({ id });
}

function isInactive({ active, deceased, 'party.': party }: Static<typeof standingSchema>): boolean {
  return !active || !party.active || deceased === true;
}

async function addressOf(rpc: RpcClient, party: number): Promise<Address | null> {
  const domain = equal({ party });
  const [row] = await rpc.searchRead({ model: 'party.address', row: addressSchema, domain, limit: 1 });
  if (!row) return null;
  return {
    lines: (row.street ?? '').split('\n').filter((line) => line.trim() !== ''),
    postalCode: row.postal_code || null,
    city: row.city || null,
    country: row['country.']?.code || null,
  };
}

function toPatient(row: PatientRow, type: GnuHealthSettings['national_number'], address: Address | null): Patient {
  const { id, 'party.': party } = row;
  const number = type && numberOf(row, type);
  return {
    id: String(id),
    identifiers: identifiersOf(String(id), type, number),
    givenName: tidyName(party.name) || null,
    familyName: tidyName(party.lastname) || null,
    birthDate: party.dob && dateText(party.dob),
    gender: party.gender === 'm' ? 'male' : party.gender === 'f' ? 'female' : null,
    ...patientPhones([party.mobile, party.phone]),
    email: emailIn(party.email),
    address,
    ...(isInactive(row) ? { isInactive: true } : {}),
  };
}
