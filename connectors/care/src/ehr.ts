import { type ConnectorContext, ConnectorError, type Resource, tidyName } from '@crossward/connector-kit';
import {
  type AtCareUnit,
  compareIds,
  countedRecord,
  type Directory,
  identifiersOf,
  type OpenEhr,
  openEhrWith,
} from '@crossward/connector-kit/rest';
import type { Static } from 'typebox';
import { type CareClient, createClient } from './client.ts';
import { resourceSchema } from './records.ts';
import { type CareSettings, type CareUnitSettings, careUnitSettings } from './settings.ts';

/** What the operations share. */
export type Ehr = OpenEhr<CareSettings, CareUnitSettings, CareClient, Directory>;
/** What they share at one care unit. */
export type At = AtCareUnit<CareSettings, CareUnitSettings, CareClient, Directory>;

/** Opens without asking the server. @throws ConnectorError if the settings of a care unit are invalid */
export function openEhr(context: ConnectorContext<CareSettings>): Ehr {
  return openEhrWith(context, { unitSchema: careUnitSettings, unitOf, createClient, readLists });
}

function unitOf(unit: CareUnitSettings, id: string): CareUnitSettings {
  const services = unit.healthcare_services ?? [];
  for (const values of [services.map((it) => it.id), services.flatMap((it) => it.availabilities)]) {
    if (new Set(values).size === values.length) continue;
    throw new ConnectorError('rejected', `Care unit ${id} names a healthcare service or an availability twice`);
  }
  return unit;
}

/** Of CARE: bookings are listed by type, and each call names it. */
export const resourceTypes = ['practitioner', 'location'] as const;

export function typeOf({ kind }: Resource): (typeof resourceTypes)[number] {
  return kind === 'room' ? 'location' : 'practitioner';
}

/** The service whose slots an availability has. `undefined`: none of the settings. */
export function serviceOf({ healthcare_services }: CareUnitSettings, availability: string | null | undefined) {
  if (!healthcare_services) return defaultService.id;
  return healthcare_services.find(({ availabilities }) => availabilities.some((it) => it === availability))?.id;
}

const defaultService = { id: 'appointment', name: 'Appointment' };

/** Everybody with a schedule, or whose schedule somebody has looked for, and the locations of the settings. */
async function readLists({ client, unit, leftOut }: At): Promise<Directory> {
  const facility = `facility/${unit.facility}`;
  const services = (unit.healthcare_services ?? [defaultService])
    .map(({ id, name }) => ({ id, name, durationMinutes: null }))
    .sort(compareIds);
  const healthcareServiceIds = services.map(({ id }) => id);
  const resources = new Map<string, Resource>();
  const add = (kind: Resource['kind'], value: unknown) => {
    const record = countedRecord({ leftOut }, kind === 'room' ? 'location' : 'user', resourceSchema, value);
    if (!record) return;
    const { id } = record;
    resources.set(id, { id, identifiers: identifiersOf(id), kind, name: nameOf(record) ?? id, healthcareServiceIds });
  };
  for await (const page of client.pages(`${facility}/schedulable_users/`, {})) {
    for (const user of page) add('practitioner', user);
  }
  for (const id of unit.locations ?? []) add('room', await client.get(`${facility}/location/${id}/`));
  return { resources: [...resources.values()].sort(compareIds), services };
}

/** `undefined`: the record has no name. */
export function nameOf(record: Partial<Static<typeof resourceSchema>>): string | undefined {
  const whole = [record.first_name, record.last_name].map(tidyName).filter(Boolean).join(' ');
  return tidyName(record.name) || whole || tidyName(record.username) || undefined;
}
