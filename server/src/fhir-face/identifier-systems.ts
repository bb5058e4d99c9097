import type { NumberType } from '@crossward/connector-kit';
import type { Identifier } from '@medplum/fhirtypes';

/**
 * The types of the notation of Patient and Resource IDs, by the systems that name them. The first system of a type is the one
 * that is shown.
 *
 * - Norway: https://www.ehelse.no/standardisering, OID 2.16.578.1.12.4.1.4.1 (fødselsnummer) and .2 (D-number)
 * - Sweden: http://hl7.se/fhir/ig/base, and the OIDs of Inera
 * - England: https://simplifier.net/guide/nhsdigital
 */
const systems = {
  birthNumber: 'urn:oid:2.16.578.1.12.4.1.4.1',
  dNumber: 'urn:oid:2.16.578.1.12.4.1.4.2',
  personnummer: 'http://electronichealth.se/identifier/personnummer',
  samordningsnummer: 'http://electronichealth.se/identifier/samordningsnummer',
  nhsNumber: 'https://fhir.nhs.uk/Id/nhs-number',
  hsaId: 'urn:oid:1.2.752.29.4.19',
} as const;

const typeBySystem: ReadonlyMap<string, NumberType> = new Map<string, NumberType>([
  [systems.birthNumber, 'no_personal_number'],
  [systems.dNumber, 'no_personal_number'],
  [systems.personnummer, 'se_personal_number'],
  [systems.samordningsnummer, 'se_personal_number'],
  ['urn:oid:1.2.752.129.2.1.3.1', 'se_personal_number'],
  ['urn:oid:1.2.752.129.2.1.3.3', 'se_personal_number'],
  [systems.nhsNumber, 'nhs_number'],
  [systems.hsaId, 'hsa_id'],
  ['urn:oid:1.2.752.129.2.1.4.1', 'hsa_id'],
]);

/** The type of a system in the notation of native identifiers. `undefined`: the gateway does not know it. */
export function typeOfSystem(system: string): NumberType | undefined {
  return typeBySystem.get(system);
}

/** National numbers of people belong in no URL. */
export function isNationalNumber(system: string): boolean {
  const type = typeOfSystem(system);
  return type !== undefined && type !== 'hsa_id';
}

/** The national numbers and HSA ids among native identifiers, as FHIR identifiers. The EHR's own id is the resource's id. */
export function fhirIdentifiers(notations: readonly string[]): Identifier[] {
  return notations.flatMap((notation) => {
    const colon = notation.indexOf(':');
    const value = notation.slice(colon + 1);
    const system = systemOf(notation.slice(0, colon), value);
    return system === undefined ? [] : [{ system, value }];
  });
}

/** In a D-number the day is raised by 40, in a samordningsnummer by 60. */
function systemOf(type: string, value: string): string | undefined {
  switch (type) {
    case 'no_personal_number':
      return Number(value[0]) >= 4 ? systems.dNumber : systems.birthNumber;
    case 'se_personal_number':
      return Number(value.slice(-6, -4)) > 60 ? systems.samordningsnummer : systems.personnummer;
    case 'nhs_number':
      return systems.nhsNumber;
    case 'hsa_id':
      return systems.hsaId;
    default:
      return undefined;
  }
}
