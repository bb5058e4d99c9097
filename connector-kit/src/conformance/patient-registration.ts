import { randomUUID } from 'node:crypto';
import type { PatientIdentifier } from '../identifiers.ts';
import { type PatientCreation, type PatientSearch, type PatientSearchKey, patientSearchKeys } from '../patients.ts';
import type { Patient } from '../records.ts';
import { type Claim, capability, claimed } from './check.ts';
import { expectSame, expectThat, given, operation } from './expect.ts';
import { book, changes, patientId } from './steps.ts';
import type { Subject } from './subject.ts';

const limit = 20;

async function knownPatient(subject: Subject): Promise<Patient> {
  const found = await operation(subject.connector, 'findPatient')({ type: 'emr_id', value: await patientId(subject) });
  return given(found, 'the EHR does not have the given patient');
}

async function ids({ connector }: Subject, search: PatientSearch): Promise<readonly string[]> {
  return (await operation(connector, 'searchPatients')(search)).map(({ id }) => id);
}

/** Family name and birth date of the known patient. */
async function nameAndBirth(subject: Subject) {
  const { id, familyName, birthDate } = await knownPatient(subject);
  const isKnown = familyName !== null && birthDate !== null;
  return given(
    isKnown ? { id, familyName, birthDate } : undefined,
    'the given patient has no family name or birth date',
  );
}

const searchesBy =
  (key: PatientSearchKey): Claim =>
  ({ connector }) =>
    (connector.capabilities.patientSearchBy ?? patientSearchKeys).includes(key);

export const patientSearch = capability('patient-search', (connector) => connector.searchPatients !== undefined, {
  'family name and birth date find a patient, in upper and lower case': claimed(
    [searchesBy('name')],
    async (subject) => {
      const { id, familyName, birthDate } = await nameAndBirth(subject);
      for (const name of [familyName, familyName.toUpperCase(), familyName.toLowerCase()]) {
        expectThat(
          (await ids(subject, { familyName: name, birthDate, limit })).includes(id),
          'The patient is not found',
        );
      }
    },
  ),

  'a part of the name, or another birth date, finds nobody': claimed([searchesBy('name')], async (subject) => {
    const { familyName, birthDate } = await nameAndBirth(subject);
    const part = [...familyName].slice(0, -1).join('');
    expectSame(await ids(subject, { familyName: part, birthDate, limit }), [], 'Patients with a part of the name');
    const other = { familyName, birthDate: '1900-01-01', limit };
    expectSame(await ids(subject, other), [], 'Patients with another birth date');
  }),

  'a phone number finds everybody who has it, and nobody else': claimed([searchesBy('phone')], async (subject) => {
    const { id, phone } = await knownPatient(subject);
    const search = { phone: given(phone, 'the given patient has no phone number'), limit };
    const found = await operation(subject.connector, 'searchPatients')(search);
    expectThat(
      found.some((it) => it.id === id),
      'The patient is not found',
    );
    expectThat(
      found.every((it) => it.phone === phone),
      'Somebody with another phone number is found',
    );
  }),

  'a search has at most as many patients as asked for': claimed([searchesBy('name')], async (subject) => {
    const { familyName, birthDate } = await nameAndBirth(subject);
    expectSame((await ids(subject, { familyName, birthDate, limit: 1 })).length, 1, 'Number of patients');
  }),
});

/** A patient whom the EHR does not have yet. */
async function newPatient(subject: Subject): Promise<PatientCreation> {
  const { careUnit, facts, connector } = subject;
  const unused: PatientIdentifier[] = [];
  for (const number of facts.newPatients ?? []) {
    if (!(await operation(connector, 'findPatient')(number))) unused.push(number);
  }
  return {
    operationId: randomUUID(),
    careUnit,
    identifier: given(unused[0], 'no number of a new patient is given'),
    givenName: 'Åse Conformance',
    familyName: "O'Prøve",
    birthDate: '1970-10-03',
    gender: 'other',
    phone: null,
    email: 'new@patients.example',
    address: { lines: ['Storgata 1', 'Oppgang B'], postalCode: '0001', city: 'Oslo', country: 'NO' },
    ...facts.newPatient?.fields,
  };
}

export const patientCreation = capability('patient-creation', (connector) => connector.createPatient !== undefined, {
  'a new patient is found by the number, exactly as created': async (subject) => {
    const creation = await newPatient(subject);
    const { patient, isNew } = await operation(subject.connector, 'createPatient')(creation);
    expectThat(isNew, 'The patient does not count as new');
    const found = await operation(subject.connector, 'findPatient')(creation.identifier);
    const expected = {
      id: patient.id,
      identifiers: [{ type: 'emr_id', value: patient.id }, creation.identifier],
      givenName: creation.givenName,
      familyName: creation.familyName,
      birthDate: creation.birthDate,
      gender: creation.gender,
      phone: creation.phone,
      email: creation.email,
      address: creation.address,
      ...subject.facts.newPatient?.shown,
    };
    expectSame(patient, expected, 'The patient who was created');
    expectSame(found, expected, 'The patient who was found');
  },

  'several calls at a time create one patient': async (subject) => {
    const creation = await newPatient(subject);
    const create = operation(subject.connector, 'createPatient');
    const also = operation(subject.second ?? subject.connector, 'createPatient');
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, n) => (n % 2 ? also : create)({ ...creation, operationId: randomUUID() })),
    );
    expectSame(new Set(made.map(({ patient }) => patient.id)).size, 1, 'Number of patients');
    expectSame(made.filter(({ isNew }) => isNew).length, 1, 'Number of calls that have created the patient');
  },

  'a patient whom the EHR has is not changed': async (subject) => {
    const known = await knownPatient(subject);
    const number = known.identifiers.find(({ type }) => type !== 'emr_id');
    const identifier = given(number, 'the given patient has no national number');
    const creation = { ...(await newPatient(subject)), identifier };
    const { patient, isNew } = await operation(subject.connector, 'createPatient')(creation);
    expectThat(!isNew, 'A patient whom the EHR has counts as new');
    expectSame(patient.id, known.id, 'Id of the patient');
    expectSame(await knownPatient(subject), known, 'The patient afterwards');
  },

  'a patient whose number has another spelling in the EHR is not created again': async (subject) => {
    const [identifier] = given(subject.facts.numbersAsWritten, 'no number in another spelling is given');
    const found = identifier && (await operation(subject.connector, 'findPatient')(identifier));
    const known = given(found, 'the EHR does not have a given patient');
    const creation = { ...(await newPatient(subject)), identifier: given(identifier, 'no number is given') };
    const { patient, isNew } = await operation(subject.connector, 'createPatient')(creation);
    expectThat(!isNew && patient.id === known.id, 'A patient whom the EHR has is created again');
  },

  'a new patient can be booked': claimed([changes('create')], async (subject) => {
    const { patient } = await operation(subject.connector, 'createPatient')(await newPatient(subject));
    const booked = await book(subject, { patientId: patient.id });
    expectSame(booked.patientId, patient.id, 'Patient of the appointment');
  }),
});
