import {
  type CareUnit,
  type ConnectorContext,
  ConnectorError,
  type LeftOutRecord,
  type PatientIdentifierType,
  type ResourceIdentifierType,
} from '@crossward/connector-kit';
import { Check } from 'typebox/value';
import { type Recent, recent } from '../booking/recent.ts';
import { createDirectory } from '../directory/create.ts';
import type { Directory } from '../directory/directory.ts';
import type { AppointmentDialect } from '../mappers/appointment.ts';
import { type IdentifierSystems, identifierSystems } from '../mappers/identifiers.ts';
import { type CareUnitSettings, careUnitSettings, type FhirSettings } from '../settings.ts';
import type { ServerFacts } from './capability-statement.ts';
import type { FhirClient } from './client.ts';
import { createFhirClient } from './create.ts';
import { isTimeZone } from './received/local-times.ts';
import { type SearchAny, searchAny } from './search-any.ts';
import { createAuthorizer } from './sign-in/create-authorizer.ts';

/** The server, as used by reads and by every booking mode. It does not depend on the booking mode. */
export interface FhirConnection {
  readonly client: FhirClient;
  readonly settings: FhirSettings;
  /** Those of the connection. */
  readonly careUnits: readonly CareUnit[];
  readonly systems: IdentifierSystems;
  readonly patientIdentifierTypes: readonly PatientIdentifierType[];
  readonly resourceIdentifierTypes: readonly ResourceIdentifierType[];
  readonly directory: Directory;
  readonly searchAny: SearchAny;
  /** The ids of patients who were found recently and can be booked. */
  readonly bookablePatients: Recent<string>;
  /** The numbers of patients whose calls need one: the setting `patient_header`. */
  readonly patientNumbers: Recent<string>;
  /** The references of the records that a patient has replaced, by that of the patient, who was read recently. */
  readonly replacedPatients: Recent<readonly string[]>;
  /** Whether Patients can be searched for by the records that they link to. */
  readonly searchesPatientLinks: boolean;
  readonly dialect: AppointmentDialect;
  /** Whether a search for Slots can return their Appointments too: `_revinclude=Appointment:slot`. */
  readonly revIncludesAppointments: boolean;
  /** Whether Appointments can be searched for by their Slots: `Appointment?slot=`. */
  readonly searchesBySlot: boolean;
  /** Whether the server stores the operation id with a DocumentReference and finds the DocumentReference by it. */
  readonly documentLookup: boolean;
  /** How an existing Appointment is changed. */
  readonly changesBy: 'put' | 'patch';
  /** Counts a record that is left out of a result. */
  leftOut(record: LeftOutRecord): void;
}

/** The server, as used by one booking mode. */
export interface BookingConnection extends FhirConnection {
  /** Whether the server stores the operation id with an Appointment and finds the Appointment by it. */
  readonly operationLookup: boolean;
}

const patientNumbers: readonly PatientIdentifierType[] = ['no_personal_number', 'se_personal_number', 'nhs_number'];
const resourceNumbers: readonly ResourceIdentifierType[] = ['no_personal_number', 'se_personal_number', 'hsa_id'];

export async function signIn({ settings, http, now, leftOut }: ConnectorContext<FhirSettings>): Promise<FhirClient> {
  const { local_time_zone } = settings;
  if (local_time_zone !== undefined && !isTimeZone(local_time_zone)) {
    throw new ConnectorError('rejected', 'The setting local_time_zone is no time zone');
  }
  const authorizer = await createAuthorizer(settings.auth ?? { type: 'none' }, settings.base_url, http);
  const headers = constantHeaders(settings);
  if (settings.patient_header) assertNotOwn('patient_header', settings.patient_header.name.toLowerCase());
  return createFhirClient({
    baseUrl: settings.base_url,
    otherBases: settings.own_base_urls ?? [],
    localTimeZone: local_time_zone,
    operationsUrl: settings.booking?.operations_url,
    http,
    authorizer,
    headers,
    preferStrict: settings.prefer_handling_strict === true,
    postsSearches: settings.search_method === 'post',
    searchProfiles: settings.search_profiles,
    bookedStatus: settings.booking?.booked_status,
    leftOut,
    now,
  });
}

/** Of the connection itself, or set for each request: https://fetch.spec.whatwg.org/#forbidden-request-header */
const ownHeaders =
  /^(accept|authorization|connection|content-.*|cookie|expect|host|if-.*|keep-alive|prefer|te|transfer-encoding|upgrade)$/;

/** The setting `headers`, by names in lower case. */
function constantHeaders({ headers = {} }: FhirSettings): Readonly<Record<string, string>> {
  const named = Object.entries(headers).map(([name, value]) => [
    name.toLowerCase(),
    typeof value === 'string' ? value : value.reveal(),
  ]);
  assertNotOwn('headers', ...named.map(([name = '']) => name));
  return Object.fromEntries(named);
}

/** @throws ConnectorError `rejected` */
function assertNotOwn(setting: string, ...names: readonly string[]): void {
  const own = names.find((name) => ownHeaders.test(name));
  if (own !== undefined) throw new ConnectorError('rejected', `The setting ${setting} cannot set ${own}`);
}

export function connect(
  { settings, careUnits, leftOut }: ConnectorContext<FhirSettings>,
  client: FhirClient,
  facts: ServerFacts,
): FhirConnection {
  const { booking = {} } = settings;
  const systems = identifierSystems(settings);
  const resourceIdentifierTypes = ['emr_id', ...(settings.resource_identifier_types ?? resourceNumbers)] as const;
  return {
    client,
    settings,
    careUnits,
    systems,
    patientIdentifierTypes: ['emr_id', ...(settings.patient_identifier_types ?? patientNumbers)],
    resourceIdentifierTypes,
    directory: createDirectory({
      client,
      settings,
      careUnits: new Map(careUnits.map((it) => [it.id, checkedCareUnit(it.id, it.settings ?? {})])),
      systems,
      resourceIdentifierTypes,
      knows: facts.knows,
    }),
    searchAny: searchAny(client, settings.identifier_lists),
    bookablePatients: recent(),
    patientNumbers: recent(),
    replacedPatients: recent(),
    searchesPatientLinks: facts.searchesPatientLinks,
    dialect: {
      commentField: booking.comment_field ?? 'comment',
      commentExtension: booking.comment_extension,
      cancelReason: booking.cancel_reason ?? 'comment',
      idsNamePatients: settings.patient_header !== undefined,
    },
    revIncludesAppointments: facts.revIncludesAppointments,
    searchesBySlot: facts.searchesBySlot,
    documentLookup: booking.operation_lookup !== false,
    // If the server names neither, no booking mode claims changes of an Appointment.
    changesBy: !facts.can('Appointment', 'update') && facts.can('Appointment', 'patch') ? 'patch' : 'put',
    leftOut: (record) => leftOut?.(record),
  };
}

/** @param byDefault whether a server in this booking mode is expected to keep operation ids: the setting `auto` */
export function withOperationLookup(ehr: FhirConnection, byDefault: boolean): BookingConnection {
  const { operation_lookup = 'auto' } = ehr.settings.booking ?? {};
  return { ...ehr, operationLookup: operation_lookup === 'auto' ? byDefault : operation_lookup };
}

function checkedCareUnit(id: string, settings: unknown): CareUnitSettings {
  if (Check(careUnitSettings, settings)) return settings;
  throw new ConnectorError('rejected', `The settings of care unit ${id} are invalid for a FHIR server`);
}
