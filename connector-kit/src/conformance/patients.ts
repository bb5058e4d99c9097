import { identifierFault, type PatientIdentifier } from '../identifiers.ts';
import { capability } from './check.ts';
import { expectRejection, expectSame, expectThat, given, operation } from './expect.ts';
import { patientId } from './steps.ts';
import type { Subject } from './subject.ts';

const nobody: readonly PatientIdentifier[] = [{ type: 'emr_id', value: 'no-such-patient' }];

function named({ facts, connector }: Subject): readonly PatientIdentifier[] {
  const { patientIdentifierTypes } = connector.capabilities;
  return given(facts.patient, 'no patient is given').filter(({ type }) => patientIdentifierTypes.includes(type));
}

export const patients = capability('patients', (connector) => connector.findPatient !== undefined, {
  'every identifier of a patient finds the same patient': async (subject) => {
    const id = await patientId(subject);
    for (const identifier of named(subject)) {
      const found = await operation(subject.connector, 'findPatient')(identifier);
      expectThat(found !== null, `The known patient is not found by ${identifier.type}`);
      expectThat(found.id === id, `The ${identifier.type} of the known patient finds another patient`);
    }
  },

  'every claimed identifier type finds a patient': async (subject) => {
    const types = named(subject).map(({ type }) => type);
    const missing = subject.connector.capabilities.patientIdentifierTypes.filter((type) => !types.includes(type));
    given(missing.length === 0 || undefined, `no patient with ${missing.join(', ')} is given`);
  },

  'a patient lists all identifiers, emr_id first': async (subject) => {
    const id = await patientId(subject);
    const found = await operation(subject.connector, 'findPatient')({ type: 'emr_id', value: id });
    expectThat(found !== null, 'The known patient is not found by emr_id');
    expectSame(found.identifiers[0]?.type, 'emr_id', 'Type of the first identifier');
    expectThat(found.identifiers[0]?.value === id, 'The first identifier is not the id of the patient');
    for (const { type, value } of named(subject)) {
      const shown = found.identifiers.some((it) => it.type === type && it.value === value);
      expectThat(shown, `The ${type} of the known patient is not among the identifiers`);
    }
  },

  'the id of a patient can be sent in a request': async (subject) => {
    for (const identifier of named(subject)) {
      const found = await operation(subject.connector, 'findPatient')(identifier);
      const fault = found ? identifierFault(found.id) : undefined;
      expectThat(fault === undefined, `The id of the known patient ${fault}`);
    }
  },

  'a birth date is YYYY-MM-DD and a phone number is E.164, or null': async (subject) => {
    const found = await operation(
      subject.connector,
      'findPatient',
    )({ type: 'emr_id', value: await patientId(subject) });
    expectThat(found !== null, 'The known patient is not found by emr_id');
    expectThat(
      found.birthDate === null || /^\d{4}-\d{2}-\d{2}$/.test(found.birthDate),
      'A birth date is not YYYY-MM-DD',
    );
    expectThat(found.phone === null || /^\+[1-9]\d{4,14}$/.test(found.phone), 'A phone number is not E.164');
  },

  'a number that the EHR has in another spelling finds its patient': async ({ facts, connector }) => {
    const find = operation(connector, 'findPatient');
    for (const identifier of given(facts.numbersAsWritten, 'no number in another spelling is given')) {
      const found = await find(identifier);
      expectThat(found !== null, `A patient is not found, whose ${identifier.type} has another spelling`);
      const shown = found.identifiers.some(({ type, value }) => type === identifier.type && value === identifier.value);
      expectThat(shown, `A ${identifier.type} in another spelling is not shown in its normal form`);
    }
  },

  'a phone number is read as staff have written it': async ({ facts, connector }) => {
    const phones = given(facts.phonesAsWritten, 'no phone number as staff have written it is given');
    for (const [id, phone] of Object.entries(phones)) {
      const found = await operation(connector, 'findPatient')({ type: 'emr_id', value: id });
      expectSame(found?.phone, phone, 'Phone number');
    }
  },

  'an unknown patient returns null': async (subject) => {
    for (const identifier of subject.facts.unknownPatients ?? nobody) {
      const found = await operation(subject.connector, 'findPatient')(identifier);
      expectThat(found === null, `An unknown ${identifier.type} does not return null`);
    }
  },

  'a number of several people finds none of them': async ({ facts, connector }) => {
    for (const identifier of given(facts.ambiguousPatients, 'no number of several people is given')) {
      const guessed = operation(connector, 'findPatient')(identifier);
      await expectRejection(guessed, 'patient_ambiguous', `A search by a ${identifier.type} of several people`);
    }
  },

  'a record that is out of use is shown as such, or not at all': async ({ facts, connector }) => {
    for (const identifier of given(facts.inactivePatients, 'no record that is out of use is given')) {
      const found = await operation(connector, 'findPatient')(identifier);
      expectThat(found === null || found.isInactive === true, 'A record that is out of use can be booked');
    }
  },
});
