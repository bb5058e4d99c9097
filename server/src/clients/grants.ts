import type { ConfiguredAccess } from '../config/configuration.ts';
import type { Grant } from '../config/schema/schema.ts';

type Emrs = ConfiguredAccess['emrs'];

/**
 * The care units that grants give access to, by EHR. What the configuration does not have gives no access. An EHR without a
 * care unit left is not granted.
 */
export function resolveGrants(grants: readonly Grant[], emrs: Emrs): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map(
    grants.flatMap(({ emr, care_units }) => {
      const known = emrs.find(({ id }) => id === emr)?.care_units.map(({ id }) => id) ?? [];
      const granted = known.filter((id) => care_units?.includes(id) ?? true);
      return granted.length === 0 ? [] : [[emr, new Set(granted)] as const];
    }),
  );
}

/**
 * Reads grants as they are typed: `sandbox-no` for all care units of an EHR, `sandbox-no:ward-1,ward-2` for some. Joins
 * those of an EHR. An EHR that is granted in both ways stays in the list twice.
 */
export function parseGrants(texts: readonly string[]): Grant[] {
  const found = new Map<string, Grant>();
  for (const text of texts) {
    const [emr = '', ...units] = text.split(/[:,]/).map((word) => word.trim());
    const isWhole = !text.includes(':');
    const key = isWhole ? emr : `${emr}:`;
    const before = found.get(key)?.care_units ?? [];
    found.set(key, isWhole ? { emr } : { emr, care_units: [...new Set([...before, ...units])] });
  }
  return [...found.values()];
}
