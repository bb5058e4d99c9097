import { type FhirResource, type FhirSchedule, type FhirSlot, localReference, referenceTo } from '../fhir.ts';
import { type BookableService, serviceTypeToken } from '../mappers/healthcare-service.ts';
import { resourceReference } from '../mappers/resource.ts';
import { chunks } from '../server/chunks.ts';
import type { SearchParameters } from '../server/client.ts';
import { type CareUnitSettings, defaultHorizonDays, defaultPageSize, defaultSlotPageSize } from '../settings.ts';
import { slotPlace } from '../slots/slot-place.ts';
import type { DirectoryOptions } from './options.ts';
import { practitionerOf, type Roles } from './roles.ts';
import { standInSchedules } from './stand-ins.ts';

const actorsPerSearch = 20;

/** The settings of a care unit, and what was loaded for it before its schedules. */
interface Before {
  readonly unit: CareUnitSettings;
  readonly localRoles: Roles;
  readonly inPlace: readonly FhirResource[] | null;
  /** `undefined`: they are not known yet. */
  readonly services: readonly BookableService[] | undefined;
}

interface LoadedSchedules {
  readonly schedules: readonly FhirSchedule[];
  /** Those whose Slots the server finds by the care unit's location. */
  readonly foundHere: ReadonlySet<string>;
}

/**
 * The schedules that may belong to the care unit, including inactive ones. Searched by actor, because the server may
 * have many other schedules, or through their free Slots, because some servers find a Schedule by its id alone.
 */
export async function loadSchedules(
  careUnitId: string,
  before: Before,
  options: DirectoryOptions,
): Promise<LoadedSchedules> {
  if (options.settings.slots?.by_service) return { schedules: standInSchedules(before.unit), foundHere: new Set() };
  return options.client.habits.firstAccepted('Schedule', [
    { name: 'is searched for by actor', ask: () => schedulesByActor(before, options) },
    { name: 'is found through free Slots', ask: () => schedulesBySlots(careUnitId, before, options) },
  ]);
}

async function schedulesByActor(
  { unit, localRoles, inPlace }: Before,
  { client, settings }: DirectoryOptions,
): Promise<LoadedSchedules> {
  const count = ['_count', String(settings.slots?.page_size ?? defaultPageSize)] as const;
  const actors = actorsHere(unit, localRoles, inPlace);
  const searches: SearchParameters[] = actors
    ? chunks(actors, actorsPerSearch).map((chunk) => [['actor', chunk.join(',')], count])
    : [[count]];
  const found = (await Promise.all(searches.map((it) => client.search<FhirSchedule>('Schedule', it)))).flat();
  const each = [...new Map(found.map((schedule) => [referenceTo(schedule), schedule])).values()];
  const wanted = actors && new Set(actors);
  // Some servers ignore a search parameter that they do not know.
  const isWanted = ({ actor }: FhirSchedule) => (actor ?? []).some((it) => wanted?.has(localReference(it) ?? ''));
  return { schedules: wanted ? each.filter(isWanted) : each, foundHere: new Set() };
}

/** For how long ahead Slots are searched for. */
const sweepMilliseconds = defaultHorizonDays * 24 * 60 * 60 * 1000;

/** For a server that finds Slots by their service, actor or location, and a Schedule by its id alone. */
async function schedulesBySlots(
  careUnitId: string,
  { unit, services = [] }: Before,
  { client, settings, sweeps }: DirectoryOptions,
): Promise<LoadedSchedules> {
  const types = serviceTypeToken(services);
  const people = (unit.resources ?? []).flatMap((id) => resourceReference(id) ?? []);
  const place = unit.resources ? undefined : slotPlace(client.habits, unit.location);
  const references = await sweeps.of(careUnitId, async () => {
    const now = client.clock.now().getTime();
    const found = await client.search<FhirSlot>(
      'Slot',
      [
        ...(types === '' ? [] : [['service-type', types] as const]),
        ...(people.length === 0 ? [] : [['schedule.actor', people.join(',')] as const]),
        ...(place ? [place] : []),
        ['start', `ge${new Date(now).toISOString()}`],
        ['start', `lt${new Date(now + sweepMilliseconds).toISOString()}`],
        ['status', 'free'],
        ['_count', String(settings.slots?.page_size ?? defaultSlotPageSize)],
      ],
      { droppable: ['status'] },
    );
    return found.flatMap(({ schedule }) => localReference(schedule) ?? []);
  });
  const schedules = await client.readAllowed<FhirSchedule>(references);
  return { schedules, foundHere: new Set(place ? references : []) };
}

/** The actors that a schedule of this care unit can name. `undefined`: any. */
function actorsHere(
  unit: CareUnitSettings,
  roles: Roles,
  inPlace: readonly FhirResource[] | null,
): readonly string[] | undefined {
  const people = [...roles].flatMap(([role, it]) => [role, practitionerOf(it) ?? []].flat());
  if (unit.resources) return [...new Set([...unit.resources.flatMap((id) => resourceReference(id) ?? []), ...people])];
  if ((unit.location ?? unit.organization) === undefined || inPlace === null) return undefined;
  return [
    ...new Set([...(unit.location === undefined ? [] : [unit.location]), ...inPlace.map(referenceTo), ...people]),
  ];
}
