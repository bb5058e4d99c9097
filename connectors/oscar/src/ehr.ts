import { type ConnectorContext, ConnectorError, type Resource, tidyName } from '@crossward/connector-kit';
import {
  type AtCareUnit,
  compareIds,
  compareText,
  type Directory,
  identifiersOf,
  instantIn,
  type OpenEhr,
  openEhrWith,
} from '@crossward/connector-kit/rest';
import { createClient, type OscarClient } from './client.ts';
import { characterIn, codeSchema, fieldsOf, providerSchema, recordIn, typeSchema } from './records.ts';
import { type CareUnitSettings, careUnitSettings, type OscarSettings } from './settings.ts';

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

/** What the operations share. */
export type Ehr = OpenEhr<OscarSettings, CareUnitSettings, OscarClient, OscarLists>;
/** What they share at one care unit. */
export type At = AtCareUnit<OscarSettings, CareUnitSettings, OscarClient, OscarLists>;

/** Opens without asking the server. @throws ConnectorError if the settings of a care unit are invalid */
export function openEhr(context: ConnectorContext<OscarSettings>): Ehr {
  const ehr = openEhrWith(context, { unitSchema: careUnitSettings, unitOf, createClient, readLists });
  const booked = context.careUnits.flatMap((it) => ehr.at(it).unit.providers);
  if (new Set(booked).size < booked.length) throw new ConnectorError('rejected', 'A provider is in two care units');
  return ehr;
}

function unitOf(unit: CareUnitSettings, id: string): CareUnitSettings {
  const codes = unit.codes.map(({ code }) => code);
  if (new Set(codes).size === codes.length) return unit;
  throw new ConnectorError('rejected', `Care unit ${id} names a code twice`);
}

/** By the clock of the server, which sets the times of changes, in whole seconds. */
export async function serverTime({ client }: Pick<Ehr, 'client'>): Promise<Date> {
  const [answer] = await client.ask('SystemInfo.getServerTime');
  const time = instantIn(answer?.text);
  if (!time) throw new ConnectorError('rejected', 'The EHR does not say its time', { fault: true });
  return time;
}

/** Providers, appointment types and template codes. An appointment names its type by the name. */
async function readLists({ client, unit: { providers, codes }, leftOut }: At): Promise<OscarLists> {
  const [providersFound, typesFound, codesFound] = await Promise.all([
    client.ask('Provider.getProviders2', true),
    client.ask('Schedule.getAppointmentTypes'),
    client.ask('Schedule.getScheduleTemplateCodes'),
  ]);
  const services = typesFound
    .flatMap((it) => recordIn('appointmentType', typeSchema, fieldsOf(it), leftOut) ?? [])
    .map(({ id, name, duration }) => ({ id, name: tidyName(name), durationMinutes: Number(duration) || null }))
    .sort(compareIds);
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
      return { id, identifiers: identifiersOf(id), kind: 'practitioner', name, healthcareServiceIds };
    });
  return {
    resources: resources.sort(compareIds),
    services: services.filter(({ id }) => offered.has(id)),
    codes: new Map(bookable),
  };
}
