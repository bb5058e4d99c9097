import type { ResourceIdentifierType } from '@crossward/connector-kit';
import type { IdentifierSystems } from '../mappers/identifiers.ts';
import type { FhirClient } from '../server/client.ts';
import type { CareUnitSettings, FhirSettings } from '../settings.ts';
import type { Sweeps } from './sweeps.ts';

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
