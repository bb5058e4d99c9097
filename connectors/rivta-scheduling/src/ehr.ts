import type { ConnectorContext, HealthcareService, Resource } from '@crossward/connector-kit';
import {
  type AtCareUnit,
  compareIds,
  type Directory,
  identifiersOf,
  type OpenEhr,
  openEhrWith,
} from '@crossward/connector-kit/rest';
import { childrenOf, type Leaves, leaves, type XmlElement } from '@crossward/connector-kit/soap';
import Type, { type Static, type TObject } from 'typebox';
import { core, createProducer, messageNamespace, type Operation, type Producer } from './producer.ts';
import { readTexts } from './records.ts';
import { careUnitSettings, type Facility, facilityIn, type RivtaSettings } from './settings.ts';

/** What the operations share. */
export type Ehr = OpenEhr<RivtaSettings, Facility, Producer, Directory>;
/** What they share at one unit. */
export type At = AtCareUnit<RivtaSettings, Facility, Producer, Directory>;

/** Sends nothing. @throws ConnectorError `rejected` if the settings of a care unit are invalid */
export function openEhr(context: ConnectorContext<RivtaSettings>): Ehr {
  return openEhrWith(context, {
    unitSchema: careUnitSettings,
    unitOf: facilityIn,
    createClient: createProducer,
    readLists,
  });
}

/** Asks about a unit: its HSA id comes first. @param added what version 1.1 has added to the message. It comes last */
export function askUnit(
  { client, unit }: At,
  operation: Operation,
  subject: string,
  texts: Leaves,
  added: Leaves = {},
): Promise<XmlElement> {
  const namespace = messageNamespace(operation);
  const content = leaves(namespace, { healthcare_facility: unit.hsaId, ...texts });
  return client.ask(operation, unit, subject, [...content, ...leaves(`${namespace}.1`, added)]);
}

const text = Type.String();
const optional = Type.Optional(text);
/** `PerformerInfoType`, which spells it so. */
const performerSchema = Type.Object({ perfomer: text, firstName: optional, lastName: optional });
const timeTypeSchema = Type.Object({ timeTypeId: text, timeTypeName: optional });

/** What the settings list counts. The producer's own lists need a number, although they are about no patient. */
async function readLists(at: At): Promise<Directory> {
  const services = listedServices(at) ?? (await readTimeTypes(at));
  const ids = services.map(({ id }) => id);
  const listed = at.unit.settings.resources ?? (await readPerformers(at));
  const resources = listed.map(({ id, name, kind = 'practitioner', healthcare_services = ids }): Resource => {
    // An HSA id names a performer.
    const hsaId = /^SE[0-9]{10}-[0-9A-Z]+$/.test(id) ? id : undefined;
    const healthcareServiceIds = healthcare_services.filter((it) => ids.includes(it));
    return { id, identifiers: identifiersOf(id, 'hsa_id', hsaId), kind, name, healthcareServiceIds };
  });
  return { services, resources: resources.sort(compareIds) };
}

function listedServices({ unit }: At): readonly HealthcareService[] | undefined {
  return unit.settings.healthcare_services
    ?.map(({ id, name, duration_minutes = null }) => ({ id, name, durationMinutes: duration_minutes }))
    .sort(compareIds);
}

/** The services of the unit, and those that the producer offers to this patient only. Settings list what everybody has. */
export async function servicesFor(at: At, subject: string): Promise<readonly HealthcareService[]> {
  const { services } = await at.lists.get();
  if (listedServices(at)) return services;
  return once([...services, ...(await readTimeTypes(at, subject))]).toSorted(compareIds);
}

async function readPerformers(at: At): Promise<NonNullable<Facility['settings']['resources']>> {
  const { search_subject: subject } = at.settings;
  if (!subject || !at.client.has('GetAllPerformers')) return [];
  const answer = await askUnit(at, 'GetAllPerformers', subject, { subject_of_care: subject });
  const performers = readAll(at, answer, 'performerInfos', performerSchema);
  return once(
    performers.map(({ perfomer: id, firstName = '', lastName = '' }) => ({
      id,
      name: `${firstName} ${lastName}`.trim() || id,
    })),
  );
}

async function readTimeTypes(at: At, subject = at.settings.search_subject): Promise<readonly HealthcareService[]> {
  if (!subject || !at.client.has('GetAllTimeTypes')) return [];
  const answer = await askUnit(at, 'GetAllTimeTypes', subject, {}, { subject_of_care: subject });
  const types = readAll(at, answer, 'ListOfTimeTypes', timeTypeSchema);
  const services = types.map(({ timeTypeId: id, timeTypeName: name = id }) => ({ id, name, durationMinutes: null }));
  return once(services).sort(compareIds);
}

/** The records with this name in an answer. One that cannot be read is counted. */
function readAll<Schema extends TObject>(
  { leftOut }: At,
  answer: XmlElement,
  type: string,
  schema: Schema,
): readonly Static<Schema>[] {
  return childrenOf(answer, answer.namespace, type).flatMap((it) => {
    const { record, path } = readTexts(it, core, schema);
    if (path !== undefined) leftOut({ type, path });
    return path === undefined ? [record] : [];
  });
}

function once<Item extends { readonly id: string }>(items: readonly Item[]): Item[] {
  return [...new Map(items.map((it) => [it.id, it])).values()];
}
