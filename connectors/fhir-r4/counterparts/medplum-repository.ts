import type { SearchRequest, WithId } from '@medplum/core';
import { MemoryRepository } from '@medplum/fhir-router';
import type { Bundle, Resource } from '@medplum/fhirtypes';

type Resources = Map<string, Map<string, Resource>>;

/** Medplum's repository in memory, made fit for a whole EHR: it is copied fast, and slots are found fast. */
export class QuickRepository extends MemoryRepository {
  /** One that has the same resources and goes its own way from here on. */
  copy(): QuickRepository {
    const copy = new QuickRepository();
    for (const [type, resources] of resourcesOf(this)) resourcesOf(copy).set(type, new Map(resources));
    return copy;
  }

  /** Medplum evaluates every filter on every slot. Those of schedules that are not asked for are kept from it. */
  override search<R extends Resource>(request: SearchRequest<R>): Promise<Bundle<WithId<R>>> {
    const schedules = request.filters?.find(({ code }) => code === 'schedule')?.value.split(',');
    if (request.resourceType !== 'Slot' || schedules === undefined) return super.search(request);
    const ofSchedules = [...(resourcesOf(this).get('Slot') ?? [])].filter(
      ([, slot]) => slot.resourceType === 'Slot' && schedules.includes(slot.schedule.reference ?? ''),
    );
    const part = new MemoryRepository();
    resourcesOf(part).set('Slot', new Map(ofSchedules));
    return part.search(request);
  }
}

/** By type and id. Private to TypeScript alone. */
function resourcesOf(repository: MemoryRepository): Resources {
  return (repository as unknown as { readonly resources: Resources }).resources;
}
