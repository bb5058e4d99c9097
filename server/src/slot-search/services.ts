import type { HealthcareService } from '@crossward/connector-kit';
import type { ConfiguredService } from '../config/schema/services.ts';
import type { InCareUnit } from '../writes/write-kind.ts';

/** A service that can be searched for in many care units. */
export interface SearchableService {
  /** The code of a configured service, or a code of EHRs as `{system}|{code}`. */
  readonly service: string;
  readonly name: string;
}

/** The ids that the configuration gives for a care unit. */
function configuredIds(
  { healthcare_services = [] }: ConfiguredService,
  { ehr, careUnit }: InCareUnit,
): readonly string[] {
  return healthcare_services
    .filter(({ emr, care_unit = careUnit.id }) => emr === ehr.id && care_unit === careUnit.id)
    .flatMap(({ ids }) => ids);
}

/** The ids of those services of a care unit that mean a configured service. */
function idsOf(
  configured: ConfiguredService,
  place: InCareUnit,
  services: readonly HealthcareService[],
): readonly string[] {
  const ids = configuredIds(configured, place);
  const { codes = [] } = configured;
  const means = ({ id, codes: own = [] }: HealthcareService) =>
    ids.includes(id) || own.some(({ system, code }) => codes.some((it) => it.system === system && it.code === code));
  return services.filter(means).map(({ id }) => id);
}

/** What the services of a care unit can be searched for by, each with its ids there. */
export function searchableIn(
  configured: readonly ConfiguredService[],
  place: InCareUnit,
  services: readonly HealthcareService[],
): readonly (SearchableService & { readonly ids: readonly string[] })[] {
  const found = new Map<string, SearchableService & { readonly ids: string[] }>();
  const note = (service: string, name: string, id: string) => {
    const known = found.get(service) ?? { service, name, ids: [] };
    known.ids.push(id);
    found.set(service, known);
  };
  for (const service of configured) {
    for (const id of idsOf(service, place, services)) note(service.code, service.name, id);
  }
  for (const { id, name, codes = [] } of services) {
    for (const code of new Set(codes.flatMap(tokenOf))) {
      note(code, codes.find((it) => tokenOf(it).includes(code))?.display ?? name, id);
    }
  }
  return [...found.values()];
}

/** The services of a care unit that nobody can search for in many care units. */
export function unmappedIn(
  configured: readonly ConfiguredService[],
  place: InCareUnit,
  services: readonly HealthcareService[],
): readonly HealthcareService[] {
  const mapped = new Set(searchableIn(configured, place, services).flatMap(({ ids }) => ids));
  return services.filter(({ id }) => !mapped.has(id));
}

/** A code as callers send it. None without a system: it means something else in each EHR. */
function tokenOf({ system, code }: NonNullable<HealthcareService['codes']>[number]): readonly string[] {
  return system === null ? [] : [`${system}|${code}`];
}

/**
 * Finds the ids of what a caller searches for in a care unit.
 *
 * @returns nothing if no EHR can have it: it is neither a configured code nor `{system}|{code}`
 */
export function wantedService(
  configured: readonly ConfiguredService[],
  service: string,
): ((place: InCareUnit) => ServiceIds) | undefined {
  const named = configured.find(({ code }) => code === service);
  if (named) {
    return (place) => {
      if (!named.codes?.length) return { ids: configuredIds(named, place) };
      return { find: (services) => idsOf(named, place, services) };
    };
  }
  if (!service.includes('|')) return undefined;
  const has = ({ codes = [] }: HealthcareService) => codes.flatMap(tokenOf).includes(service);
  return () => ({ find: (services) => services.filter(has).map(({ id }) => id) });
}

/** The ids of a service in a care unit: known, or to be found among the services of the care unit. */
export type ServiceIds =
  | { readonly ids: readonly string[]; readonly find?: undefined }
  | { readonly find: (services: readonly HealthcareService[]) => readonly string[]; readonly ids?: undefined };
