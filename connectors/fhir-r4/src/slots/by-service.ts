import { actorsOfSchedule, rankedActors } from '../directory/actors.ts';
import type { CareUnitDirectory } from '../directory/directory.ts';
import { standInFor } from '../directory/stand-ins.ts';
import { type FhirSchedule, type FhirSlot, localReference, referenceTo } from '../fhir.ts';
import type { SearchParameters } from '../server/client.ts';
import type { FhirConnection } from '../server/connection.ts';
import { defaultSlotPageSize, type FhirSettings } from '../settings.ts';
import { periods, type SlotSearch } from './periods.ts';

/*
 * The setting `slots.by_service`: a server that searches for the Slots of one service at a time, shows their Schedules in the
 * same answer, and finds no Schedule otherwise.
 */

type BySearch = NonNullable<NonNullable<FhirSettings['slots']>['by_service']>;

/** The Slots of these schedules, as `searchSlots`, with the services that each was found for. */
export async function slotsByService(
  { client, settings, leftOut }: Pick<FhirConnection, 'client' | 'settings' | 'leftOut'>,
  names: BySearch,
  directory: CareUnitDirectory,
  schedules: readonly string[],
  wanted: SlotSearch,
): Promise<FhirSlot[]> {
  const found = new Map<string, FhirSlot>();
  const asked = new Set(schedules);
  const search = async (serviceId: string, parameters: SearchParameters) => {
    for await (const { resources, included } of client.pages('Slot', parameters, { few: wanted.few ?? false })) {
      const known = new Map(included.filter(isSchedule).map((it) => [referenceTo(it), it]));
      for (const slot of resources as readonly FhirSlot[]) {
        const schedule = known.get(localReference(slot.schedule) ?? '');
        if (!schedule) leftOut({ type: 'Slot', id: slot.id, path: '/schedule' });
        const owner = schedule && rankedActors(actorsOfSchedule(schedule)).map(standInFor).map(referenceTo)[0];
        if (owner === undefined || !asked.has(owner)) continue;
        const foundFor = [...(found.get(slot.id ?? '')?.foundFor ?? []), serviceId];
        found.set(slot.id ?? '', { ...slot, schedule: { reference: owner }, foundFor });
      }
    }
  };
  const services = directory.services.filter(({ id }) => wanted.services?.includes(id) ?? true);
  for (const period of periods(wanted, settings)) {
    const searches = services.flatMap(({ id, reference }) =>
      reference === undefined ? [] : [[id, questionFor(reference, period, names, directory, wanted)] as const],
    );
    await Promise.all(searches.map(([id, parameters]) => search(id, [...parameters, count(settings)])));
  }
  return [...found.values()];
}

function questionFor(
  service: string,
  period: SearchParameters,
  names: BySearch,
  { slotUnit }: CareUnitDirectory,
  { moved }: SlotSearch,
): SearchParameters {
  return [
    ...(names.unit !== undefined && slotUnit !== undefined ? [[names.unit, slotUnit] as const] : []),
    [names.service, service.slice('HealthcareService/'.length)],
    ...(names.moved !== undefined && moved !== undefined ? [[names.moved, moved] as const] : []),
    ...period,
    ['_include', 'Slot:schedule'],
  ];
}

function count({ slots }: FhirSettings): readonly [string, string] {
  return ['_count', String(slots?.page_size ?? defaultSlotPageSize)];
}

function isSchedule(resource: { readonly resourceType: string }): resource is FhirSchedule {
  return resource.resourceType === 'Schedule';
}
