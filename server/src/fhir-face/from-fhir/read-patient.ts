import type { OperationOutcomeIssue } from '@medplum/fhirtypes';
import { typeOfSystem } from '../identifier-systems.ts';
import { warning } from '../operation-outcome.ts';
import { unprocessable } from './faults.ts';
import { droppedOfPatient, refusedOfPatient, type SentPatient } from './schemas.ts';

/**
 * The body of `create_patient`.
 *
 * @param identifier `system|value` of the identifier that the patient is found by
 * @throws Problem `request_invalid` (422) for what the gateway cannot do
 */
export function patientCreation(patient: SentPatient, identifier: string) {
  for (const name of refusedOfPatient) {
    if (name in patient) throw unprocessable(`/${name}`, `The gateway does not take ${name}.`, 'not-supported');
  }
  const { name, telecom, address } = keptOf(patient);
  const bar = identifier.indexOf('|');
  const type = typeOfSystem(identifier.slice(0, bar));
  if (type === undefined || type === 'hsa_id') {
    const detail = 'The system of the identifier that If-None-Exist names is none of a national number of patients.';
    throw unprocessable('/identifier', detail, 'not-supported');
  }
  if (name?.family === undefined || !name.given?.[0]) {
    throw unprocessable('/name', 'A Patient needs a family and a given name.', 'required');
  }
  const contact = (system: string) => telecom.find((it) => it.system === system)?.value;
  const [phone, email] = [contact('phone'), contact('email')];
  return {
    identifier: `${type}:${identifier.slice(bar + 1)}`,
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

/** The elements that are left out of a write, each with a warning. */
export function droppedFromPatient(patient: SentPatient): OperationOutcomeIssue[] {
  const kept = keptOf(patient);
  const repeated = (['name', 'telecom', 'address'] as const).filter(
    (it) => (patient[it]?.length ?? 0) > [kept[it] ?? []].flat().length,
  );
  return [
    ...droppedOfPatient.filter((it) => it in patient).map((it) => warning(`${it} is not kept.`, `Patient.${it}`)),
    ...repeated.map((it) => warning(`Only one ${it} of each kind is kept.`, `Patient.${it}`)),
  ];
}
