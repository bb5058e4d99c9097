import { createHash } from 'node:crypto';
import type {
  CapabilityStatement,
  CapabilityStatementRestResource,
  CapabilityStatementRestResourceInteraction,
  CapabilityStatementRestSecurity,
} from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import packageJson from '../../package.json' with { type: 'json' };
import type { Shown } from '../api/endpoint.ts';
import { operationsOf } from '../emrs/ehr-operations.ts';
import type { WriteResponse } from '../writes/write-kind.ts';
import { appointmentIncludes, appointmentSorts } from './appointments/search.ts';
import { sortsOf } from './directory-search.ts';
import { baseOf } from './face.ts';
import { fhirDescription, namesAppointments } from './interaction.ts';
import { definitionOf } from './operation-definitions.ts';
import { etagOf } from './preferences.ts';
import { listedRoles } from './roles.ts';
import { slotSorts } from './slots.ts';
import { topics } from './subscriptions/topics.ts';
import { backport } from './subscriptions/urls.ts';
import { urls } from './urls.ts';
import { knowsVersion } from './versions.ts';

/** When the statement was last changed. */
const date = '2026-11-29';

/**
 * `GET [base]/metadata`: https://hl7.org/fhir/R4/http.html#capabilities
 *
 * Without credentials it is the same for every path, so that it does not tell which EHRs and care units exist. With
 * credentials it names what this EHR offers, and is 503 for an EHR that was never reached, because clients keep it.
 */
export const readMetadata = fhirDescription('fhir_read_metadata', '/metadata', { show: versioned }, statementFor);

/** Clients keep it, and ask whether it has changed. */
async function versioned({ body }: WriteResponse, request: FastifyRequest): Promise<Shown> {
  const versionId = createHash('sha256').update(JSON.stringify(body)).digest('hex').slice(0, 32);
  const headers = { etag: etagOf(versionId) };
  const isKnown = knowsVersion(request.headers['if-none-match'], versionId);
  return isKnown ? { status: 304, headers } : { body, headers };
}

function statementFor(request: FastifyRequest): CapabilityStatement {
  const ehr = request.access?.ehr;
  // Of an EHR that was never reached, `operationsOf` throws `ehr_unavailable`.
  const operations = ehr && new Set(operationsOf(ehr, request.server.endpointDeps.endpoints));
  const offers = (operation: string) => operations?.has(operation) ?? true;
  const offered = resources
    .map(({ needs, ...it }) => ({ ...it, interactions: it.interactions.filter((one) => offers(one.needs)), needs }))
    .filter(({ needs, interactions }) => interactions.length > 0 && needs.every(offers))
    .filter(({ type }) => !/^(Appointment|Subscription|Basic)$/.test(type ?? '') || !ehr || namesAppointments(ehr));
  return statement(
    offered.map((it) => resourceOf(it, offers, request)),
    `${documentation}${codesOf(request)}`,
    ehr && baseOf(request),
  );
}

function statement(
  resource: CapabilityStatementRestResource[],
  documentation: string,
  url: string | undefined,
): CapabilityStatement {
  return {
    resourceType: 'CapabilityStatement',
    status: 'active',
    date,
    kind: 'instance',
    ...(resource.some(({ type }) => type === 'Subscription') ? { instantiates: [backport.server] } : {}),
    software: { name: 'Crossward', version: packageJson.version },
    implementation: { description: 'Crossward', ...(url === undefined ? {} : { url }) },
    fhirVersion: '4.0.1',
    format: ['json', 'xml'],
    patchFormat: ['application/json-patch+json', 'application/fhir+json'],
    rest: [
      {
        mode: 'server',
        documentation,
        security,
        resource,
        interaction: [{ code: 'batch' }],
        ...compartments(resource),
      },
    ],
  };
}

