import {
  builtInIdentifierTypes,
  declareIdentifierTypes,
  identifierType,
  identifierTypesOf,
  valuePattern,
} from '@crossward/connector-kit';
import { Check } from 'typebox/value';
import { isMapping, type Mistake, type Path, quoted } from '../mistakes/mistake.ts';
import { identifierTypesSchema, resolveIdentifierType } from '../schema/identifier-types.ts';
import type { PartialFile } from './partial-file.ts';

/**
 * Declares the types of a parsed file, without those that are invalid. What else is in the file can then be checked: settings of
 * connectors name types.
 */
export function declareTypesOf(file: unknown): void {
  const items: readonly unknown[] =
    isMapping(file) && Array.isArray(file.identifier_types) ? file.identifier_types : [];
  const found = items.flatMap((item) => {
    const list = [item];
    const isValid =
      Check(identifierTypesSchema, list) && identifierTypeMistakes({ identifier_types: list }).length === 0;
    return isValid ? list.map(resolveIdentifierType) : [];
  });
  declareIdentifierTypes(found);
}

/** JSON Schema formats for types in the settings of connectors: see `identifierTypeSchema`. */
export const identifierTypeFormats: Readonly<Record<string, (id: string) => boolean>> = {
  'identifier-type': (id) => identifierType(id) !== undefined,
  'patient-identifier-type': (id) => id !== 'emr_id' && identifierTypesOf('patient').includes(id),
  'resource-identifier-type': (id) => id !== 'emr_id' && identifierTypesOf('resource').includes(id),
};

/** What a schema cannot say of a type: its patterns can be read, its groups fit, and nothing belongs to another type. */
export function identifierTypeMistakes({ identifier_types: types = [] }: PartialFile): Mistake[] {
  const builtIn = builtInIdentifierTypes();
  const owners = new Map(builtIn.flatMap(({ id, systems }) => systems.map((system) => [system, id] as const)));
  return types.flatMap((type, index): Mistake[] => {
    if (type === undefined) return [];
    const path: Path = ['identifier_types', index];
    const mistakes: Mistake[] = [];
    const add = (at: Path, text: string | undefined) => {
      if (text !== undefined) mistakes.push({ path: [...path, ...at], at: 'value', text });
    };
    const { id = '', pattern, groups, temporary, synthetic, systems = [] } = type;
    if (builtIn.some((it) => it.id === id)) add(['id'], `${quoted(id)} comes with the gateway, and cannot be declared`);
    add(['pattern'], patternMistake(pattern));
    add(['synthetic'], patternMistake(synthetic));
    add(['temporary', 'pattern'], patternMistake(temporary?.pattern));
    if (mistakes.length === 0 && pattern !== undefined) add(['groups'], groupsMistake(groups ?? [], pattern));
    if (temporary?.system !== undefined && !systems.includes(temporary.system)) {
      add(['temporary', 'system'], 'must be one of systems');
    }
    for (const [at, system] of systems.entries()) {
      const owner = system === undefined ? undefined : owners.get(system);
      if (owner !== undefined && owner !== id) add(['systems', at], `is already a system of ${owner}`);
      if (system !== undefined) owners.set(system, id);
    }
    return mistakes;
  });
}

function patternMistake(pattern: string | undefined): string | undefined {
  try {
    // The schema says that it must not be empty.
    if (pattern) valuePattern(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return error.message;
    throw error;
  }
}

/** People put something between the groups, so that each alternative must have all of them, and no hyphen of its own. */
function groupsMistake(groups: readonly (number | undefined)[], pattern: string): string | undefined {
  if (groups.length === 0) return undefined;
  const { alternatives, hasHyphen } = valuePattern(pattern);
  if (hasHyphen) return 'cannot be used with a pattern in which a hyphen is a part of the number';
  const whole = groups.reduce<number>((sum, it) => sum + (it ?? 0), 0);
  const fit = alternatives.every(
    (places) =>
      places.every(({ least, most }) => least === most) && places.reduce((sum, { most }) => sum + most, 0) === whole,
  );
  return fit ? undefined : `have ${whole} characters together, which each alternative of the pattern must have`;
}
