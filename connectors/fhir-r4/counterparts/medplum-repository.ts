import { type Filter, Operator, type SearchRequest, type WithId } from '@medplum/core';
import { MemoryRepository } from '@medplum/fhir-router';
import type { Bundle, Resource, Slot } from '@medplum/fhirtypes';

type Resources = Map<string, Map<string, Resource>>;

interface Search {
  readonly slots: readonly Resource[];
  /** The bundle as JSON, so that each caller gets a copy. */
  readonly found: string;
}

/** Medplum's repository in memory, with a fast copy and a fast search. */
export class QuickRepository extends MemoryRepository {
  /** Searches without filters, by request. Shared by all copies, because every connection starts with the same ones. */
  #searches = new Map<string, Search>();

  /** A repository with the same resources. Changes to one do not show in the other. */
  copy(): QuickRepository {
    const copy = new QuickRepository();
    copy.#searches = this.#searches;
    for (const [type, resources] of resourcesOf(this)) resourcesOf(copy).set(type, new Map(resources));
    return copy;
  }

  all(type: string): Resource[] {
    return [...(resourcesOf(this).get(type)?.values() ?? [])];
  }

  /** Medplum evaluates FHIRPath on every slot, which is slow. */
  override search<R extends Resource>(request: SearchRequest<R>): Promise<Bundle<WithId<R>>> {
    if (request.resourceType !== 'Slot') return super.search(request);
    const filters = request.filters ?? [];
    return filters.length === 0 ? this.#searchAllSlots(request) : this.#searchSlots(request, filters);
  }

  /** Returns an earlier result if the slots are still the same. */
  async #searchAllSlots<R extends Resource>(request: SearchRequest<R>): Promise<Bundle<WithId<R>>> {
    const key = JSON.stringify(request);
    const slots = this.all('Slot');
    const earlier = this.#searches.get(key);
    if (earlier && isSame(earlier.slots, slots)) return JSON.parse(earlier.found) as Bundle<WithId<R>>;
    const found = await super.search(request);
    this.#searches.set(key, { slots, found: JSON.stringify(found) });
    return found;
  }

  /** Removes slots that cannot match before the search. */
  #searchSlots<R extends Resource>(request: SearchRequest<R>, filters: readonly Filter[]): Promise<Bundle<WithId<R>>> {
    const slots = [...(resourcesOf(this).get('Slot') ?? [])] as [string, Slot][];
    const part = new MemoryRepository();
    resourcesOf(part).set('Slot', new Map(slots.filter(([, slot]) => filters.every((it) => mayMatch(slot, it)))));
    return part.search(request);
  }
}

function isSame(some: readonly Resource[], others: readonly Resource[]): boolean {
  return some.length === others.length && some.every((it, index) => it === others[index]);
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