/** https://hl7.org/fhir/R4/compartmentdefinition-patient.html: of it, Appointments are found. */
function compartments(resource: readonly CapabilityStatementRestResource[]) {
  const isOffered = resource.some(
    ({ type, interaction }) => type === 'Appointment' && interaction?.some(({ code }) => code === 'search-type'),
  );
  return isOffered ? { compartment: ['http://hl7.org/fhir/CompartmentDefinition/patient'] } : {};
}

/** `GET [base]/metadata` of the base URL over all care units: the same with and without credentials. */
export const readAllUnitsMetadata = fhirDescription('fhir_read_metadata', '/metadata', { show: versioned }, (request) =>
  statement(
    overAllUnits.map((it) => resourceOf(it, () => true, request)),
    `${allUnitsDocumentation} ${documentation}`,
    request.access && baseOf(request),
  ),
);

const allUnitsDocumentation = [
  'An id of this base URL names a care unit and what has the id there, and is handed to it. Searches look in all care units',
  'that the client is granted. A care unit that has not answered is named in an OperationOutcome of the Bundle, with the',
  'search mode `outcome`. `Cache-Control: max-age` of a search for Slots says how old they may be, 0 that EHRs are asked now.',
].join(' ');

const documentation = [
  'A status of 2xx does not mean booked or cancelled: an Appointment that awaits a code is `pending` (201 or 202), and a',
  'cancellation that awaits one leaves it `booked` (202). `$confirm` takes the code that the patient received.',
  'If-None-Exist names an identifier of the body. If an Appointment of the client has it, the response is 200 with that one as',
  'it is now, whatever else the body says. Identifiers with system and value are kept, for the client that sent them.',
  'If-Match is compared with what was just read. Where an EHR has no versions, a change in the instant before the write is not seen.',
  'A write has no query. Elements that are not kept are named with `Prefer: return=OperationOutcome`, and refused with',
  '`handling=strict`. A parameter that a search does not have is refused, unless `handling=lenient`. A batch has up to 20 reads',
  'and searches.',
].join(' ');

/** What awaits a code at the care unit of the request. */
function codesOf({ access }: FastifyRequest): string {
  if (!access?.careUnit) return '';
  const { bookingConfirmation, cancellationConfirmation } = access.careUnit;
  const awaiting = [
    ...(bookingConfirmation === 'code' ? ['bookings'] : []),
    ...(cancellationConfirmation === 'code' ? ['cancellations'] : []),
  ];
  return awaiting.length > 0 ? ` Here, ${awaiting.join(' and ')} await a code.` : ' Here, nothing awaits a code.';
}

/** SMART App Launch 2.2 has the addresses in `.well-known/smart-configuration`, and no longer here. */
const security: CapabilityStatementRestSecurity = {
  service: [
    {
      coding: [
        { system: 'http://terminology.hl7.org/CodeSystem/restful-security-service', code: 'OAuth' },
        { system: 'http://terminology.hl7.org/CodeSystem/restful-security-service', code: 'SMART-on-FHIR' },
      ],
    },
  ],
  description: [
    'An access token of SMART Backend Services, whose endpoint is in .well-known/smart-configuration, or the headers',
    'x-service-client-id and x-service-client-secret.',
  ].join(' '),
};

type Interaction = CapabilityStatementRestResourceInteraction['code'];

type SearchParameters = Readonly<Record<string, 'token' | 'reference' | 'date' | 'string' | 'uri'>>;

interface Described {
  readonly type: CapabilityStatementRestResource['type'];
  /** What no other element says. */
  readonly about?: string;
  /** Native endpoints without which the type is not offered. */
  readonly needs: readonly string[];
  readonly interactions: readonly { readonly code: Interaction; readonly needs: string }[];
  readonly parameters: SearchParameters;
  /** Those that need a native endpoint of their own. */
  readonly moreParameters?: { readonly needs: string; readonly parameters: SearchParameters };
  readonly includes?: readonly string[];
  readonly profile?: string;
  /** The canonical URLs of what Subscriptions can be told of. */
  readonly topics?: readonly string[];
  /** What `_sort` takes. Default: the name, in both directions, of what has one. */
  readonly sorts?: readonly string[];
  /** The definition of those that are the gateway's own is absent: the face has it. */
  readonly operations?: readonly (
    | { readonly name: string; readonly definition: string; readonly needs: string }
    | { readonly name: 'confirm' | 'resend-code'; readonly needs: string }
  )[];
}

