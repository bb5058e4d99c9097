import { batch } from '../batch.ts';
import { readAllUnitsMetadata } from '../metadata.ts';
import { operationDefinitions } from '../operation-definitions.ts';
import { faceEndpoints } from '../routes.ts';
import { handedOver, namesItsUnit } from './hand-over.ts';
import { directorySearches } from './searches.ts';
import { slotSearches } from './slots.ts';

/** Below `/api/fhir-r4`: what is searched for in all care units that the client is granted. */
export const allUnitsSearches = [
  readAllUnitsMetadata,
  batch,
  ...operationDefinitions,
  ...directorySearches,
  ...slotSearches,
].map(overAll);

function overAll<Endpoint extends object>(endpoint: Endpoint) {
  return { ...endpoint, level: 'client' } as const;
}

/** Below `/api/fhir-r4`: what the care unit does that an id names. The hook `handOver` comes before. */
export const handedOverEndpoints = faceEndpoints.filter(namesItsUnit).map(handedOver);
