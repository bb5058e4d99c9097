import { type FhirResource, type FhirSchedule, localReference, referenceTo, typeOf } from '../fhir.ts';
import type { FhirClient } from '../server/client.ts';
import type { CareUnitSettings } from '../settings.ts';
import { practitionerOf, type Roles } from './roles.ts';

/** As the schedule names them. */
export function actorsOfSchedule({ actor }: FhirSchedule): string[] {
  return (actor ?? []).flatMap((it) => localReference(it) ?? []);
}

/** A schedule with a practitioner and a room belongs to the practitioner. */
export function rankedActors(actors: readonly string[]): string[] {
  return ['Practitioner', 'Device', 'Location'].flatMap((type) => actors.filter((actor) => typeOf(actor) === type));
}

/** The actor that is booked with a schedule. */
export function bookedActor(schedule: FhirSchedule, roles: Roles, unit: CareUnitSettings): string | undefined {
  const actors = actorsOfSchedule(schedule).map((actor) => practitionerOf(roles.get(actor)) ?? actor);
  // If the role is unknown, its schedule's room is not booked in its place.
  if (actors.some((actor) => typeOf(actor) === 'PractitionerRole') && !actors.some(isPractitioner)) return undefined;
  const ranked = rankedActors(actors);
  return ranked.find((actor) => actor !== unit.location) ?? ranked[0];
}

function isPractitioner(actor: string): boolean {
  return typeOf(actor) === 'Practitioner';
}

/** The reference by which a schedule names the actor that is booked. */
export function namedActor(schedule: FhirSchedule, actor: string, roles: Roles): string | undefined {
  return actorsOfSchedule(schedule).find((it) => it === actor || practitionerOf(roles.get(it)) === actor);
}

/** Reads the booked actors and the other locations that schedules name. What the server does not return stays unknown. */
export async function readActors(
  client: FhirClient,
  schedules: readonly FhirSchedule[],
  booked: readonly string[],
  known: readonly FhirResource[],
): Promise<ReadonlyMap<string, FhirResource>> {
  const found = new Map(known.map((resource) => [referenceTo(resource), resource]));
  const places = schedules.flatMap(actorsOfSchedule).filter((it) => typeOf(it) === 'Location');
  const open = [...booked, ...places].filter((actor) => !found.has(actor));
  for (const resource of await client.readAllowed<FhirResource>(open)) found.set(referenceTo(resource), resource);
  return found;
}
