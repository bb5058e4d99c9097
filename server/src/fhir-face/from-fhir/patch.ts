import type { Appointment } from '@medplum/fhirtypes';
import { applyPatch, type Patch } from 'rfc6902';
import { bodyLimits } from '../../api/body-limits.ts';
import { invalid, unprocessable } from './faults.ts';
import type { JsonPatch, SentParameter } from './schemas.ts';

/**
 * Applies a JSON Patch (RFC 6902) to a copy of an Appointment as the gateway shows it.
 *
 * @throws Problem `request_invalid` (422 if it cannot be applied)
 */
export function patched(appointment: Appointment, patch: JsonPatch): unknown {
  const copy = structuredClone(appointment) as unknown;
  for (const [index, operation] of patch.entries()) {
    if (operation.path !== '' && !operation.path.startsWith('/')) {
      throw invalid(`/${index}/path`, 'A path begins with a slash.');
    }
    if (operation.op === 'copy' || operation.op === 'move') {
      const detail = 'The operations are add, remove, replace and test.';
      throw unprocessable(`/${index}/op`, detail, 'not-supported');
    }
    const isApplied = hasPlace(copy, operation) && applyPatch(copy, [operation] as Patch)[0] === null;
    if (!isApplied) throw unprocessable(`/${index}`, 'This operation of the patch cannot be applied.', 'value');
    if (valuesIn(copy) > bodyLimits.values) {
      throw unprocessable(`/${index}`, `A resource has at most ${bodyLimits.values} values.`, 'value');
    }
  }
  return copy;
}

/** The limits of a body hold for what a patch makes of it. A list counts with its places, empty ones too. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  if (Array.isArray(value) && value.length > bodyLimits.values) return value.length;
  return Object.values(value).reduce((sum: number, it) => sum + valuesIn(it), 1);
}

/** Whether a path names an element: of a list by its index, or `-` for a new one. JavaScript has more in lists and objects. */
function hasPlace(resource: unknown, { op, path }: JsonPatch[number]): boolean {
  const tokens = path.split('/').slice(1);
  let parent = resource;
  for (const [depth, token] of tokens.entries()) {
    const isNew = op === 'add' && depth === tokens.length - 1;
    if (Array.isArray(parent)) {
      const isIndex = /^(0|[1-9]\d{0,3})$/.test(token) && Number(token) < parent.length + (isNew ? 1 : 0);
      if (!isIndex && !(isNew && token === '-')) return false;
    } else if (typeof parent !== 'object' || parent === null) {
      return false;
    } else if (!(isNew ? /^[A-Za-z_]+$/.test(token) && token !== '__proto__' : Object.hasOwn(parent, token))) {
      return false;
    }
    parent = (parent as Readonly<Record<string, unknown>>)[token];
  }
  return tokens.length > 0;
}

/** Parts of an operation of a FHIRPath Patch, in any order: https://hl7.org/fhir/R4/fhirpatch.html */
type Part = Readonly<Record<string, unknown>> & { readonly name: string };

/**
 * A FHIRPath Patch as a JSON Patch. The paths are elements of the Appointment, or an entry of one, without functions.
 *
 * @throws Problem `request_invalid` (400, or 422 for a path that is not taken)
 */
export function jsonPatchOf(parameters: readonly SentParameter[], appointment: Appointment): JsonPatch {
  return parameters.map(({ name, part }, index) => {
    const pointer = `/parameter/${index}`;
    if (name !== 'operation') throw invalid(pointer, 'Each parameter of a FHIRPath Patch is an operation.');
    const parts = new Map(partsOf(part).map((it) => [it.name, it]));
    const path = segmentsOf(textOf(parts.get('path')), pointer);
    const value = elementValue(parts.get('value'));
    switch (textOf(parts.get('type'))) {
      case 'add': {
        const place = [...path, textOf(parts.get('name'))];
        const [element = ''] = place;
        const isList = Array.isArray((appointment as unknown as Record<string, unknown>)[element]);
        return { op: 'add', path: pointerTo([...place, ...(isList && place.length === 1 ? ['-'] : [])]), value };
      }
      case 'replace':
        return { op: 'replace', path: pointerTo(path), value };
      case 'delete':
        return { op: 'remove', path: pointerTo(path) };
      default:
        throw unprocessable(pointer, 'The types of operations are add, replace and delete.', 'not-supported');
    }
  });
}

function segmentsOf(path: string, pointer: string): string[] {
  if (!/^Appointment(\.[A-Za-z]+(\[\d+\])?)*$/.test(path)) {
    throw unprocessable(pointer, 'The path must be Appointment and names of elements.', 'not-supported');
  }
  return [...path.matchAll(/\.([A-Za-z]+)|\[(\d+)\]/g)].map(([, name, index]) => name ?? index ?? '');
}

function pointerTo(segments: readonly string[]): string {
  return segments.map((it) => `/${it}`).join('');
}

/** Empty if it is no text: a body can have an object there that cannot be turned into one. */
function textOf(part: Part | undefined): string {
  const value = elementValue(part);
  return typeof value === 'string' ? value : '';
}

/**
 * `valueCode`, `valueString`, …: the one element that begins with `value`. A participant, which no such element can have, has
 * its own elements as parts.
 */
function elementValue(part: Part | undefined): unknown {
  const [, value] = Object.entries(part ?? {}).find(([name]) => name.startsWith('value')) ?? [];
  if (value !== undefined || part?.part === undefined) return value;
  return Object.fromEntries(partsOf(part.part).map((it) => [it.name, elementValue(it)]));
}

function partsOf(part: unknown): readonly Part[] {
  return Array.isArray(part) ? part.filter((it) => it !== null && typeof it === 'object') : [];
}
