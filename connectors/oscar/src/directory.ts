import { type LeftOutRecord, type Resource, tidyName } from '@crossward/connector-kit';
import { compareText, type Directory } from '@crossward/connector-kit/rest';
import type { OscarClient } from './client.ts';
import { characterIn, codeSchema, fieldsOf, providerSchema, recordIn, typeSchema } from './records.ts';
import type { CareUnitSettings } from './settings.ts';

/** A template code that can be booked. */
interface Code {
  /** How many appointments its times have room for. OSCAR itself shows the figure and enforces nothing. */
  readonly places: number;
  readonly healthcareServiceIds: readonly string[];
}

export interface OscarLists extends Directory {
  /** By their characters. */
  readonly codes: ReadonlyMap<string, Code>;
}

/** Providers, appointment types and template codes. An appointment names its type by the name. */
export async function readLists(
  client: OscarClient,
  { providers, codes }: CareUnitSettings,
  leftOut: (record: LeftOutRecord) => void,
): Promise<OscarLists> {
  const [providersFound, typesFound, codesFound] = await Promise.all([
    client.ask('Provider.getProviders2', true),
    client.ask('Schedule.getAppointmentTypes'),
    client.ask('Schedule.getScheduleTemplateCodes'),
  ]);
  const services = typesFound
    .flatMap((it) => recordIn('appointmentType', typeSchema, fieldsOf(it), leftOut) ?? [])
    .map(({ id, name, duration }) => ({ id, name: tidyName(name), durationMinutes: Number(duration) || null }))
    .sort((a, b) => compareText(a.id, b.id));
  const ids = services.map(({ id }) => id);
  const known = codesFound.flatMap((it) => recordIn('templateCode', codeSchema, fieldsOf(it), leftOut) ?? []);
  const bookable = codes.flatMap(({ code, appointment_types }): [string, Code][] => {
    const found = known.find((it) => characterIn(it.code) === code);
    if (!found) return [];
    const healthcareServiceIds = ids.filter((id) => appointment_types?.includes(id) ?? true);
    return [[code, { places: Math.max(1, Number(found.bookinglimit) || 1), healthcareServiceIds }]];
  });
  const offered = new Set(bookable.flatMap(([, { healthcareServiceIds }]) => healthcareServiceIds));
  const resources = providersFound
    .flatMap((it) => recordIn('provider', providerSchema, fieldsOf(it), leftOut) ?? [])
    .filter(({ providerNo }) => providers.includes(providerNo))
    .map(({ providerNo: id, firstName, lastName }): Resource => {
      const name = [firstName, lastName].map(tidyName).filter(Boolean).join(' ') || id;
      const healthcareServiceIds = [...offered].sort(compareText);
      return { id, identifiers: [{ type: 'emr_id', value: id }], kind: 'practitioner', name, healthcareServiceIds };
    });
  return {
    resources: resources.sort((a, b) => compareText(a.id, b.id)),
    services: services.filter(({ id }) => offered.has(id)),
    codes: new Map(bookable),
  };
}
