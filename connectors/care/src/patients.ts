import {
  ConnectorError,
  genders,
  type NumberType,
  numberIn,
  type Patient,
  type PatientCreation,
  type PatientIdentifier,
  patientPhones,
  spellingsOf,
  tidyName,
} from '@crossward/connector-kit';
import { countedRecord, identifiersOf, noAnswer, onlyPatient } from '@crossward/connector-kit/rest';
import Type, { type Static } from 'typebox';
import { Check } from 'typebox/value';
import type { Ehr } from './ehr.ts';
import { patientSchema } from './records.ts';
import { undefinedIfAbsent } from './refusals.ts';
import { isId } from './settings.ts';

const configSchema = Type.Object({ id: Type.String(), config: Type.Object({ system: Type.String() }) });
const ownedSchema = Type.Object({ config: configSchema, value: Type.String() });
const foundSchema = Type.Object({ partial: Type.Boolean(), results: Type.Array(Type.Unknown()) });

/** The types of numbers that the settings name a system for. */
export function typesOf({ settings }: Pick<Ehr, 'settings'>): readonly NumberType[] {
  return Object.keys(settings.identifier_systems ?? {});
}

export async function findPatient(ehr: Ehr, { type, value }: PatientIdentifier): Promise<Patient | null> {
  if (type === 'emr_id') return isId(value) ? byId(ehr, value) : null;
  const config = await configOf(ehr, type);
  const found: Patient[] = [];
  for (const spelling of spellingsOf({ type, value })) {
    const answer = await ehr.client.ask('patient/search/', { config, value: spelling });
    if (!Check(foundSchema, answer)) throw noAnswer();
    // The ids of such an answer are invented, and change each time.
    if (answer.partial) throw new ConnectorError('rejected', 'The EHR finds people by this number only in part');
    const patients = answer.results.map((it) => toPatient(ehr, it));
    // A configuration can find by a part of the number.
    found.push(
      ...patients.filter(({ identifiers }) => identifiers.some((it) => it.type === type && it.value === value)),
    );
  }
  return onlyPatient(found);
}

/** CARE shows a patient by id only to a user with a role in an organisation of the patient. */
async function byId(ehr: Ehr, id: string): Promise<Patient | null> {
  const found = await ehr.client.get(`patient/${id}/`).catch(undefinedIfAbsent);
  if (found === undefined) return null;
  const patient = toPatient(ehr, found);
  if (patient.id === id) return patient;
  throw new ConnectorError('rejected', 'The EHR sent another patient than the one requested');
}

/** Of the identifier configuration with the system of the settings. */
export async function configOf({ client, settings }: Ehr, type: NumberType): Promise<string> {
  const system = settings.identifier_systems?.[type];
  for await (const page of client.pages('patient_identifier_config/', {})) {
    const found = page.find(
      (it): it is Static<typeof configSchema> => Check(configSchema, it) && it.config.system === system,
    );
    if (found) return found.id;
  }
  throw new ConnectorError('rejected', 'The EHR has no identifier configuration with the system of the settings');
}

/** @throws ConnectorError `rejected` for a record that cannot be read: it may be that of somebody who has died */
function toPatient(ehr: Ehr, value: unknown): Patient {
  const { settings } = ehr;
  const record = countedRecord(ehr, 'patient', patientSchema, value);
  if (!record) throw new ConnectorError('rejected', 'The EHR sent a patient who cannot be read');
  const field = (name: string): unknown => Reflect.get(record, name);
  const text = (name: string) => tidyName(field(name)) || null;
  const born = text('date_of_birth');
  const birthDate = born && /^\d{4}-\d\d-\d\d$/.test(born) ? born : null;
  const numbers = (record.instance_identifiers ?? []).flatMap((it): PatientIdentifier[] => {
    if (!Check(ownedSchema, it)) return [];
    const type = typesOf({ settings }).find((one) => settings.identifier_systems?.[one] === it.config.config.system);
    const number = type && numberIn(type, it.value, birthDate);
    return type && number !== undefined ? [{ type, value: number }] : [];
  });
  const gender = field('gender');
  const isOther = gender === 'non_binary' || gender === 'transgender';
  const lines = [field('address')]
    .flatMap((it) => (typeof it === 'string' ? it.split('\n') : []))
    .map(tidyName)
    .filter(Boolean);
  const postalCode = field('pincode') ? String(field('pincode')) : null;
  return {
    id: record.id,
    identifiers: [...identifiersOf(record.id), ...numbers],
    // CARE has one name. Which of its words are the family's, nobody can tell.
    givenName: null,
    familyName: text('name'),
    birthDate,
    gender: isOther ? 'other' : (genders.find((it) => it === gender) ?? null),
    ...patientPhones([field('phone_number')], 'IN'),
    email: null,
    address: lines.length > 0 ? { lines, postalCode, city: null, country: null } : null,
    ...(field('deceased_datetime') ? { isInactive: true } : {}),
  };
}

/** All new patients of the EHR take turns, because CARE compares numbers without a constraint in its database. */
export async function createPatient(ehr: Ehr, creation: PatientCreation) {
  const { registration } = ehr.settings;
  const { identifier, givenName, familyName, birthDate, gender, phone, address } = creation;
  const { type, value } = identifier;
  if (!registration || type === 'emr_id') throw new ConnectorError('unsupported', 'No patients are created');
  return ehr.inTurn('patients', async () => {
    const known = await findPatient(ehr, identifier);
    if (known) return { patient: known, isNew: false };
    if (!phone) {
      const publicDetail = 'This EHR needs a phone number of a new patient.';
      throw new ConnectorError('rejected', 'The patient has no phone number', { publicDetail });
    }
    const lines = [...(address?.lines ?? []), address?.city ?? ''].filter(Boolean).join('\n');
    const made = await ehr.client.write('patient/', {
      name: `${givenName} ${familyName}`,
      gender: gender === 'male' || gender === 'female' ? gender : 'non_binary',
      phone_number: phone,
      date_of_birth: birthDate,
      address: lines,
      permanent_address: lines,
      pincode: Number(address?.postalCode) || registration.pincode,
      geo_organization: registration.geo_organization,
      identifiers: [{ config: await configOf(ehr, type), value }],
    });
    const id = countedRecord(ehr, 'patient', patientSchema, made)?.id;
    const patient = await findPatient(ehr, identifier);
    if (patient && patient.id === id) return { patient, isNew: true };
    throw new ConnectorError('outcome_unknown', 'The EHR created another patient than the one with the number');
  });
}
