import { type IdentifierType, identifierTypes, systemOf } from '@crossward/connector-kit';
import type { Identifier } from '@medplum/fhirtypes';

/** The type of a system in the notation of native identifiers. `undefined`: the gateway does not know it. */
export function typeOfSystem(system: string): IdentifierType | undefined {
  return identifierTypes().find(({ systems }) => systems.includes(system));
}

/** National numbers of people belong in no URL. */
export function isNationalNumber(system: string): boolean {
  return typeOfSystem(system)?.national ?? false;
}

/** The numbers among native identifiers whose type has a system, as FHIR identifiers. The EHR's own id is the resource's id. */
export function fhirIdentifiers(notations: readonly string[]): Identifier[] {
  return notations.flatMap((notation) => {
    const colon = notation.indexOf(':');
    const number = { type: notation.slice(0, colon), value: notation.slice(colon + 1) };
    const system = systemOf(number);
    return system === undefined ? [] : [{ system, value: number.value }];
  });
}