const readAndSearch = (read: string, list: string) =>
  [
    { code: 'read', needs: read },
    { code: 'search-type', needs: list },
  ] as const;
const bookable = {
  needs: [],
  interactions: readAndSearch('get_resource', 'list_resources'),
  parameters: { _id: 'token', identifier: 'token', name: 'string' },
} as const;

const resources: readonly Described[] = [
  {
    type: 'Patient',
    about: 'What identifies a person is sent to _search. A create names the national number in If-None-Exist.',
    needs: [],
    interactions: [...readAndSearch('get_patient', 'get_patient'), { code: 'create', needs: 'create_patient' }],
    parameters: { _id: 'token', identifier: 'token' },
    moreParameters: {
      needs: 'search_patients',
      parameters: { family: 'string', given: 'string', name: 'string', birthdate: 'date', phone: 'token' },
    },
  },
  { type: 'Practitioner', ...bookable, parameters: { ...bookable.parameters, active: 'token' } },
  {
    type: 'PractitionerRole',
    ...bookable,
    parameters: {
      _id: 'token',
      active: 'token',
      practitioner: 'reference',
      organization: 'reference',
      location: 'reference',
      service: 'reference',
    },
    includes: listedRoles.includable,
  },
  { type: 'Organization', ...bookable, parameters: { _id: 'token', active: 'token', name: 'string' } },
  { type: 'Location', ...bookable },
  { type: 'Device', ...bookable, parameters: { _id: 'token', identifier: 'token', 'device-name': 'string' } },
  {
    type: 'HealthcareService',
    needs: [],
    interactions: readAndSearch('list_healthcare_services', 'list_healthcare_services'),
    parameters: {
      _id: 'token',
      active: 'token',
      name: 'string',
      'service-type': 'token',
      identifier: 'token',
      location: 'reference',
    },
    includes: ['HealthcareService:location'],
  },
  {
    type: 'Schedule',
    needs: ['list_healthcare_services'],
    interactions: readAndSearch('list_resources', 'list_resources'),
    parameters: { _id: 'token', actor: 'reference', active: 'token', 'service-type': 'token', date: 'date' },
    includes: ['Schedule:actor'],
  },
  {
    type: 'Slot',
    about: 'Free times of up to 92 days. `status=busy` alone finds those of Appointments.',
    needs: ['list_resources', 'list_healthcare_services'],
    interactions: readAndSearch('list_timeslots', 'list_timeslots'),
    parameters: { _id: 'token', schedule: 'reference', status: 'token', start: 'date', 'service-type': 'token' },
    includes: ['Slot:schedule', 'Schedule:actor'],
    sorts: slotSorts,
  },
  {
    type: 'Appointment',
    about:
      'A search names _id, identifier, patient, one actor, or a date with both ends. An update with another time moves, a patch of the status cancels.',
    needs: [],
    interactions: [
      ...readAndSearch('get_appointment', 'list_appointments'),
      { code: 'create', needs: 'create_appointment' },
      { code: 'update', needs: 'update_appointment' },
      { code: 'patch', needs: 'cancel_appointment' },
    ],
    operations: [
      { name: 'find', definition: urls.find, needs: 'list_timeslots' },
      { name: 'book', definition: urls.bookAsIsik, needs: 'create_appointment' },
      { name: 'book', definition: urls.bookAsIhe, needs: 'create_appointment' },
      { name: 'validate', definition: urls.validate, needs: 'create_appointment' },
      { name: 'confirm', needs: 'get_appointment' },
      { name: 'resend-code', needs: 'get_appointment' },
    ],
    parameters: {
      _id: 'token',
      identifier: 'token',
      patient: 'reference',
      actor: 'reference',
      practitioner: 'reference',
      location: 'reference',
      date: 'date',
      status: 'token',
      'service-type': 'token',
      slot: 'reference',
    },
    includes: appointmentIncludes,
    sorts: appointmentSorts,
  },
  {
    type: 'Subscription',
    about:
      'Of one care unit, by rest-hook. The criteria are a topic, or a search for Appointments by status, actor, practitioner or location.',
    needs: ['get_appointment'],
    interactions: (['read', 'search-type', 'create', 'update', 'delete'] as const).map((code) => ({
      code,
      needs: 'get_appointment',
    })),
    parameters: { _id: 'token', criteria: 'string', status: 'token', type: 'token', url: 'uri' },
    operations: [
      { name: 'status', definition: backport.status, needs: 'get_appointment' },
      { name: 'events', definition: backport.events, needs: 'get_appointment' },
    ],
    profile: backport.profile,
    topics: topics.map(({ url }) => url),
  },
  {
    type: 'Basic',
    needs: ['get_appointment'],
    interactions: readAndSearch('get_appointment', 'get_appointment'),
    parameters: { _id: 'token', code: 'token' },
  },
];

