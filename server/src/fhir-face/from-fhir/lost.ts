import { isDeepStrictEqual } from 'node:util';
import type { OperationOutcomeIssue } from '@medplum/fhirtypes';
import { warning } from '../operation-outcome.ts';

/** Which parts of an element a write keeps. `true`: all of it. `undefined`: none. Of a list, those of each entry. */
export type Kept = true | undefined | KeptParts | ((sent: never) => Kept);
interface KeptParts {
  readonly [name: string]: Kept;
}

/** What R4 says of any resource: https://hl7.org/fhir/R4/http.html#create. The server assigns these. */
export const keptOfResource = { resourceType: true, id: true, meta: { versionId: true, lastUpdated: true } } as const;

/**
 * Each element of a resource that is not kept, with a warning: nothing of what a client sends is lost without a word.
 *
 * @param shown what the gateway shows of the resource afterwards: who sends that loses nothing
 */
export function lostElements(sent: object, kept: KeptParts, shown?: object): OperationOutcomeIssue[] {
  const { resourceType = '' } = sent as { readonly resourceType?: string };
  return lostOf(sent, kept, shown, resourceType).map((path) =>
    warning(`${path.slice(resourceType.length + 1)} is not kept.`, path),
  );
}

/** Paths in FHIRPath. */
function lostOf(sent: unknown, kept: Kept, shown: unknown, path: string): string[] {
  if (kept === true || sent === null || isDeepStrictEqual(sent, shown)) return [];
  if (Array.isArray(sent)) {
    const candidates = Array.isArray(shown) ? shown : [];
    return sent.flatMap((entry, index) => leastOf(entry, kept, candidates, `${path}[${index}]`));
  }
  const parts = typeof kept === 'function' ? kept(sent as never) : kept;
  if (parts === true) return [];
  if (typeof sent !== 'object' || parts === undefined || typeof parts === 'function') return [path];
  return Object.entries(sent).flatMap(([name, value]) => {
    const same = (shown as KeptParts | undefined)?.[name];
    if (!name.startsWith('_')) return lostOf(value, parts[name], same, `${path}.${name}`);
    return isDeepStrictEqual(value, same) ? [] : lostOfPrimitive(value, `${path}.${name.slice(1)}`);
  });
}

/** An entry of a list is the one of those that are shown which has most of it. */
function leastOf(entry: unknown, kept: Kept, candidates: readonly unknown[], path: string): string[] {
  const lost = [undefined, ...candidates].map((shown) => lostOf(entry, kept, shown, path));
  return lost.reduce((least, it) => (it.length < least.length ? it : least));
}

/** The id and the extensions of a primitive element: https://hl7.org/fhir/R4/json.html#primitive */
function lostOfPrimitive(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((it, index) => lostOfPrimitive(it, `${path}[${index}]`));
  return Object.keys(value ?? {}).map((name) => `${path}.${name}`);
}
