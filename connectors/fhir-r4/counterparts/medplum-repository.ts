import { type Filter, Operator, type SearchRequest, type WithId } from '@medplum/core';
import { MemoryRepository } from '@medplum/fhir-router';
import type { Bundle, Resource, Slot } from '@medplum/fhirtypes';

type Resources = Map<string, Map<string, Resource>>;

/** Medplum's repository in memory, with a fast copy and a fast search for slots. */
export class QuickRepository extends MemoryRepository {
  /** A repository with the same resources. Changes to one do not show in the other. */
  copy(): QuickRepository {
    const copy = new QuickRepository();
    for (const [type, resources] of resourcesOf(this)) resourcesOf(copy).set(type, new Map(resources));
    return copy;
  }

  all(type: string): Resource[] {
    return [...(resourcesOf(this).get(type)?.values() ?? [])];
  }

  /** Medplum evaluates FHIRPath on every slot, which is slow. So slots that cannot match are removed first. */
  override search<R extends Resource>(request: SearchRequest<R>): Promise<Bundle<WithId<R>>> {
    if (request.resourceType !== 'Slot') return super.search(request);
    const slots = [...(resourcesOf(this).get('Slot') ?? [])] as [string, Slot][];
    const filters = request.filters ?? [];
    const part = new MemoryRepository();
    resourcesOf(part).set('Slot', new Map(slots.filter(([, slot]) => filters.every((it) => mayMatch(slot, it)))));
    return part.search(request);
  }
}

function mayMatch({ id, schedule, start }: Slot, { code, operator, value }: Filter): boolean {
  switch (code) {
    case '_id':
      return value.split(',').includes(id ?? '');
    case 'schedule':
      return value.split(',').includes(schedule.reference ?? '');
    case 'start':
      if (operator === Operator.GREATER_THAN_OR_EQUALS) return Date.parse(start) >= Date.parse(value);
      return operator !== Operator.LESS_THAN || Date.parse(start) < Date.parse(value);
    default:
      return true;
  }
}

/** The resources by type and id. The property is private in TypeScript only. */
function resourcesOf(repository: MemoryRepository): Resources {
  return (repository as unknown as { readonly resources: Resources }).resources;
}
