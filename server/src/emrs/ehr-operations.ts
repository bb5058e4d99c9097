import { type ChangeKind, changeKinds } from '@crossward/connector-kit';
import type { AnyEndpoint, Needs } from '../api/endpoint.ts';
import type { EhrConnection } from '../ehr/connection.ts';

/** What an EHR can support, by the name that `GET /api/emrs/{emr}` lists, with what each needs. */
export function ehrOperations(endpoints: readonly AnyEndpoint[]): ReadonlyMap<string, Needs> {
  return new Map(
    endpoints.flatMap(({ operationId, needs, parts }) =>
      Object.entries({ ...(needs && { [operationId]: needs }), ...parts }),
    ),
  );
}

/** The names of what this EHR supports. */
export function operationsOf(ehr: EhrConnection, endpoints: readonly AnyEndpoint[]): string[] {
  const isSupported = (need: Needs[number]) => {
    if (need === 'patients') return ehr.offers('findPatient') || ehr.capabilities.passesThrough !== undefined;
    if (need === 'update' && ehr.capabilities.rebooks) return true;
    return isChange(need) ? ehr.capabilities.changes.includes(need) : ehr.offers(need);
  };
  return [...ehrOperations(endpoints)].filter(([, needs]) => needs.every(isSupported)).map(([name]) => name);
}

function isChange(need: Needs[number]): need is ChangeKind {
  return (changeKinds as readonly string[]).includes(need);
}
