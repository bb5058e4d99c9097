import { formatPath, isMapping, type Path } from './mistake.ts';

/** Where a schema knows a key. `[]` stands for the entries of a list. */
type KeyPath = readonly string[];

const entries = '[]';

/**
 * For a key that is known, but not where it is: the mapping above or directly below to which it belongs. This is what a wrong
 * indentation leads to if the file is still valid YAML.
 *
 * @param path of the mapping with the key
 * @returns a question for the author of the file
 */
export function misplaced(key: string, path: Path, schema: unknown): string | undefined {
  const here = path.map((part) => (typeof part === 'number' ? entries : part));
  const places = placesOf(key, schema);
  const above = places.filter((place) => isWithin(here, place)).toSorted((a, b) => b.length - a.length)[0];
  if (above) return `it belongs to ${named(above)}: is it indented too far?`;
  const below = places.filter((place) => isWithin(place, here) && isNear(place.slice(here.length)));
  const nearest = Math.min(...below.map(({ length }) => length));
  const choices = [...new Set(below.filter(({ length }) => length === nearest).map(named))];
  return choices.length > 0 ? `it belongs to ${choices.join(' or ')}: is it indented too little?` : undefined;
}

function isWithin(place: KeyPath, outer: KeyPath): boolean {
  return place.length > outer.length && outer.every((part, index) => part === place[index]);
}

/** A mapping, or the entries of a list. */
function isNear(steps: KeyPath): boolean {
  return steps.filter((step) => step !== entries).length === 1;
}

function placesOf(key: string, schema: unknown, place: KeyPath = []): KeyPath[] {
  if (!isMapping(schema)) return [];
  const { properties, items, anyOf } = schema;
  const named = isMapping(properties) ? properties : {};
  return [
    ...(Object.hasOwn(named, key) ? [place] : []),
    ...Object.entries(named).flatMap(([name, inner]) => placesOf(key, inner, [...place, name])),
    ...placesOf(key, items, [...place, entries]),
    ...(Array.isArray(anyOf) ? anyOf.flatMap((branch: unknown) => placesOf(key, branch, place)) : []),
  ];
}

function named(place: KeyPath): string {
  if (place.length === 0) return 'the top level of the file';
  const isEntry = place.at(-1) === entries;
  const name = formatPath((isEntry ? place.slice(0, -1) : place).filter((part) => part !== entries));
  return isEntry ? `an entry of ${name}` : name;
}
