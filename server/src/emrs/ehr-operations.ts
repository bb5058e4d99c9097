import { type ChangeKind, changeKinds } from '@crossward/connector-kit';
import type { AnyOperation, Needs } from '../api/route.ts';
import type { EhrConnection } from '../ehr/connection.ts';

/** What an EHR can support, by the name that `GET /api/emrs/{emr}` lists, with what each needs. */
export function ehrOperations(operations: ReadonlyMap<string, AnyOperation>): ReadonlyMap<string, Needs> {
  return new Map(
    [...operations.values()].flatMap(({ operationId, needs, parts }) =>
      Object.entries({ ...(needs && { [operationId]: needs }), ...parts }),
    ),
  );
}

/** The names of what this EHR supports. */
export function operationsOf(ehr: EhrConnection, operations: ReadonlyMap<string, AnyOperation>): string[] {
  const isSupported = (need: Needs[number]) => {
    if (need === 'patients') return ehr.offers('findPatient') || ehr.capabilities.passesThrough !== undefined;
    if (need === 'update' && ehr.capabilities.rebooks) return true;
    return isChange(need) ? ehr.capabilities.changes.includes(need) : ehr.offers(need);
  };
  return [...ehrOperations(operations)].filter(([, needs]) => needs.every(isSupported)).map(([name]) => name);
}

function isChange(need: Needs[number]): need is ChangeKind {
  return (changeKinds as readonly string[]).includes(need);
}
