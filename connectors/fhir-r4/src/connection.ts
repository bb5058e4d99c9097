import {
  type ConnectorContext,
  ConnectorError,
  type PatientIdentifierType,
  type ResourceIdentifierType,
} from '@crossward/connector-kit';
import { Check } from 'typebox/value';
import { createAuthorizer } from './auth/authorizer.ts';
import { changesOf } from './booking/mode.ts';
import { type OperationForm, operationForms } from './booking/operation-forms.ts';
import type { ServerFacts } from './capability-statement.ts';
import { createFhirClient, type FhirClient } from './client.ts';
import { createDirectory, type Directory } from './directory.ts';
import { type IdentifierSystems, identifierSystems } from './identifiers.ts';
import type { AppointmentDialect } from './mappers/appointment.ts';
import {
  type BookingMode,
  type CareUnitSettings,
  careUnitSettings,
  defaultOperationSystem,
  type FhirSettings,
} from './settings.ts';

/** What every operation needs to know of the server that it speaks to. */
export interface FhirConnection {
  readonly client: FhirClient;
  readonly mode: BookingMode;
  readonly settings: FhirSettings;
  readonly systems: IdentifierSystems;
  readonly patientIdentifierTypes: readonly PatientIdentifierType[];
  readonly resourceIdentifierTypes: readonly ResourceIdentifierType[];
  readonly directory: Directory;
  readonly dialect: AppointmentDialect;
  /** Whether the server keeps our operation id and finds appointments by it. */
  readonly operationLookup: boolean;
  /** How an existing Appointment is changed. */
  readonly changesBy: 'put' | 'patch' | 'operation';
  /** For a server that is booked in by operation. */
  readonly operationForm: OperationForm | undefined;
  /** Whether `$hold` holds times. */
  readonly holdsByOperation: boolean;
}

const patientNumbers: readonly PatientIdentifierType[] = ['no_personal_number', 'se_personal_number', 'nhs_number'];
const resourceNumbers: readonly ResourceIdentifierType[] = ['no_personal_number', 'se_personal_number', 'hsa_id'];

export async function signIn({ settings, http }: ConnectorContext<FhirSettings>): Promise<FhirClient> {
  const authorizer = await createAuthorizer(settings.auth ?? { type: 'none' }, settings.base_url, http);
  const preferStrict = settings.prefer_handling_strict === true;
  return createFhirClient({
    baseUrl: settings.base_url,
    operationsUrl: settings.booking?.operations_url,
    http,
    authorizer,
    preferStrict,
  });
}

export function connect(
  { settings, careUnits }: ConnectorContext<FhirSettings>,
  client: FhirClient,
  facts: ServerFacts,
  mode: BookingMode,
): FhirConnection {
  const { booking = {} } = settings;
  const operationForm = mode === 'operations' ? operationForms[booking.operations ?? 'ihe'] : undefined;
  const systems = identifierSystems(settings);
  const resourceIdentifierTypes = ['emr_id', ...(settings.resource_identifier_types ?? resourceNumbers)] as const;
  return {
    client,
    mode,
    settings,
    systems,
    patientIdentifierTypes: ['emr_id', ...(settings.patient_identifier_types ?? patientNumbers)],
    resourceIdentifierTypes,
    directory: createDirectory({
      client,
      settings,
      careUnits: new Map(careUnits.map((it) => [it.id, checkedCareUnit(it.id, it.settings ?? {})])),
      systems,
      resourceIdentifierTypes,
      hasRoles: facts.knows('PractitionerRole'),
    }),
    dialect: {
      commentField: booking.comment_field ?? 'comment',
      cancelReason: booking.cancel_reason ?? 'comment',
      operationSystem: booking.operation_system ?? defaultOperationSystem,
    },
    operationLookup: keepsOperationIds(mode, booking, operationForm),
    changesBy: changedBy(facts, operationForm),
    operationForm,
    holdsByOperation: changesOf(mode, facts, settings).includes('confirm') && operationForm !== undefined,
  };
}

/** Where a server names no way to change an Appointment, no change is claimed, and nobody asks for this. */
function changedBy(facts: ServerFacts, form: OperationForm | undefined): FhirConnection['changesBy'] {
  if (facts.can('Appointment', 'update')) return 'put';
  if (facts.can('Appointment', 'patch')) return 'patch';
  return form?.cancel ? 'operation' : 'put';
}

/** Only where the id is written in the same step as the appointment: `$book` of a proposal takes none. */
function keepsOperationIds(
  mode: BookingMode,
  { operation_lookup = 'auto' }: NonNullable<FhirSettings['booking']>,
  form: OperationForm | undefined,
): boolean {
  if (form && !form.takesAppointment) return false;
  if (operation_lookup !== 'auto') return operation_lookup;
  // Medplum keeps what it was given: https://www.medplum.com/docs/scheduling/appointment-book
  return mode === 'transaction' || mode === 'slot_claim' || form === operationForms.medplum;
}

function checkedCareUnit(id: string, settings: unknown): CareUnitSettings {
  if (Check(careUnitSettings, settings)) return settings;
  throw new ConnectorError('rejected', `The settings of care unit ${id} are not those of a FHIR server`);
}
