import { type ConnectorContext, identifierTypesOf, numberIn, type Resource } from '@crossward/connector-kit';
import {
  type AtCareUnit,
  compareIds,
  compareText,
  type Directory,
  identifiersOf,
  type OpenEhr,
  openEhrWith,
} from '@crossward/connector-kit/rest';
import Type, { type Static } from 'typebox';
import { createRpcClient, equal, type RpcClient } from './rpc/client.ts';
import { idSchema, nullable, textSchema } from './rpc/rows.ts';
import { dateSchema, dateText } from './rpc/values.ts';
import { careUnitSettings, type GnuHealthSettings } from './settings.ts';

type Unit = Static<typeof careUnitSettings>;
/** What the operations share. */
export type Ehr = OpenEhr<GnuHealthSettings, Unit, RpcClient, Directory>;
/** What they share at one care unit. */
export type At = AtCareUnit<GnuHealthSettings, Unit, RpcClient, Directory>;

/** @throws ConnectorError if the settings of a care unit are invalid */
export function openEhr(context: ConnectorContext<GnuHealthSettings>): Ehr {
  return openEhrWith(context, { unitSchema: careUnitSettings, createClient: createRpcClient, readLists });
}

const professionalSchema = Type.Object({
  id: idSchema,
  'party.': Type.Object({ name: textSchema, lastname: textSchema, ref: textSchema, dob: nullable(dateSchema) }),
});
type Professional = Readonly<Static<typeof professionalSchema>>;

const specialitySchema = Type.Object({
  id: idSchema,
  healthprof: idSchema,
  specialty: idSchema,
  'specialty.': Type.Object({ name: Type.String() }),
});
type Speciality = Readonly<Static<typeof specialitySchema>>;

/** The health professionals of the institution, and their specialities. */
async function readLists({ client, settings, unit: { institution } }: At): Promise<Directory> {
  const [professionals, specialities] = await Promise.all([
    client.searchRead({
      model: 'gnuhealth.healthprofessional',
      row: professionalSchema,
      domain: equal({ institution }),
    }),
    client.searchRead({
      model: 'gnuhealth.hp_specialty',
      row: specialitySchema,
      domain: equal({ 'healthprof.institution': institution }),
    }),
  ]);
  const shown = professionals.filter(({ id }) => id !== settings.note_author);
  const resources = shown.map((it) => toResource(it, specialities, settings));
  const offered = new Set(resources.flatMap(({ healthcareServiceIds }) => healthcareServiceIds));
  const names = new Map(specialities.map((it) => [String(it.specialty), it['specialty.'].name]));
  const services = [...names]
    .filter(([id]) => offered.has(id))
    .map(([id, name]) => ({ id, name, durationMinutes: null }));
  return { resources: resources.sort(compareIds), services: services.sort(compareIds) };
}

/** Those of health professionals of any institution, who may have left. */
export async function namesOfProfessionals(
  client: RpcClient,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (ids.length === 0) return new Map();
  const search = { model: 'gnuhealth.healthprofessional', row: professionalSchema, domain: [['id', 'in', ids]] };
  const found = await client.searchRead(search);
  return new Map(found.map(({ id, 'party.': party }) => [id, nameIn(party)] as const).filter(([, name]) => name));
}

function nameIn({ name, lastname }: Professional['party.']): string {
  return [name, lastname].filter((part) => part).join(' ');
}

function toResource(
  { id, 'party.': party }: Professional,
  specialities: readonly Speciality[],
  { national_number: type }: GnuHealthSettings,
): Resource {
  const own = specialities.filter(({ healthprof }) => healthprof === id).map(({ specialty }) => String(specialty));
  const isForStaff = type !== undefined && identifierTypesOf('resource').includes(type);
  const number = isForStaff ? numberIn(type, party.ref, party.dob && dateText(party.dob)) : undefined;
  return {
    id: String(id),
    identifiers: identifiersOf(String(id), type, number),
    kind: 'practitioner',
    name: nameIn(party) || String(id),
    healthcareServiceIds: [...new Set(own)].sort(compareText),
  };
}
