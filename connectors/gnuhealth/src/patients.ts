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
import type { Domain, RpcClient } from './rpc/client.ts';
import { dateText, type RpcDate, recordId } from './rpc/values.ts';
import type { GnuHealthSettings } from './settings.ts';

interface PatientRow {
  readonly id: number;
  readonly active: boolean;
  readonly deceased: boolean;
  readonly 'party.': {
    readonly id: number;
    readonly name: string | null;
    readonly lastname: string | null;
    readonly ref: string | null;
    readonly dob: RpcDate | null;
    readonly gender: string | null;
    readonly active: boolean;
    readonly mobile: string | null;
    readonly phone: string | null;
    readonly email: string | null;
  };
}

interface AddressRow {
  readonly id: number;
  readonly street: string | null;
  readonly postal_code: string | null;
  readonly city: string | null;
  readonly 'country.'?: { readonly code: string | null } | null;
}

const partyFields = ['name', 'lastname', 'ref', 'dob', 'gender', 'active', 'mobile', 'phone', 'email'];

/** The patient with this identifier. People whose record is out of use are found too. */
export async function findPatient(
  rpc: RpcClient,
  { national_number }: GnuHealthSettings,
  { type, value }: PatientIdentifier,
): Promise<Patient | null> {
  const domain = type === 'emr_id' ? byId(value) : type === national_number ? byNumber(type, value) : undefined;
  if (!domain) return null;
  const rows = await rpc.searchRead<PatientRow>({
    model: 'gnuhealth.patient',
    domain,
    fields: ['active', 'deceased', ...partyFields.map((field) => `party.${field}`)],
    context: { active_test: false },
  });
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

/** Whether there is a patient with this id, and whether something can be booked. */
export async function standingOf(rpc: RpcClient, patientId: string): Promise<'active' | 'inactive' | 'unknown'> {
  const domain = byId(patientId);
  if (!domain) return 'unknown';
  const [row] = await rpc.searchRead<Pick<PatientRow, 'id' | 'active' | 'deceased' | 'party.'>>({
    model: 'gnuhealth.patient',
    domain,
    fields: ['active', 'deceased', 'party.active'],
    context: { active_test: false },
  });
  if (!row) return 'unknown';
  return isInactive(row) ? 'inactive' : 'active';
}

function byId(value: string): Domain | undefined {
  const id = recordId(value);
  return id === undefined ? undefined : [['id', '=', id]];
}

function byNumber(type: NonNullable<GnuHealthSettings['national_number']>, value: string): Domain {
  return [['party.ref', 'in', spellingsOf({ type, value })]];
}

function isInactive({ active, deceased, 'party.': party }: PatientRow): boolean {
  return !active || !party.active || deceased;
}

async function addressOf(rpc: RpcClient, party: number): Promise<Address | null> {
  const [row] = await rpc.searchRead<AddressRow>({
    model: 'party.address',
    domain: [['party', '=', party]],
    fields: ['street', 'postal_code', 'city', 'country.code'],
    limit: 1,
  });
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
  const identifiers: PatientIdentifier[] = [{ type: 'emr_id', value: String(id) }];
  if (type && number !== undefined) identifiers.push({ type, value: number });
  return {
    id: String(id),
    identifiers,
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
