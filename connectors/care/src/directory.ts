import { type LeftOutRecord, type Resource, tidyName } from '@crossward/connector-kit';
import { compareText, countedRecord, type Directory } from '@crossward/connector-kit/rest';
import type { Static } from 'typebox';
import type { CareClient } from './client.ts';
import { resourceSchema } from './records.ts';
import type { CareUnitSettings } from './settings.ts';

/** Of CARE: bookings are listed by type, and each call names it. */
export const resourceTypes = ['practitioner', 'location'] as const;
type ResourceType = (typeof resourceTypes)[number];

export function typeOf({ kind }: Resource): ResourceType {
  return kind === 'room' ? 'location' : 'practitioner';
}

/** The service whose slots an availability has. `undefined`: none of the settings. */
export function serviceOf({ healthcare_services }: CareUnitSettings, availability: string | null | undefined) {
  if (!healthcare_services) return defaultService.id;
  return healthcare_services.find(({ availabilities }) => availabilities.some((it) => it === availability))?.id;
}

const defaultService = { id: 'appointment', name: 'Appointment', durationMinutes: null };

/** Everybody with a schedule, or whose schedule somebody has looked for, and the locations of the settings. */
export async function readLists(
  client: CareClient,
  unit: CareUnitSettings,
  leftOut: (record: LeftOutRecord) => void,
): Promise<Directory> {
  const facility = `facility/${unit.facility}`;
  const services = unit.healthcare_services?.map(({ id, name }) => ({ id, name, durationMinutes: null })) ?? [
    defaultService,
  ];
  const healthcareServiceIds = services.map(({ id }) => id).sort(compareText);
  const toResource = (kind: Resource['kind'], value: unknown): Resource[] => {
    const record = countedRecord({ leftOut }, kind === 'room' ? 'location' : 'user', resourceSchema, value);
    if (!record) return [];
    const identifiers = [{ type: 'emr_id', value: record.id }] as const;
    return [{ id: record.id, identifiers, kind, name: nameOf(record) ?? record.id, healthcareServiceIds }];
  };
  const resources = new Map<string, Resource>();
  for await (const page of client.pages(`${facility}/schedulable_users/`, {})) {
    for (const it of page.flatMap((user) => toResource('practitioner', user))) resources.set(it.id, it);
  }
  for (const id of unit.locations ?? []) {
    for (const it of toResource('room', await client.get(`${facility}/location/${id}/`))) resources.set(it.id, it);
  }
  return {
    resources: [...resources.values()].sort((a, b) => compareText(a.id, b.id)),
    services: services.sort((a, b) => compareText(a.id, b.id)),
  };
}

/** `undefined`: the record has no name. */
export function nameOf({
  name,
  first_name,
  last_name,
  username,
}: Partial<Static<typeof resourceSchema>>): string | undefined {
  const whole = [first_name, last_name].map(tidyName).filter(Boolean).join(' ');
  return tidyName(name) || whole || tidyName(username) || undefined;
}
