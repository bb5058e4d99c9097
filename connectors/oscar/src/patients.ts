import {
  ConnectorError,
  emailIn,
  type Gender,
  numberIn,
  type Patient,
  type PatientIdentifier,
  patientPhones,
  spellingsOf,
  tidyName,
} from '@crossward/connector-kit';
import { identifiersOf, onlyPatient } from '@crossward/connector-kit/rest';
import type { Ehr } from './ehr.ts';
import { demographicSchema, type Fields, fieldsOf, recordIn } from './records.ts';
import { isId } from './settings.ts';

export const numberType = 'ca_on_hcn';
/** The search has no order, so a page must have all. */
const mostFound = 500;
/** Merged records name the one that has replaced them. */
const mostHeads = 5;

export async function findPatient(ehr: Ehr, identifier: PatientIdentifier): Promise<Patient | null> {
  if (identifier.type === 'emr_id') return isId(identifier.value) ? byId(ehr, identifier.value) : null;
  const found: Patient[] = [];
  for (const spelling of spellingsOf(identifier)) {
    // Finds every number that contains this text.
    const other = [null, null, null, null, null, null, null, null, null];
    const answer = await ehr.client.ask('Demographic.searchDemographicsByAttributes', spelling, ...other, 0, mostFound);
    if (answer.length >= mostFound) throw new ConnectorError('rejected', 'The EHR finds too many by this number');
    const records = answer.map((it) => patientIn(ehr, fieldsOf(it)));
    for (const { patient, head } of records) {
      if (!patient.identifiers.some(({ type, value }) => type === identifier.type && value === identifier.value))
        continue;
      const now = head ? await byId(ehr, head) : patient;
      const replaces = head ? { replaces: [...(now?.replaces ?? []), ...patient.identifiers] } : {};
      if (now) found.push({ ...now, ...replaces });
    }
  }
  return onlyPatient(found);
}

/** The patient, or the one with whom the record was merged. */
async function byId(ehr: Ehr, id: string): Promise<Patient | null> {
  const merged: PatientIdentifier[] = [];
  for (let wanted = id; merged.length < mostHeads; ) {
    const [answer] = await ehr.client.ask('Demographic.getDemographic2', Number(wanted));
    if (!answer) return null;
    const { patient, head } = patientIn(ehr, fieldsOf(answer));
    if (patient.id !== wanted)
      throw new ConnectorError('rejected', 'The EHR sent another patient than the one requested');
    if (head === undefined) return merged.length > 0 ? { ...patient, replaces: merged } : patient;
    merged.push({ type: 'emr_id', value: wanted });
    wanted = head;
  }
  throw new ConnectorError('rejected', 'The record of the patient was merged with too many others');
}

const genders: Readonly<Record<string, Gender>> = { M: 'male', F: 'female', X: 'other', O: 'other', U: 'unknown' };

/** @throws ConnectorError `rejected` for a record that cannot be read: it may be that of somebody who has died */
function patientIn({ leftOut }: Ehr, fields: Fields): { readonly patient: Patient; readonly head: string | undefined } {
  const record = recordIn('demographic', demographicSchema, fields, leftOut);
  if (!record) throw new ConnectorError('rejected', 'The EHR sent a patient who cannot be read');
  const { demographicNo: id } = record;
  const field = (name: string) => tidyName(fields[name]) || null;
  const { yearOfBirth = '', monthOfBirth = '', dateOfBirth = '', headRecord = '', patientStatus, hcType } = fields;
  const born = [yearOfBirth.padStart(4, '0'), monthOfBirth.padStart(2, '0'), dateOfBirth.padStart(2, '0')].join('-');
  const number = hcType === 'ON' ? numberIn(numberType, fields.hin) : undefined;
  const [street, city, postalCode] = ['address', 'city', 'postal'].map(field);
  const patient: Patient = {
    id,
    identifiers: identifiersOf(id, numberType, number),
    givenName: field('firstName'),
    familyName: field('lastName'),
    birthDate: isDate(born) ? born : null,
    gender: genders[fields.sex ?? ''] ?? null,
    ...patientPhones([fields.cellPhone, fields.phone, fields.phone2], 'CA'),
    email: emailIn(fields.email),
    address: street ? { lines: [street], postalCode: postalCode ?? null, city: city ?? null, country: null } : null,
    ...(patientStatus && patientStatus !== 'AC' ? { isInactive: true } : {}),
  };
  return { patient, head: isId(headRecord) && headRecord !== id ? headRecord : undefined };
}

function isDate(text: string): boolean {
  const time = /^[12]\d{3}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
