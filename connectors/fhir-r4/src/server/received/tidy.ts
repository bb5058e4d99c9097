import type { LocalTimes } from './local-times.ts';
import type { OwnReferences } from './own-references.ts';

/** What the texts of a body mean here. */
export interface Readings {
  readonly own: OwnReferences;
  readonly local: LocalTimes;
}

/** Deeper than any resource: a body that is nested more is left as it is. */
const deepest = 60;

/**
 * Brings a body as it was parsed to the form that its readers expect, in place:
 *
 * - Members that are `null` are removed. FHIR does not allow them, and some servers send them.
 * - `null` in a list of primitive values is removed. It stands for a value that only an extension describes:
 *   https://hl7.org/fhir/R4/json.html#primitive
 * - Absolute references to the server itself become relative.
 * - Moments without an offset get that of the EHR's time zone, if the settings name it.
 */
export function tidy(body: unknown, readings: Readings, depth = 0): unknown {
  if (typeof body !== 'object' || body === null || depth > deepest) return body;
  if (Array.isArray(body)) {
    const items = body.every((it) => typeof it !== 'object' || it === null) ? body.filter((it) => it !== null) : body;
    for (const item of items) tidy(item, readings, depth + 1);
    return items;
  }
  const members = body as Record<string, unknown>;
  for (const [name, value] of Object.entries(members)) {
    if (value === null) delete members[name];
    else if (typeof value === 'string') {
      members[name] = name === 'reference' ? readings.own(value) : readings.local(name, value);
    }
    // The siblings of a list of primitive values describe them by their places.
    else if (typeof value === 'object' && !name.startsWith('_')) members[name] = tidy(value, readings, depth + 1);
  }
  return body;
}
