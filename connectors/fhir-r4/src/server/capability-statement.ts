import { ConnectorError, type ServerDescription } from '@crossward/connector-kit';
import type { CapabilityStatement } from '../fhir.ts';
import type { FhirClient } from './client.ts';

type Interaction =
  | 'read'
  | 'search-type'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'history-instance'
  | 'history-type';

/** What a server claims to support: https://hl7.org/fhir/R4/capabilitystatement.html. It may support more. */
export interface ServerFacts {
  readonly transactions: boolean;
  can(type: string, interaction: Interaction): boolean;
  /** `Appointment`, `book` */
  hasOperation(type: string, name: string): boolean;
  /** Whether the statement names the type. */
  knows(type: string): boolean;
  /** Those that the statement lists for the type. `undefined`: none. */
  searchParameters(type: string): ReadonlySet<string> | undefined;
  /** The URLs of the profiles that it names for the type. */
  profiles(type: string): readonly string[];
  /** Whether it lists a search for the type, and no read. */
  lacksRead(type: string): boolean;
  readonly conditionalCreate: boolean;
  /** Whether a Patient is created only if none has the identifier: https://hl7.org/fhir/R4/http.html#ccreate */
  readonly createsPatientsOnce: boolean;
  /** Whether Patients can be searched for by all of these. */
  searchesPatientsBy(...names: readonly string[]): boolean;
  /** Whether a search for Slots can return their Appointments too: `_revinclude=Appointment:slot`. */
  readonly revIncludesAppointments: boolean;
  /** Whether a search for Appointments can return their Slots too: `_include=Appointment:slot`. */
  readonly includesSlots: boolean;
  /** Whether Appointments can be searched for by their Slots: `Appointment?slot=`. */
  readonly searchesBySlot: boolean;
  /** Whether it is in doubt that Appointments are found by `_lastUpdated`: parameters of every type are listed, and not this one. */
  readonly mayNotFindChanges: boolean;
  /** Whether Patients can be searched for by the records that they link to: `Patient?link=`. */
  readonly searchesPatientLinks: boolean;
  /** Its software, and what it lists for each type that is used. */
  describe(): ServerDescription;
}

/** Whether an existing Appointment can be changed at all. */
export function canChangeAppointments(facts: ServerFacts): boolean {
  return facts.can('Appointment', 'update') || facts.can('Appointment', 'patch');
}

/**
 * How deleted Appointments can be found, and what they were. `search`: Medplum has no history of all Appointments, but
 * searches for deleted ones by a parameter of its own, which other servers may reject or ignore. `null`: not at all
 */
export function deletionSource(facts: ServerFacts): 'history' | 'search' | null {
  if (!facts.can('Appointment', 'history-instance')) return null;
  return facts.can('Appointment', 'history-type') ? 'history' : 'search';
}

/** Throws if the server speaks another version of FHIR: its resources have the same names and other elements. */
export async function readServerFacts(client: Pick<FhirClient, 'read' | 'habits'>): Promise<ServerFacts> {
  const statement = await client.read<CapabilityStatement>('metadata');
  if (statement?.resourceType !== 'CapabilityStatement') {
    throw new ConnectorError('rejected', 'The EHR has no CapabilityStatement at its base URL');
  }
  assertIsR4(statement);
  const facts = serverFacts(statement);
  client.habits.learn(facts);
  return facts;
}

/**
 * https://hl7.org/fhir/R4/valueset-FHIR-version.html: R4 is 4.0, R4B is 4.3. Between them are drafts. The version is
 * required, so a server that does not say it is taken for what its operator says it is.
 */
function assertIsR4({ fhirVersion }: CapabilityStatement): void {
  if (typeof fhirVersion !== 'string' || /^4\.[03](\.|$)/.test(fhirVersion)) return;
  const version = /^[0-9]+(\.[0-9]+){0,2}(-[a-z0-9]+)?$/i.test(fhirVersion) ? fhirVersion : 'another version';
  const publicDetail = `The EHR is not used, because it speaks FHIR ${version}, and not R4 (4.0) or R4B (4.3). Nothing was changed.`;
  throw new ConnectorError('rejected', `The EHR speaks FHIR ${version}; this connector needs R4 (4.0) or R4B (4.3)`, {
    publicDetail,
  });
}

