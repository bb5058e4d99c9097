import { type Identifier, type NumberType, numberIn } from '@crossward/connector-kit';
import type { FhirIdentifier } from '../fhir.ts';
import type { FhirSettings } from '../settings.ts';

export type { NumberType };
export type IdentifierSystems = Readonly<Record<NumberType, readonly string[]>>;

/**
 * - Norway: https://www.ehelse.no/standardisering, OID 2.16.578.1.12.4.1.4.1 (fødselsnummer) and .2 (D-number);
 *   https://simplifier.net/hl7norwayno-basis
 * - Sweden: http://hl7.se/fhir/ig/base and the OIDs of Inera
 * - England: https://simplifier.net/guide/nhsdigital
 */
const defaultIdentifierSystems: IdentifierSystems = {
  no_personal_number: ['urn:oid:2.16.578.1.12.4.1.4.1', 'urn:oid:2.16.578.1.12.4.1.4.2'],
  se_personal_number: [
    'http://electronichealth.se/identifier/personnummer',
    'urn:oid:1.2.752.129.2.1.3.1',
    'http://electronichealth.se/identifier/samordningsnummer',
    'urn:oid:1.2.752.129.2.1.3.3',
  ],
  nhs_number: ['https://fhir.nhs.uk/Id/nhs-number'],
  hsa_id: ['urn:oid:1.2.752.29.4.19', 'urn:oid:1.2.752.129.2.1.4.1'],
};

export function identifierSystems(settings: FhirSettings): IdentifierSystems {
  return { ...defaultIdentifierSystems, ...settings.identifier_systems };
}

/** Of numbers for people who are not registered: a D-number, a coordination number. */
const temporarySystems: Partial<Record<NumberType, string>> = {
  no_personal_number: 'urn:oid:2.16.578.1.12.4.1.4.2',
  se_personal_number: 'http://electronichealth.se/identifier/samordningsnummer',
};

/** The system of a number in a new resource. */
export function systemOf(systems: IdentifierSystems, { type, value }: Identifier<NumberType>): string {
  // The day has 40 added in a D-number, 60 in a coordination number.
  const isTemporary = type === 'no_personal_number' ? value >= '4' : value.slice(6, 8) > '60';
  const temporary = temporarySystems[type];
  if (isTemporary && temporary !== undefined && systems[type].includes(temporary)) return temporary;
  return systems[type][0] ?? '';
}

/** Values of the search parameter `identifier`: for each spelling of the number one of each system of the type. */
export function identifierTokens(
  systems: IdentifierSystems,
  type: NumberType,
  spellings: readonly string[],
): readonly (readonly string[])[] {
  return spellings.map((it) => systems[type].map((system) => `${escapeToken(system)}|${escapeToken(it)}`));
}

/** https://hl7.org/fhir/R4/search.html#escaping */
export function escapeToken(text: string): string {
  return text.replace(/[\\$,|]/g, (character) => `\\${character}`);
}

/**
 * The numbers of these types among FHIR identifiers, each once.
 *
 * @param born the birth date of whom they belong to
 */
export function knownNumbers<Type extends NumberType>(
  systems: IdentifierSystems,
  types: readonly Type[],
  identifiers: readonly FhirIdentifier[] = [],
  born?: string,
): Identifier<Type>[] {
  const found = new Map<string, Identifier<Type>>();
  for (const { use, system, value } of identifiers) {
    const type = types.find((it) => system !== undefined && systems[it].includes(system));
    const number = type === undefined || use === 'old' ? undefined : numberIn(type, value, born);
    if (type !== undefined && number !== undefined) found.set(`${type} ${number}`, { type, value: number });
  }
  return [...found.values()];
}
