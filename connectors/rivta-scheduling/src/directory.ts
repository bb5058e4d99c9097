import type { CareUnit, HealthcareService, Resource } from '@crossward/connector-kit';
import { compareText, type Directory, identifiersOf, type KeptLists, keptLists } from '@crossward/connector-kit/rest';
import { childrenOf, type XmlElement } from '@crossward/connector-kit/soap';
import Type, { type Static, type TObject } from 'typebox';
import { core, type Producer } from './producer.ts';
import { readTexts } from './records.ts';

const text = Type.String();
/** `PerformerInfoType`, which spells it so. */
const performerSchema = Type.Object({
  perfomer: text,
  firstName: Type.Optional(text),
  lastName: Type.Optional(text),
});
const timeTypeSchema = Type.Object({ timeTypeId: text, timeTypeName: Type.Optional(text) });

export interface RivtaDirectory extends KeptLists<Directory> {
  /** The services of the unit, and those that the producer offers to this patient only. Settings list what everybody has. */
  servicesFor(careUnit: CareUnit, subject: string): Promise<readonly HealthcareService[]>;
}

export function directoryOf(producer: Producer): RivtaDirectory {
  const lists = keptLists((careUnit) => readUnit(producer, careUnit));
  return {
    ...lists,
    async servicesFor(careUnit, subject) {
      const { services } = await lists.of(careUnit);
      if (listed(producer, careUnit).services) return services;
      return once([...services, ...(await readTimeTypes(producer, careUnit, subject))]).toSorted(byId);
    },
  };
}

/** What the settings list counts. The producer's own lists need a number, although they are about no patient. */
async function readUnit(producer: Producer, careUnit: CareUnit): Promise<Directory> {
  const services = listed(producer, careUnit).services ?? (await readTimeTypes(producer, careUnit));
  const resources = listed(producer, careUnit).resources ?? (await readPerformers(producer, careUnit));
  const serviceIds = services.map(({ id }) => id);
  return {
    services,
    resources: resources
      .map(({ healthcareServiceIds, ...resource }) => ({
        ...resource,
        healthcareServiceIds: healthcareServiceIds?.filter((it) => serviceIds.includes(it)) ?? serviceIds,
      }))
      .sort(byId),
  };
}

type ListedResource = Omit<Resource, 'healthcareServiceIds'> & {
  /** Absent: all services of the unit. */
  readonly healthcareServiceIds?: readonly string[] | undefined;
};

function listed(producer: Producer, careUnit: CareUnit) {
  const { resources, healthcare_services: services } = producer.facilityOf(careUnit).settings;
  return {
    resources: resources?.map(
      ({ id, name, kind = 'practitioner', healthcare_services }): ListedResource => ({
        ...resourceOf(id, name, kind),
        healthcareServiceIds: healthcare_services,
      }),
    ),
    services: services
      ?.map(({ id, name, duration_minutes = null }) => ({ id, name, durationMinutes: duration_minutes }))
      .sort(byId),
  };
}

/** An HSA id names a performer. */
function resourceOf(id: string, name: string, kind: Resource['kind']): ListedResource {
  const hsaId = /^SE[0-9]{10}-[0-9A-Z]+$/.test(id) ? id : undefined;
  return { id, identifiers: identifiersOf(id, 'hsa_id', hsaId), kind, name };
}

async function readPerformers(producer: Producer, careUnit: CareUnit): Promise<readonly ListedResource[]> {
  const { searchSubject: subject } = producer;
  if (!subject || !producer.has('GetAllPerformers')) return [];
  const answer = await producer.askUnit('GetAllPerformers', { careUnit, subject }, [['subject_of_care', subject]]);
  const performers = readAll(producer, answer, 'performerInfos', performerSchema);
  return once(
    performers.map(({ perfomer: id, firstName = '', lastName = '' }) =>
      resourceOf(id, `${firstName} ${lastName}`.trim() || id, 'practitioner'),
    ),
  );
}

async function readTimeTypes(
  producer: Producer,
  careUnit: CareUnit,
  subject: string | undefined = producer.searchSubject,
): Promise<readonly HealthcareService[]> {
  if (!subject || !producer.has('GetAllTimeTypes')) return [];
  const answer = await producer.askUnit('GetAllTimeTypes', { careUnit, subject }, [], [['subject_of_care', subject]]);
  const types = readAll(producer, answer, 'ListOfTimeTypes', timeTypeSchema);
  const services = types.map(({ timeTypeId: id, timeTypeName: name = id }) => ({ id, name, durationMinutes: null }));
  return once(services).toSorted(byId);
}

/** The records with this name in an answer. One that cannot be read is counted. */
function readAll<Schema extends TObject>(
  { leftOut }: Producer,
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

function once<Item extends { readonly id: string }>(items: readonly Item[]): readonly Item[] {
  return [...new Map(items.map((it) => [it.id, it])).values()];
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return compareText(a.id, b.id);
}
