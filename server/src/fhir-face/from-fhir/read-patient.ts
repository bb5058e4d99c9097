import type { OperationOutcomeIssue } from '@medplum/fhirtypes';
import { typeOfSystem } from '../identifier-systems.ts';
import { unprocessable } from './faults.ts';
import { type Kept, keptOfResource, lostElements } from './lost.ts';
import { refusedOfPatient, type SentPatient } from './schemas.ts';

/**
 * The body of `create_patient`.
 *
 * @param identifier that the patient is found by
 * @throws Problem `request_invalid` (422) for what the gateway cannot do
 */
export function patientCreation(patient: SentPatient, { system, value }: { system: string; value: string }) {
  for (const name of refusedOfPatient) {
    if (name in patient) throw unprocessable(`/${name}`, `The gateway does not take ${name}.`, 'not-supported');
  }
  const { name, telecom, address } = keptOf(patient);
  const type = typeOfSystem(system);
  if (!type?.of.includes('patient')) {
    const detail = 'The system of the identifier that If-None-Exist names is none of a national number of patients.';
    throw unprocessable('/identifier', detail, 'not-supported');
  }
  if (name?.family === undefined || !name.given?.[0]) {
    throw unprocessable('/name', 'A Patient needs a family and a given name.', 'required');
  }
  const contact = (system: string) => telecom.find((it) => it.system === system)?.value;
  const [phone, email] = [contact('phone'), contact('email')];
  return {
    identifier: `${type.id}:${value}`,
    given_name: name.given.join(' '),
    family_name: name.family,
    birth_date: patient.birthDate,
    ...(patient.gender === undefined ? {} : { gender: patient.gender }),
    ...(phone === undefined ? {} : { phone }),
    ...(email === undefined ? {} : { email }),
    ...(address === undefined
      ? {}
      : {
          address: {
            lines: address.line ?? [],
            ...(address.postalCode === undefined ? {} : { postal_code: address.postalCode }),
            ...(address.city === undefined ? {} : { city: address.city }),
            ...(address.country === undefined ? {} : { country: address.country }),
          },
        }),
  };
}

/** One name, one phone number, one e-mail address and one postal address are kept: the first that are in use. */
function keptOf({ name, telecom = [], address = [] }: SentPatient) {
  const inUse = <T extends { readonly use?: string }>(items: readonly T[]) => items.filter(({ use }) => use !== 'old');
  const names = inUse(name);
  const first = (system: string) => inUse(telecom).find((it) => it.system === system) ?? [];
  return {
    name: names.find(({ use }) => use === 'official') ?? names[0],
    telecom: [first('phone'), first('email')].flat(),
    address: inUse(address)[0],
  };
}

/** The elements of a Patient that are not kept, each with a warning. */
export function lostFromPatient(
  patient: SentPatient,
  named: { readonly system: string; readonly value: string },
): OperationOutcomeIssue[] {
  const kept = keptOf(patient);
  const isKept = (it: unknown) => it === kept.name || it === kept.address || kept.telecom.some((one) => one === it);
  const ifKept = (parts: Kept) => (it: object) => (isKept(it) ? parts : undefined);
  return lostElements(patient, {
    ...keptOfResource,
    // R4: a record is assumed to be in use.
    active: true,
    gender: true,
    birthDate: true,
    identifier: ({ system, value }: { readonly system?: string; readonly value?: string }) =>
      system === named.system && value === named.value ? { system: true, value: true } : undefined,
    name: ifKept({ use: (use: string) => (use === 'official' ? true : undefined), family: true, given: true }),
    telecom: ifKept({ system: true, value: true }),
    address: ifKept({ line: true, city: true, postalCode: true, country: true }),
  });
}
