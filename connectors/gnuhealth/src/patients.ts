import type { Address, Patient, PatientIdentifier } from '@crossward/connector-kit';
import { formsOf, numberIn } from './national-numbers.ts';
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
  // The field is unique, but its forms are not. One number of two people is nobody's.
  const [row, another] = rows;
  if (!row || another) return null;
  return toPatient(row, national_number, await addressOf(rpc, row['party.'].id));
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
  return [['party.ref', 'in', formsOf(type, value)]];
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
  const number = type && numberIn(type, party.ref);
  const identifiers: PatientIdentifier[] = [{ type: 'emr_id', value: String(id) }];
  if (type && number !== undefined) identifiers.push({ type, value: number });
  return {
    id: String(id),
    identifiers,
    givenName: party.name || null,
    familyName: party.lastname || null,
    birthDate: party.dob && dateText(party.dob),
    gender: party.gender === 'm' ? 'male' : party.gender === 'f' ? 'female' : null,
    ...phoneIn(party),
    email: party.email || null,
    address,
    ...(isInactive(row) ? { isInactive: true } : {}),
  };
}

/** The mobile number before the other one, and one with its country code before one without. */
function phoneIn({ mobile, phone }: PatientRow['party.']): Pick<Patient, 'phone' | 'nationalPhone'> {
  const numbers = [mobile, phone].map((text) => (text ?? '').replaceAll(/[\s().-]/g, '').replace(/^00/, '+'));
  const whole = numbers.find((number) => /^\+[1-9]\d{4,14}$/.test(number));
  if (whole !== undefined) return { phone: whole };
  const national = numbers.find((number) => /^\d{4,14}$/.test(number));
  return { phone: null, ...(national === undefined ? {} : { nationalPhone: national }) };
}