function serverFacts(statement: CapabilityStatement): ServerFacts {
  const rest = statement.rest?.find(({ mode }) => mode === 'server') ?? statement.rest?.[0];
  const resources = new Map((rest?.resource ?? []).map((resource) => [resource.type ?? '', resource]));
  const operations = (type: string) => [...(resources.get(type)?.operation ?? []), ...(rest?.operation ?? [])];
  const searchParameters = (type: string) => {
    const names = (resources.get(type)?.searchParam ?? []).flatMap(({ name }) => name ?? []);
    return names.length > 0 ? new Set(names) : undefined;
  };
  const searchesPatientsBy = (...names: readonly string[]) =>
    names.every((name) => searchParameters('Patient')?.has(name) === true);
  const ofAppointments = searchParameters('Appointment');
  const can = (type: string, interaction: Interaction) =>
    (resources.get(type)?.interaction ?? []).some(({ code }) => code === interaction);
  return {
    transactions: (rest?.interaction ?? []).some(({ code }) => code === 'transaction'),
    can,
    lacksRead: (type) => can(type, 'search-type') && !can(type, 'read'),
    // Servers write `$book`, `book`, or a name of their own with a definition that ends in `book`.
    hasOperation: (type, name) =>
      operations(type).some(
        (it) =>
          it.name?.replace(/^\$/, '') === name ||
          new RegExp(`/${type}-?${name}$`, 'i').test(it.definition?.split('|')[0] ?? ''),
      ),
    knows: (type) => resources.has(type),
    profiles: (type) => (resources.get(type)?.supportedProfile ?? []).filter((it) => /^https?:\/\/\S{1,200}$/.test(it)),
    searchParameters,
    includesSlots: (resources.get('Appointment')?.searchInclude ?? []).some((it) =>
      ['*', 'Appointment:*', 'Appointment:slot'].includes(it),
    ),
    searchesBySlot: searchParameters('Appointment')?.has('slot') === true,
    mayNotFindChanges: ofAppointments?.has('_id') === true && !ofAppointments.has('_lastUpdated'),
    searchesPatientLinks: searchesPatientsBy('link'),
    searchesPatientsBy,
    createsPatientsOnce: resources.get('Patient')?.conditionalCreate === true,
    conditionalCreate: resources.get('Appointment')?.conditionalCreate === true,
    revIncludesAppointments: resources.get('Slot')?.searchRevInclude?.includes('Appointment:slot') === true,
    describe: () => ({
      software: [...textsIn([statement.software], 'name'), ...textsIn([statement.software], 'version')],
      FHIR: textsIn([statement], 'fhirVersion'),
      ...Object.fromEntries(usedTypes.map((type) => [type, wordsOf(resources.get(type))])),
    }),
  };
}

const usedTypes = [
  ...['Appointment', 'Slot', 'Schedule', 'HealthcareService', 'Location', 'Practitioner', 'PractitionerRole', 'Device'],
  ...['Patient', 'DocumentReference', 'Binary'],
];

type ListedType = NonNullable<NonNullable<CapabilityStatement['rest']>[number]['resource']>[number];

/** Its interactions, search parameters and operations. */
function wordsOf({ interaction, searchParam, operation }: Partial<ListedType> = {}): string[] {
  return [
    ...textsIn(interaction, 'code'),
    ...textsIn(searchParam, 'name'),
    ...textsIn(operation, 'name').map((name) => `$${name.replace(/^\$/, '')}`),
  ];
}

/** Nothing here is worth an error: what has another shape is left out. */
function textsIn(list: unknown, member: string): string[] {
  return (Array.isArray(list) ? list : []).flatMap((it) => (typeof it?.[member] === 'string' ? it[member] : []));
}