/** A Patient is read, and an Appointment booked and read by its id: neither is searched for in all care units. A Subscription is of one. */
const overAllUnits: readonly Described[] = resources.flatMap((it) => {
  if (it.type === 'Subscription' || it.type === 'Basic') return [];
  if (it.type !== 'Patient' && it.type !== 'Appointment') return it;
  const { moreParameters: _, includes: __, about: ___, operations = [], ...rest } = it;
  const isOffered = ({ code }: { readonly code: Interaction }) =>
    code !== 'search-type' && !(it.type === 'Patient' && code === 'create');
  const isOfUnit = (one: (typeof operations)[number]) =>
    'definition' in one && (one.definition === urls.find || one.definition === urls.bookAsIhe);
  return {
    ...rest,
    operations: operations.filter((one) => !isOfUnit(one)),
    interactions: it.interactions.filter(isOffered),
  };
});

function resourceOf(
  described: Described,
  offers: (operation: string) => boolean,
  request: FastifyRequest,
): CapabilityStatementRestResource {
  const { type, about, interactions, parameters, moreParameters, includes } = described;
  const { profile, topics: told = [], sorts, operations = [] } = described;
  const offered = operations
    .filter(({ needs }) => offers(needs))
    .map((it) => ({ name: it.name, definition: 'definition' in it ? it.definition : definitionOf(request, it.name) }));
  const more = moreParameters && offers(moreParameters.needs) ? moreParameters.parameters : {};
  const searched = [...Object.entries({ ...parameters, ...more }), ['_count', 'number'] as const];
  const isSearched = interactions.some(({ code }) => code === 'search-type');
  const sortable = sorts ?? (type === 'Patient' ? [] : sortsOf({ parameters: Object.keys(parameters) }));
  const sorted = isSearched && sortable.length > 0 ? `_sort takes ${sortable.join(' or ')}.` : undefined;
  const text = [about, sorted].filter((it) => it !== undefined).join(' ');
  return {
    ...(told.length > 0 ? { extension: told.map((it) => ({ url: backport.topic, valueCanonical: it })) } : {}),
    type,
    ...(profile === undefined ? {} : { supportedProfile: [profile] }),
    interaction: interactions.map(({ code }) => ({ code })),
    ...(text === '' ? {} : { documentation: text }),
    versioning: 'versioned',
    readHistory: false,
    updateCreate: false,
    ...(type !== 'Subscription' && interactions.some(({ code }) => code === 'create')
      ? { conditionalCreate: true }
      : {}),
    ...(isSearched && includes ? { searchInclude: [...includes] } : {}),
    ...(isSearched ? { searchParam: searched.map(([name, kind]) => ({ name, type: kind })) } : {}),
    ...(offered.length > 0 ? { operation: offered } : {}),
  };
}
