import {
  type CareUnit,
  type ConfiguredCareUnit,
  identifierTypesOf,
  numberIn,
  type Resource,
} from '@crossward/connector-kit';
import {
  compareText,
  type Directory,
  identifiersOf,
  type KeptLists,
  keptLists,
  ofCareUnits,
} from '@crossward/connector-kit/rest';
import Type, { type Static } from 'typebox';
import type { RpcClient } from './rpc/client.ts';
import { idSchema, nullable, textSchema } from './rpc/rows.ts';
import { dateSchema, dateText } from './rpc/values.ts';
import { careUnitSettings, type GnuHealthSettings } from './settings.ts';

/** The health professionals of care units' institutions, and their specialities. */
export interface GnuHealthDirectory extends KeptLists<Directory> {
  /** Known without asking the server. */
  institutionOf(careUnit: CareUnit): number;
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

/** @throws ConnectorError if the settings of a care unit are invalid */
export function createDirectory(
  rpc: RpcClient,
  settings: GnuHealthSettings,
  careUnits: readonly ConfiguredCareUnit[],
): GnuHealthDirectory {
  const institutionOf = ofCareUnits(careUnits, careUnitSettings, ({ institution }) => institution);
  return { institutionOf, ...keptLists((careUnit) => read(rpc, settings, institutionOf(careUnit))) };
}

async function read(rpc: RpcClient, settings: GnuHealthSettings, institution: number): Promise<Directory> {
  const [professionals, specialities] = await Promise.all([
    rpc.searchRead({
      model: 'gnuhealth.healthprofessional',
      row: professionalSchema,
      domain: [['institution', '=', institution]],
    }),
    rpc.searchRead({
      model: 'gnuhealth.hp_specialty',
      row: specialitySchema,
      domain: [['healthprof.institution', '=', institution]],
    }),
  ]);
  const shown = professionals.filter(({ id }) => id !== settings.note_author);
  const resources = shown.map((it) => toResource(it, specialities, settings));
  const offered = new Set(resources.flatMap(({ healthcareServiceIds }) => healthcareServiceIds));
  const names = new Map(specialities.map((it) => [String(it.specialty), it['specialty.'].name]));
  const services = [...names]
    .filter(([id]) => offered.has(id))
    .map(([id, name]) => ({ id, name, durationMinutes: null }));
  return {
    resources: resources.sort((a, b) => compareText(a.id, b.id)),
    services: services.sort((a, b) => compareText(a.id, b.id)),
  };
}

/** Those of health professionals of any institution, who may have left. */
export async function namesOfProfessionals(
  rpc: RpcClient,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const found = await rpc.searchRead({
    model: 'gnuhealth.healthprofessional',
    row: professionalSchema,
    domain: [['id', 'in', ids]],
  });
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
