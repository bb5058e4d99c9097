import type { PostgresPool } from 'kysely';
import type {
  PatientIdentifier,
  PatientIdentifierType,
  ResourceIdentifier,
  ResourceIdentifierType,
} from './identifiers.ts';
import type {
  Appointment,
  AppointmentState,
  CareUnit,
  HealthcareService,
  Patient,
  Resource,
  TimeSlot,
} from './records.ts';

/**
 * Facts about an EHR that change what the gateway does. What an EHR cannot do at all is not a flag: the connector
 * leaves the operation out, and the gateway answers `operation_unsupported`.
 */
export interface Capabilities {
  /** Always with `emr_id`. Any other type is refused before the EHR is asked. */
  readonly patientIdentifierTypes: readonly PatientIdentifierType[];
  /** Always with `emr_id`. */
  readonly resourceIdentifierTypes: readonly ResourceIdentifierType[];
}

/** Whatever a list is ordered by, the last entry that the caller has already seen. */
export interface AppointmentPosition {
  readonly start: Date;
  readonly id: string;
}
export interface TimeSlotPosition {
  readonly start: Date;
  readonly resourceId: string;
  readonly healthcareServiceId: string;
}

export interface AppointmentQuery {
  readonly careUnit: CareUnit;
  readonly patientId?: string | undefined;
  readonly resourceId?: string | undefined;
  /** Appointments that overlap the range: `start < range.end` and `end > range.start`. */
  readonly range?: { readonly start: Date; readonly end: Date } | undefined;
  /** Empty or absent: all. */
  readonly states?: readonly AppointmentState[] | undefined;
  readonly after?: AppointmentPosition | undefined;
  readonly limit: number;
}

export interface TimeSlotQuery {
  readonly careUnit: CareUnit;
  /** Slots that lie wholly inside; those that have begun are left out. */
  readonly start: Date;
  readonly end: Date;
  /** Absent: every resource of the care unit. */
  readonly resourceIds?: readonly string[] | undefined;
  /** Absent: every healthcare service. */
  readonly healthcareServiceIds?: readonly string[] | undefined;
  readonly after?: TimeSlotPosition | undefined;
  readonly limit: number;
}

/**
 * Every write carries an operation id, minted once by the gateway and kept across retries. The connector stores it in
 * the EHR together with the change, in one step where the EHR can: a second call with the same id changes nothing and
 * answers what the first one did.
 */
export interface Write {
  /** UUID. */
  readonly operationId: string;
  readonly careUnit: CareUnit;
}

export interface AppointmentCreation extends Write {
  readonly patientId: string;
  readonly resourceId: string;
  readonly healthcareServiceId: string;
  readonly start: Date;
  readonly end: Date;
  readonly comment: string | null;
}

export interface AppointmentUpdate extends Write {
  readonly appointmentId: string;
  /** What is absent stays. The appointment's own time counts as free. */
  readonly changes: {
    readonly time?: { readonly start: Date; readonly end: Date };
    readonly resourceId?: string;
    readonly comment?: string | null;
  };
}

export interface AppointmentCancellation extends Write {
  readonly appointmentId: string;
  /** Replaces the appointment's comment; absent leaves it. */
  readonly comment?: string | null | undefined;
}

/**
 * What an EHR can be asked. A connector implements those that its EHR has. All throw `ConnectorError` and nothing else
 * on purpose; anything else is taken for a bug. Ids in queries are the EHR's own (`emr_id` values).
 */
export interface ConnectorOperations {
  /** The patient that has this identifier. `null`: none has it. */
  findPatient(identifier: PatientIdentifier): Promise<Patient | null>;

  /** The resource of this care unit that has this identifier. `null`: none, or one of another care unit. */
  findResource(careUnit: CareUnit, identifier: ResourceIdentifier): Promise<Resource | null>;
  /** All resources of the care unit, by id (code unit order). */
  listResources(careUnit: CareUnit): Promise<readonly Resource[]>;

  /** All services that can be booked in the care unit, by id (code unit order). */
  listHealthcareServices(careUnit: CareUnit): Promise<readonly HealthcareService[]>;

  /** Free time slots, by start, resource id, service id (code unit order): at most `limit`, after `after`. */
  listTimeSlots(query: TimeSlotQuery): Promise<readonly TimeSlot[]>;

  /** `null`: no such appointment in this care unit. */
  findAppointment(careUnit: CareUnit, appointmentId: string): Promise<Appointment | null>;
  /** Appointments by start, id (code unit order): at most `limit`, after `after`. */
  listAppointments(query: AppointmentQuery): Promise<readonly Appointment[]>;

  /**
   * Books. The range must start where a free time slot of the resource and service starts, end where one ends, and be
   * covered by free slots without a gap; else `time_slot_unavailable`. Of any number of calls for one time, however
   * they race, one succeeds.
   */
  createAppointment(creation: AppointmentCreation): Promise<Appointment>;
  /** Moves or changes, under the same rules as `createAppointment`. */
  updateAppointment(update: AppointmentUpdate): Promise<Appointment>;
  /** Cancels and frees the time. Cancelling what is cancelled changes nothing and answers it as it is. */
  cancelAppointment(cancellation: AppointmentCancellation): Promise<Appointment>;
}

export type ConnectorOperation = keyof ConnectorOperations;

/** One connection to one EHR, alive from the gateway's start to its stop. */
export interface Connector extends Partial<ConnectorOperations> {
  readonly capabilities: Capabilities;
}

/** What the gateway hands to a connector when it opens a connection. */
export interface ConnectorContext<Settings> {
  /** The connection's id, `{emr}` in the paths. */
  readonly emr: string;
  /** Checked against the connector's `settingsSchema`. */
  readonly settings: Settings;
  readonly careUnits: readonly CareUnit[];
  /** The gateway's database, for a connector that keeps its data there. */
  readonly database: PostgresPool;
}

/** One kind of EHR: what a connector's folder exports. */
export interface ConnectorModule<Settings = unknown> {
  /** The name in the configuration's `connector`. */
  readonly name: string;
  /** JSON Schema of the connection's `settings`. */
  readonly settingsSchema: object;
  /** Folder of numbered SQL files for a connector that keeps data in the gateway's database. */
  readonly migrations?: URL;
  open(context: ConnectorContext<Settings>): Promise<Connector>;
}
