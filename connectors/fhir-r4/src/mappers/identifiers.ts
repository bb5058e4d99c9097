import { type Identifier, identifierTypes, type NumberType, numberIn } from '@crossward/connector-kit';
import type { FhirIdentifier } from '../fhir.ts';
import type { FhirSettings } from '../settings.ts';

/** The systems of each type of number. */
export type IdentifierSystems = (type: NumberType) => readonly string[];

export function identifierSystems(settings: FhirSettings): IdentifierSystems {
  const systems = new Map<NumberType, readonly string[]>([
    ...identifierTypes().map((it) => [it.id, it.systems] as const),
    ...Object.entries(settings.identifier_systems ?? {}),
  ]);
  return (type) => systems.get(type) ?? [];
}

/** Values of the search parameter `identifier`: for each spelling of the number one of each system of the type. */
export function identifierTokens(
  systems: IdentifierSystems,
  type: NumberType,
  spellings: readonly string[],
): readonly (readonly string[])[] {
  return spellings.map((it) => systems(type).map((system) => `${escapeToken(system)}|${escapeToken(it)}`));
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
export function knownNumbers(
  systems: IdentifierSystems,
  types: readonly NumberType[],
  identifiers: readonly FhirIdentifier[] = [],
  born?: string,
): Identifier<NumberType>[] {
  const found = new Map<string, Identifier<NumberType>>();
  for (const { use, system, value } of identifiers) {
    const type = types.find((it) => system !== undefined && systems(it).includes(system));
    const number = type === undefined || use === 'old' ? undefined : numberIn(type, value, born);
    if (type !== undefined && number !== undefined) found.set(`${type} ${number}`, { type, value: number });
  }
  return [...found.values()];
}
