import type { ResourceIdentifierType } from '@crossward/connector-kit';
import type { IdentifierSystems } from '../mappers/identifiers.ts';
import type { FhirClient } from '../server/client.ts';
import type { CareUnitSettings, FhirSettings } from '../settings.ts';

export interface DirectoryOptions {
  readonly client: FhirClient;
  readonly settings: FhirSettings;
  readonly careUnits: ReadonlyMap<string, CareUnitSettings>;
  readonly systems: IdentifierSystems;
  readonly resourceIdentifierTypes: readonly ResourceIdentifierType[];
  /** Whether the server has this type of resource. */
  readonly knows: (type: string) => boolean;
  /** The schedules that were found through their Slots. */
  readonly sweeps: Sweeps;
}

/** How long the schedules that were found through their Slots are taken for all that there are. */
const sweepMilliseconds = 10 * 60 * 1000;

/**
 * Remembers schedules that can be found through their free Slots alone. A search for the Slots of months is large, so it
 * is repeated rarely. A schedule stays known when it has no free Slot any more.
 */
export interface Sweeps {
  /** @param find the schedules that have free Slots */
  of(careUnit: string, find: () => Promise<Iterable<string>>): Promise<readonly string[]>;
}

export function createSweeps(): Sweeps {
  const seen = new Map<string, { readonly schedules: Set<string>; readonly at: number }>();
  return {
    async of(careUnit, find) {
      const known = seen.get(careUnit);
      if (known && Date.now() - known.at < sweepMilliseconds) return [...known.schedules];
      const at = Date.now();
      const schedules = new Set([...(known?.schedules ?? []), ...(await find())]);
      seen.set(careUnit, { schedules, at });
      return [...schedules];
    },
  };
}
